// SPDX-License-Identifier: Apache-2.0
// The memory ladder of a GPU: the curve of rates and latencies over working-set size, and the levels found in it.
#pragma once

#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure::cuda {

/// Fills curve, ladder and main_memory of `result`; appends to its conditions and warnings. `progress` is told 0 … 1 of
/// this part.
[[nodiscard]] Result<void> measure_ladder(Gpu& gpu, const MeasureSettings& settings, const Progress& progress,
                                          Measurement& result);

/// Working sets of the curve in bytes, multiples of 1.5 KiB from 3 KiB to `most`: one a doubling (quick) or two.
[[nodiscard]] std::vector<double> curve_sizes(double most, Effort effort);

}  // namespace corridor::measure::cuda
