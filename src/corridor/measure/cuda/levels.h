// SPDX-License-Identifier: Apache-2.0
// The levels in a measured curve: their names, capacities (refined by further chases), rates and latencies.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure::cuda {

/// Nearest first: L1, L2, main memory, as far as the curve shows them. The capacity of the L1 is that of all SMs; that
/// of main memory is the device's. `most_l1` is the largest working set whose rates were taken through the L1, in
/// bytes. Warns where the curve and the driver differ by more than a quarter.
[[nodiscard]] Result<std::vector<MeasuredLevel>> levels_of(const std::vector<CurvePoint>& curve, const GpuFacts& facts,
                                                           double most_l1, int bisections,
                                                           const std::function<Result<double>(double bytes)>& probe,
                                                           std::vector<std::string>& warnings);

}  // namespace corridor::measure::cuda
