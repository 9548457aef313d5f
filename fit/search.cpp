// SPDX-License-Identifier: Apache-2.0
// Pattern search in the logarithm of each coordinate.
#include "search.h"

#include <algorithm>
#include <cmath>

namespace corridor::fit {

std::vector<double> descend(const std::vector<Axis>& axes,
                            const std::function<double(const std::vector<double>&)>& loss) {
  std::vector<double> at;
  at.reserve(axes.size());
  for (const Axis& axis : axes) at.push_back(std::clamp(axis.start, axis.low, axis.high));
  double best = loss(at);
  constexpr double finest = 0.004;
  constexpr int most_rounds = 60;
  double step = 0.4;
  for (int round = 0; round < most_rounds && step > finest; ++round) {
    bool better = false;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      for (const double factor : {std::exp(step), std::exp(-step)}) {
        std::vector<double> next = at;
        next[i] = std::clamp(at[i] * factor, axes[i].low, axes[i].high);
        if (next[i] == at[i]) continue;
        const double value = loss(next);
        if (value >= best) continue;
        best = value;
        at = next;
        better = true;
        break;
      }
    }
    if (!better) step /= 2;
  }
  return at;
}

}  // namespace corridor::fit
