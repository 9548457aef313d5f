// SPDX-License-Identifier: Apache-2.0
// Errors of predictions: median, 90th percentile, bias.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run_points.h"

namespace corridor::fit {

struct Residual {
  const RunPoint* run = nullptr;
  RunTimes times;
  /// Observed as a multiple of predicted.
  [[nodiscard]] double ratio() const { return times.observed / times.predicted; }
  /// Faster than physics allows: the measurement is not what it is taken for.
  [[nodiscard]] bool impossible() const { return times.observed < 0.995 * times.limit; }
};

struct Spread {
  std::size_t points = 0;
  double median = 0, p90 = 0, bias = 0;
};

/// Impossible points are left out.
[[nodiscard]] Spread spread_of(const std::vector<Residual>& residuals);
[[nodiscard]] std::string text(const Spread& spread);
/// Between two neighbours of the sorted values, by the share of them below; values may be in any order.
[[nodiscard]] double quantile(std::vector<double> values, double share);

}  // namespace corridor::fit
