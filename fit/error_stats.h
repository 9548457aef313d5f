// SPDX-License-Identifier: Apache-2.0
// How far predicted times of operations lie from what was measured.
#pragma once

#include <cstddef>
#include <vector>

namespace corridor::fit {

/// Of predicted ÷ observed − 1, but low and high: ends of observed ÷ predicted that hold five in six.
struct ErrorStats {
  std::size_t points = 0;
  double median = 0, p90 = 0, bias = 0;
  double low = 1, high = 1;
};

/// `ratios` are predicted ÷ observed.
[[nodiscard]] ErrorStats stats_of(const std::vector<double>& ratios);

/// Mean of a loss that is square near zero and grows with the distance beyond about ten per cent, so that single wild
/// rows do not lead the fit.
[[nodiscard]] double robust_loss(const std::vector<double>& ratios);

}  // namespace corridor::fit
