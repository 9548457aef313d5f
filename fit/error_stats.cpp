// SPDX-License-Identifier: Apache-2.0
// Quantiles and the loss of the fit of operations.
#include "error_stats.h"

#include <algorithm>
#include <cmath>

namespace corridor::fit {
namespace {

double at_share(std::vector<double>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

ErrorStats stats_of(const std::vector<double>& ratios) {
  ErrorStats out;
  out.points = ratios.size();
  if (ratios.empty()) return out;
  std::vector<double> distance, observed, signed_error;
  for (const double ratio : ratios) {
    distance.push_back(std::abs(ratio - 1));
    signed_error.push_back(ratio - 1);
    observed.push_back(1 / ratio);
  }
  out.median = at_share(distance, 0.5);
  out.p90 = at_share(distance, 0.9);
  out.bias = at_share(signed_error, 0.5);
  out.low = at_share(observed, 0.08);
  out.high = at_share(observed, 0.92);
  return out;
}

double robust_loss(const std::vector<double>& ratios) {
  constexpr double knee = 0.1;
  double sum = 0;
  for (const double ratio : ratios) {
    const double z = std::log(std::max(1e-9, ratio)) / knee;
    sum += std::sqrt(1 + z * z) - 1;
  }
  return ratios.empty() ? 0 : sum / static_cast<double>(ratios.size());
}

}  // namespace corridor::fit
