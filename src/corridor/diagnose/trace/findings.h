// SPDX-License-Identifier: Apache-2.0
// What to change about a recorded run, ranked by the time it costs; no gain is larger than the time it touches.
#pragma once

#include <vector>

#include "corridor/diagnose/trace/span_rows.h"

namespace corridor::diagnose {

[[nodiscard]] std::vector<Finding> find_losses(const TraceInput& input, const DeviceTimeline& timeline,
                                               const SpanRows& spans, const TraceAnalysis& analysis);

}  // namespace corridor::diagnose
