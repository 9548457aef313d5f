// SPDX-License-Identifier: Apache-2.0
// When a probe has seen enough passes: the best time stands still, or the time it may take is spent.
//
// The best of several passes is wanted, not the mean: other programs can only make a pass slower.
#pragma once

#include "corridor/units/units.h"

namespace corridor::measure {

struct StopSettings {
  units::Seconds budget;  ///< for all passes together
  int least_passes = 3;   ///< unless the budget ends first
  int steady_passes = 5;  ///< this many passes in a row without a better time are enough
  int most_passes = 200;
  double better_by = 0.005;  ///< a pass counts as better when it is shorter by this fraction
};

class StopRule {
 public:
  explicit StopRule(const StopSettings& settings) : settings_(settings) {}

  /// Takes the time of one pass. A time that is not positive is no pass; after three of them the rule
  /// gives up.
  void add(units::Seconds pass);
  /// True when no further pass should be started; the next one is taken to last as long as the last one.
  [[nodiscard]] bool finished() const;
  /// Shortest pass seen; zero before the first.
  [[nodiscard]] units::Seconds best() const { return best_; }
  [[nodiscard]] int passes() const { return passes_; }

 private:
  StopSettings settings_;
  units::Seconds best_, last_, spent_;
  int passes_ = 0, refused_ = 0, without_gain_ = 0;
};

}  // namespace corridor::measure
