// SPDX-License-Identifier: Apache-2.0
// The smallest value of a function of a few positive numbers, by steps along each axis; no randomness.
#pragma once

#include <functional>
#include <vector>

namespace corridor::fit {

struct Axis {
  double start = 1, low = 0, high = 1;  ///< all above zero
};

/// Multiplies and divides one coordinate at a time by a factor that shrinks from 1.5 to 1.004 while nothing gets
/// better. The result depends on nothing but the arguments.
[[nodiscard]] std::vector<double> descend(const std::vector<Axis>& axes,
                                          const std::function<double(const std::vector<double>&)>& loss);

}  // namespace corridor::fit
