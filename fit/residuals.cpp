// SPDX-License-Identifier: Apache-2.0
// Quantiles of errors.
#include "residuals.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace corridor::fit {

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double part = at - static_cast<double>(below);
  return values[below] * (1 - part) + values[above] * part;
}

Spread spread_of(const std::vector<Residual>& residuals) {
  std::vector<double> sizes;
  std::vector<double> signs;
  for (const Residual& residual : residuals) {
    if (residual.impossible()) continue;
    sizes.push_back(std::abs(residual.times.error()));
    signs.push_back(residual.times.error());
  }
  return {sizes.size(), quantile(sizes, 0.5), quantile(sizes, 0.9), quantile(signs, 0.5)};
}

std::string text(const Spread& spread) {
  return fmt::format("median {:.1f} %, p90 {:.1f} %, bias {:+.1f} %", 100 * spread.median, 100 * spread.p90,
                     100 * spread.bias);
}

}  // namespace corridor::fit
