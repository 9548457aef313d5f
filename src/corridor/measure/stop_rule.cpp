// SPDX-License-Identifier: Apache-2.0
// Keeps the best pass, the time spent and how long nothing better came.
#include "corridor/measure/stop_rule.h"

#include <algorithm>

namespace corridor::measure {

namespace {
constexpr int most_refused = 3;  // a clock that does not move must not keep a probe running
}

void StopRule::add(units::Seconds pass) {
  if (!(pass.value() > 0)) {
    ++refused_;
    return;
  }
  const bool better = passes_ == 0 || pass.value() < best_.value() * (1 - settings_.better_by);
  without_gain_ = better ? 0 : without_gain_ + 1;
  best_ = passes_ == 0 ? pass : std::min(best_, pass);
  last_ = pass;
  spent_ += pass;
  ++passes_;
}

bool StopRule::finished() const {
  if (refused_ >= most_refused) return true;
  if (passes_ == 0) return false;
  if (spent_ + last_ > settings_.budget || passes_ >= settings_.most_passes) return true;
  return passes_ >= settings_.least_passes && without_gain_ >= settings_.steady_passes;
}

}  // namespace corridor::measure
