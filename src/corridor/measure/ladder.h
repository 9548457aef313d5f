// SPDX-License-Identifier: Apache-2.0
// From latency against size to the capacities of the caches: where the curve leaves a plateau, a level is full.
//
//   const std::vector<LatencyStep> steps = find_steps(curve);
//   steps[0].capacity                   // 47.6 KiB: the first level
//   match_levels(steps, facts.caches)   // each reported cache with the step that lies nearest
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/measure/machine_facts.h"
#include "corridor/units/units.h"

namespace corridor::measure {

/// Sizes from `smallest` to `largest` in equal factors, `per_octave` (at least 1) for each doubling, each a multiple of
/// `multiple`; without repetition. Empty when `smallest` is not positive or above `largest`.
[[nodiscard]] std::vector<units::Bytes> ladder_sizes(units::Bytes smallest, units::Bytes largest, int per_octave,
                                                     units::Bytes multiple);

/// Latency of one chase through a working set.
struct LatencyPoint {
  units::Bytes size;
  units::Seconds latency;
};

/// One rise of the curve between two plateaus.
struct LatencyStep {
  units::Bytes capacity;         ///< where a fifth of the rise is reached, between two points by interpolation
  units::Bytes below, above;     ///< the points beside it: a finer look belongs between them
  units::Seconds before, after;  ///< the plateaus
};

/// Rises of at least a quarter, smallest size first. `points` are in order of size; a single disturbed point is no
/// step.
[[nodiscard]] std::vector<LatencyStep> find_steps(const std::vector<LatencyPoint>& points);

/// One level of cache of one core: what was found and what the system reports.
struct FoundLevel {
  std::string name;                      ///< "L1", "L2" …
  units::Bytes capacity;                 ///< one instance: found, or reported when no step lies near
  std::optional<units::Bytes> reported;  ///< one instance
  bool found = false;
  double instances = 1;
};

/// Gives each reported cache the nearest step within a factor of four; steps without a cache are left out (address
/// translation makes steps too). Without reported caches each step is a level.
[[nodiscard]] std::vector<FoundLevel> match_levels(const std::vector<LatencyStep>& steps,
                                                   const std::vector<CacheFact>& caches);

}  // namespace corridor::measure
