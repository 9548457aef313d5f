// SPDX-License-Identifier: Apache-2.0
// One SM over time: in which state each resident warp is, clock by clock, so that waiting can be seen to be hidden.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/timing/machine.h"

namespace corridor::ptx {

enum class WarpState : std::uint8_t { absent, issued, eligible, waits_memory, waits_result, barrier, done };

struct Timeline {
  std::uint32_t resident_warps = 0;
  std::uint64_t clocks = 0;
  double issue_share = 0;  ///< of the schedulers' slots, over the whole time
  /// states[w][c]: warp w at sample c; each sample stands for `clocks_per_sample` clocks (the state it was in longest).
  std::uint32_t clocks_per_sample = 1;
  std::vector<std::vector<WarpState>> states;
};

/// Replays recorded warps on one SM: in-order issue, four schedulers, registers ready after the latency of what wrote
/// them.
[[nodiscard]] Timeline timeline(const Function& function, std::span<const WarpTrace> warps, const Machine& machine,
                                std::uint32_t resident_warps);

}  // namespace corridor::ptx
