// SPDX-License-Identifier: Apache-2.0
// Load-to-use latency on a GPU: one thread follows a chain of pointers through a working set, one line a step.
#pragma once

#include <cstdint>
#include <functional>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/units/units.h"

namespace corridor::measure::cuda {

inline constexpr std::size_t line_bytes = 128;  ///< of a cache line; each holds one pointer

/// Slot i points to slot (i + step) mod slots: one cycle through all slots, neighbours in it far apart.
struct ChainStep {
  std::uint64_t slots = 1, step = 1;
};
/// A chain through as many lines as fit in `bytes`, at least one; the step is about 0.618 of the set (the golden ratio
/// spreads the first visits evenly) and has no common factor with the number of slots.
[[nodiscard]] ChainStep chain_of(double bytes);

/// What one chase says.
struct ChaseTime {
  units::Seconds load;  ///< one step
  double cycles = 0;    ///< of the SM clock, one step
};

class Chase {
 public:
  Chase(Gpu& gpu, const Buffer& memory, const Buffer& results) : gpu_(gpu), memory_(memory), results_(results) {}
  /// Builds the chain and follows it; `warm` loads the set into the caches before.
  [[nodiscard]] Result<ChaseTime> global(double bytes, const std::function<Result<void>(std::size_t)>& warm) const;
  [[nodiscard]] Result<ChaseTime> shared() const;

 private:
  [[nodiscard]] Result<ChaseTime> collect(std::uint32_t steps) const;
  Gpu& gpu_;
  const Buffer& memory_;
  const Buffer& results_;
};

}  // namespace corridor::measure::cuda
