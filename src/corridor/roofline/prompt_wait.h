// SPDX-License-Identifier: Apache-2.0
// What stands between a request and its prompt's own work: other prompts, and devices that work in turn.
#pragma once

#include "corridor/roofline/predict.h"

namespace corridor::roofline {

/// Mean wait of a request behind others in a closed loop. Those beyond what is admitted at once wait for a place:
/// every place is free again after one answer. An admitted prompt stands behind prompts that come at the same time,
/// most of all in the first wave of a benchmark, when all of them do. `prompt`: time of one prompt that waits for
/// nobody.
[[nodiscard]] units::Seconds queue_time(const PredictInput& input, const MemoryFit& memory,
                                        const DecodePrediction& decode, units::Seconds prompt);

/// Devices that hold layers in turn can work on the chunks of one prompt as a pipeline: n chunks on s devices take
/// n + s − 1 turns in place of n·s. Engines reach part of that gain; 1 where it does not apply.
[[nodiscard]] double turn_speedup(const PredictInput& input, double chunks);

}  // namespace corridor::roofline
