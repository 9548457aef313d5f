// SPDX-License-Identifier: Apache-2.0
// What can be measured of a processor, one figure a call, so that tests can put another machine in its place.
//
//   Result<std::unique_ptr<CpuProbe>> probe = system_cpu_probe(facts, {});
//   (*probe)->traffic(Traffic::read, Bytes{1e9}, 2, Seconds{1});   // 27.4 GB/s, "2 threads, avx512, prefetch 1024 B"
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/clock.h"
#include "corridor/measure/cpu/kernels.h"
#include "corridor/measure/estimator.h"
#include "corridor/measure/machine_facts.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure {

/// What a loop does with memory. Bytes are those the program moves: copy counts two a byte copied, triad three.
enum class Traffic { read, write, copy, triad };
[[nodiscard]] const char* name(Traffic);

class CpuProbe {
 public:
  CpuProbe() = default;
  CpuProbe(const CpuProbe&) = delete;
  CpuProbe& operator=(const CpuProbe&) = delete;
  virtual ~CpuProbe() = default;

  [[nodiscard]] virtual int threads() const = 0;
  /// The largest working set there is memory for.
  [[nodiscard]] virtual units::Bytes largest() const = 0;
  /// Rate of the first `threads` threads together, each on its own equal part of a working set of `size` bytes.
  [[nodiscard]] virtual Result<Figure> traffic(Traffic kind, units::Bytes size, int threads, units::Seconds budget) = 0;
  /// Load to use of one thread's chase through one random cycle of cache lines that covers `size` bytes.
  [[nodiscard]] virtual Result<Figure> latency(units::Bytes size, units::Seconds budget) = 0;
  /// Rate of all threads together.
  [[nodiscard]] virtual Result<Figure> peak(const PeakKernel& kernel, units::Seconds budget) = 0;
  /// Time of an empty task to all threads and back.
  [[nodiscard]] virtual Result<Figure> dispatch(units::Seconds budget) = 0;
  [[nodiscard]] virtual std::vector<PeakKernel> peaks() const = 0;
  /// How it measures: threads and where they are bound, pages, instruction set.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> conditions() const = 0;
};

struct CpuProbeSettings {
  units::Bytes memory;        ///< working set of the largest size; less is used where the machine has less
  units::Seconds fill{15.0};  ///< for touching it first; where that is slower, a part of it is used
};

/// Measures this machine. Fails when there is no memory for it.
[[nodiscard]] Result<std::unique_ptr<CpuProbe>> system_cpu_probe(const MachineFacts& facts, const Clock& clock,
                                                                 const CpuProbeSettings& settings);

/// Allowed processors in the order in which threads take them: one of each core before the second of any.
[[nodiscard]] std::vector<int> processors_by_core(const std::vector<int>& allowed,
                                                  const std::vector<std::string>& siblings);

}  // namespace corridor::measure
