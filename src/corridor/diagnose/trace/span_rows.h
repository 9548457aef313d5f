// SPDX-License-Identifier: Apache-2.0
// Spans gathered into rows: one for each operation and shape, each class of a replayed step, or each kernel name.
#pragma once

#include <vector>

#include "corridor/diagnose/trace/timeline.h"
#include "corridor/diagnose/trace/trace_analysis.h"

namespace corridor::diagnose {

struct SpanRows {
  std::vector<ShapeRow> rows;              ///< in order of first appearance
  std::vector<std::uint32_t> row_of_span;  ///< by place in the timeline
  std::vector<KernelClass> class_of_span;  ///< by place in the timeline
};

/// `step_of_span`: for each place in the timeline the index of its step's annotation, or profile::none.
[[nodiscard]] SpanRows gather_rows(const TraceInput& input, const DeviceTimeline& timeline,
                                   const std::vector<std::uint32_t>& step_of_span);

/// Puts a row against the roofs of the device (without one: by its class alone): bound, fraction of the roof, and a
/// remark where a rate is impossible.
void place_row(const hardware::Device* device, ShapeRow& row);

}  // namespace corridor::diagnose
