// SPDX-License-Identifier: Apache-2.0
// One SM over time: in which state each resident warp is, clock by clock, so that waiting can be seen to be hidden.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/timing/machine.h"

namespace corridor::ptx {

enum class WarpState : std::uint8_t { absent, issued, eligible, waits_memory, waits_result, barrier, done };

[[nodiscard]] std::string_view name_of(WarpState state);  ///< "waits for memory"

struct Timeline {
  std::uint32_t resident_warps = 0;
  std::uint64_t clocks = 0;
  double issue_share = 0;  ///< of the schedulers' slots, over the whole time
  /// states[w][c]: the warp in place w at sample c, from the start on for as long as a picture is readable; each sample
  /// stands for `clocks_per_sample` clocks: issued when the warp issued in it, else the state it was in longest.
  std::uint32_t clocks_per_sample = 1;
  std::vector<std::vector<WarpState>> states;
  std::array<double, 7> share_of{};  ///< of all places and clocks, indexed by WarpState
  std::uint64_t warps_run = 0;       ///< recorded warps, repeated until all places were taken
  bool cut = false;                  ///< stopped at the most clocks that are replayed
};

/// Where loads of global memory come from: the trace does not tell, the run's cache counters do. The rest is DRAM.
struct LoadShares {
  double l1 = 0, l2 = 0;
};
[[nodiscard]] LoadShares load_shares(const CacheCounters& cache);

/// Replays recorded warps on one SM: in-order issue, four schedulers (warp w belongs to scheduler w mod 4), registers
/// ready after the latency of what wrote them, pipes busy as long as their lanes need, the SM's part of the bandwidth
/// of L2 and DRAM. A block enters when there are places for its warps; when it has more warps than there are places,
/// they follow each other and its barriers hold those that are there. Recorded warps are repeated, as more blocks,
/// until each place has been taken once. Traces and functions that do not fit each other give an empty answer.
[[nodiscard]] Timeline timeline(const Function& function, std::span<const WarpTrace> warps, const Machine& machine,
                                std::uint32_t resident_warps, const LoadShares& shares = {});

}  // namespace corridor::ptx
