// SPDX-License-Identifier: Apache-2.0
// What the experiments on the simulated GPU share: launches in short words, and readings held against closed forms.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "corridor/app/ptx_case.h"
#include "corridor/measure/lab/experiment.h"

namespace corridor::app {

class PtxLabBench {
 public:
  PtxLabBench(const Assets& assets, std::string device, PtxMachine on)
      : machine(std::move(on)), assets_(assets), device_(std::move(device)) {}

  const PtxMachine machine;
  measure::LabResult result;

  /// Runs a kernel of data/ptx; arguments in the words of ptx_case_arguments.h. Fails on a fault as well.
  [[nodiscard]] Result<PtxAnswer> run(const std::string& file, const std::string& kernel, ptx::Dim3 grid,
                                      ptx::Dim3 block, std::vector<std::string> arguments,
                                      std::uint64_t shared_bytes = 0) const;

  /// A plain number that must lie within `off` of the prediction (a share of it).
  void expect(std::string what, double predicted, double measured, double off = 0,
              measure::LabUnit unit = measure::LabUnit::ratio);
  /// The same as a point of a curve.
  void expect_at(std::string series, double x, std::string what, double predicted, double measured, double off = 0,
                 measure::LabUnit unit = measure::LabUnit::ratio);

 private:
  const Assets& assets_;
  std::string device_;
};

/// Bytes from and to DRAM.
[[nodiscard]] double dram_bytes(const PtxAnswer& answer);
/// Sectors of global loads and stores.
[[nodiscard]] double global_sectors(const PtxAnswer& answer);

using RunPtxExperiment = Result<int> (*)(PtxLabBench&);

[[nodiscard]] Result<int> lab_warps(PtxLabBench& bench);
[[nodiscard]] Result<int> lab_divergence(PtxLabBench& bench);
[[nodiscard]] Result<int> lab_coalescing(PtxLabBench& bench);
[[nodiscard]] Result<int> lab_chase(PtxLabBench& bench);
[[nodiscard]] Result<int> lab_occupancy(PtxLabBench& bench);
[[nodiscard]] Result<int> lab_fusion(PtxLabBench& bench);
[[nodiscard]] Result<int> lab_tiling(PtxLabBench& bench);
[[nodiscard]] Result<int> lab_attention(PtxLabBench& bench);
[[nodiscard]] Result<int> lab_dispatch(PtxLabBench& bench);

}  // namespace corridor::app
