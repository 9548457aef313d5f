// SPDX-License-Identifier: Apache-2.0
// The experiments of the lab on a GPU: kernels of data/cuda/lab_*.cu, predicted from the ladder of that GPU.
//
//   auto bench = GpuLabBench::open(libraries, 0, {}, {});   // measures the ladder, as `measure --quick` does
//   auto result = (*bench)->run(*find_experiment("coalescing"));
//   result->holds()
//
// The structs are those of the experiments on the processor, so that views and JSON are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure {

/// What an experiment on a GPU may use.
struct GpuLabContext {
  const LabMachine& machine;  ///< its `gpu` is set
  cuda::Gpu& gpu;
  Effort effort = Effort::normal;
};

/// One GPU, its ladder measured once, on which experiments run one after another.
class GpuLabBench {
 public:
  /// Fails as measure_cuda does. `libraries` must outlive the bench. `most_memory` bounds the arrays; zero: no bound.
  [[nodiscard]] static Result<std::unique_ptr<GpuLabBench>> open(const cuda::CudaLibraries& libraries, int ordinal,
                                                                 units::Bytes most_memory, const Progress& progress);
  [[nodiscard]] const LabMachine& machine() const { return machine_; }
  /// Fails for an experiment that has no form on a GPU, and when the driver refuses.
  [[nodiscard]] Result<LabResult> run(const Experiment& experiment, Effort effort = Effort::normal);

 private:
  GpuLabBench() = default;
  LabMachine machine_;
  std::unique_ptr<cuda::Gpu> gpu_;
};

/// A measured GPU as the experiments see it. A rate or a peak that was not measured is the catalogue's, with a note.
/// Fails when neither knows the bandwidth or the fp32 peak.
[[nodiscard]] Result<LabMachine> gpu_lab_machine(const cuda::GpuFacts& facts, const Measurement& measured,
                                                 units::Bytes most_memory);

/// Bytes that the L2 cannot hold: eight times it, 512 MiB to 2 GiB, at most a quarter of the free memory and what the
/// machine allows; a multiple of 2 MiB.
[[nodiscard]] std::size_t beyond_l2(const LabMachine& machine);

/// Median time of one `work` by the GPU's events; repeated until a pass is long enough. It runs once before that.
[[nodiscard]] Result<Samples> time_on_gpu(const GpuLabContext& context, const std::function<Result<void>()>& work);

/// Blocks of 256 threads, so many an SM.
[[nodiscard]] cuda::Shape blocks_per_sm(const GpuLabContext& context, unsigned blocks);

/// Fills a buffer with words that look random: (hash & mask) | exponent.
[[nodiscard]] Result<void> fill_words(const GpuLabContext& context, const cuda::Buffer& buffer, std::uint32_t mask,
                                      std::uint32_t exponent);
inline constexpr std::uint32_t float_words[] = {0x807fffff, 0x3f000000};  ///< ±0.5 to ±1
inline constexpr std::uint32_t bf16_words[] = {0x807f807f, 0x3c803c80};   ///< ±1/64 to ±1/32

/// The usual tolerance of a reading: the ladder, taken some seconds before, is known to some per cent, and kernels
/// that are not tuned for one GPU reach some ten per cent less than those it was taken with.
inline constexpr double usual_low = 0.75, usual_high = 1.25;

// The experiments.
[[nodiscard]] Result<LabResult> run_gpu_intensity(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_fusion(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_order(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_coalescing(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_occupancy(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_chase(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_switch(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_divergence(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_tiling(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_attention(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_decode_batch(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_precision(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_decode(const GpuLabContext& context);
[[nodiscard]] Result<LabResult> run_gpu_dispatch(const GpuLabContext& context);

}  // namespace corridor::measure
