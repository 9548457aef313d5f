// SPDX-License-Identifier: Apache-2.0
// The latency of an all-reduce between all GPUs of this machine, by our own one-shot kernel over peer access.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/libraries.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure::cuda {

/// Seconds of one all-reduce of 1 KiB, meeting before and after it counted, launches not. Empty with one GPU; empty
/// with a warning when the GPUs cannot reach each other's memory. NCCL is not used.
[[nodiscard]] Result<std::optional<Figure>> measure_all_reduce(const CudaLibraries& libraries,
                                                               const MeasureSettings& settings,
                                                               std::vector<std::string>& warnings);

}  // namespace corridor::measure::cuda
