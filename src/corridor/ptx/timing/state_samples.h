// SPDX-License-Identifier: Apache-2.0
// Turns the changes of state of each place into samples of equal length and shares of the whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "corridor/ptx/timing/timeline.h"

namespace corridor::ptx {

/// A state from clock `first` on.
struct StateChange {
  std::uint64_t first = 0;
  WarpState state = WarpState::absent;
};

/// Fills clocks_per_sample, states and share_of from `clocks`, which is at least 1; one list of changes a place, in
/// order.
void sample_states(std::span<const std::vector<StateChange>> changes, Timeline& out);

}  // namespace corridor::ptx
