// SPDX-License-Identifier: Apache-2.0
// What stands out on a line of points: the knee, the flips, and where KV bytes overtake the weights.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "corridor/app/sweep.h"
#include "corridor/app/sweep_grid.h"

namespace corridor::app {

/// Smallest whole x in [low, high] at which `holds(x)`, where `holds` is false, then true; empty when it is false at
/// `high`. At most 2 · log2(high) calls.
[[nodiscard]] std::optional<double> first_that_holds(double low, double high, const std::function<bool(double)>& holds);

/// Smallest x in [low, high] at which rate(2x) < knee_gain · rate(x). `rate` may be any positive function: powers of
/// two are tried upwards, then the first interval that changes is halved. Empty when doubling always gains.
[[nodiscard]] std::optional<double> knee_of(double low, double high, const std::function<double(double)>& rate);

/// A change of state between two whole numbers that follow one another.
struct StateChange {
  double before = 0, after = 0;
  int from = 0, to = 0;
};

/// Every change of `state` that can be found between x = low and x = high by halving intervals whose ends differ.
[[nodiscard]] std::vector<StateChange> changes_between(double low, double high,
                                                       const std::function<int(double)>& state);

/// Flips along one axis between points that follow one another; points with an error are passed over.
void add_flips(const SweepGrid& grid, std::size_t axis, const std::vector<const SweepPoint*>& points,
               std::vector<SweepFlip>& flips);

}  // namespace corridor::app
