// SPDX-License-Identifier: Apache-2.0
// Large square products by cuBLASLt, where that library is found: the best rate most programs will see.
#pragma once

#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure::cuda {

/// Rates by type, as far as the library offers an algorithm for this GPU; empty without the library. A refusal is a
/// warning, never an error.
[[nodiscard]] std::vector<MeasuredPeak> measure_blas(Gpu& gpu, const MeasureSettings& settings,
                                                     const Progress& progress, std::vector<std::string>& warnings);

}  // namespace corridor::measure::cuda
