// SPDX-License-Identifier: Apache-2.0
// A measured GPU as a Device that predictions take.
#pragma once

#include <string>

#include "corridor/base/assets.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure::cuda {

/// Of a GPU that the catalogue knows, the datasheet's bandwidth and peaks stay (they are the limit); what was measured
/// becomes the reachable figures, the ladder and the missing peaks. Any other GPU is described by what was measured
/// and by what its driver tells. `date` is the day of the measurement.
[[nodiscard]] hardware::Device gpu_device(const Assets& assets, const GpuFacts& facts, const Measurement& measured,
                                          const std::string& date);

}  // namespace corridor::measure::cuda
