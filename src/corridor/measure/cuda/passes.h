// SPDX-License-Identifier: Apache-2.0
// Passes timed by the GPU's events: the work is repeated inside a pass until the pass is long enough for the clock.
#pragma once

#include <functional>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/estimator.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure::cuda {

/// Work on a GPU that can be made longer: `repeats` times the smallest amount, in one launch.
using GpuWork = std::function<Result<void>(unsigned repeats)>;

/// Passes of memory figures; peaks take longer ones (`peak_settings`), because clocks fall while power rises.
[[nodiscard]] EstimatorSettings pass_settings(Effort effort);
[[nodiscard]] EstimatorSettings peak_settings(Effort effort);

/// Repeats for which one pass lasts at least `least`; starts at one, so that no pass is long by surprise.
[[nodiscard]] Result<unsigned> find_repeats(Gpu& gpu, units::Seconds least, const GpuWork& work);

/// Median, spread and drift of one repeat.
[[nodiscard]] Result<Samples> time_work(Gpu& gpu, const EstimatorSettings& settings, const GpuWork& work);

/// One repeat, the better of two passes after one that is not counted: to choose among versions.
[[nodiscard]] Result<units::Seconds> glance(Gpu& gpu, units::Seconds least, const GpuWork& work);

}  // namespace corridor::measure::cuda
