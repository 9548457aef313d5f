// SPDX-License-Identifier: Apache-2.0
// The chip's own meters over the time in which it worked: how much of its memory and of its tensor units was in use.
#pragma once

#include <optional>

#include "corridor/diagnose/trace/timeline.h"

namespace corridor::diagnose {

/// Means of the samples inside the span of a device; empty when none was taken there.
[[nodiscard]] std::optional<MeterSummary> summarise_meters(const profile::Trace& trace, const DeviceTimeline& timeline);

/// What bounds the busy time by the meters alone: memory or compute from `near_roof` on, else unknown.
[[nodiscard]] KernelBound bound_by_meters(const MeterSummary& meters);

}  // namespace corridor::diagnose
