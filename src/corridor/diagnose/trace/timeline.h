// SPDX-License-Identifier: Apache-2.0
// When a GPU worked and when it did not, and why not.
#pragma once

#include <utility>
#include <vector>

#include "corridor/diagnose/trace/trace_analysis.h"

namespace corridor::diagnose {

using Intervals = std::vector<std::pair<double, double>>;  ///< begin and end in seconds

/// The union of intervals that are given by their begin: none of them overlaps or touches another.
[[nodiscard]] Intervals merged(Intervals sorted);

/// Work of one device, by start. `spans` are indices into Trace::gpu.
struct DeviceTimeline {
  std::uint16_t device = 0;
  std::vector<std::uint32_t> spans;
  double first_s = 0, last_s = 0;  ///< first start, last end
  double busy_s = 0;               ///< union of the intervals
  double sum_s = 0;
};

/// One for each device with work, the busiest first.
[[nodiscard]] std::vector<DeviceTimeline> timelines(const profile::Trace& trace);

/// The gaps between the spans of a device, by cause.
[[nodiscard]] IdleSplit split_idle(const profile::Trace& trace, const DeviceTimeline& timeline);

}  // namespace corridor::diagnose
