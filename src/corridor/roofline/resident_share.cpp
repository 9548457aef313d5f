// SPDX-License-Identifier: Apache-2.0
// The hit rate of cyclic reads through a cache with random replacement.
#include "corridor/roofline/resident_share.h"

#include <algorithm>
#include <cmath>

namespace corridor::roofline {

double resident_share(double working_set, double capacity) {
  if (!(capacity > 0) || !(working_set >= 0)) return 0;
  const double pressure = working_set / capacity;
  if (pressure <= 1) return 1;
  if (pressure > 16) return 0;
  // h − exp(−(1 − h)·r) has its root below 1 where the slope is positive; Newton from 0 reaches it from below.
  double hit = 0;
  for (int i = 0; i < 24; ++i) {
    const double missed = std::exp(-(1 - hit) * pressure);
    const double step = (missed - hit) / std::max(1e-3, 1 - pressure * missed);
    hit = std::clamp(hit + step, 0.0, 1.0);
    if (std::abs(step) < 1e-6) break;
  }
  return hit;
}

}  // namespace corridor::roofline
