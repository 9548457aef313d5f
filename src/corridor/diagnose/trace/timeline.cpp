// SPDX-License-Identifier: Apache-2.0
// Union of intervals in one pass over sorted spans; a gap is judged by the launch of the span that ends it.
#include "corridor/diagnose/trace/timeline.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "corridor/base/sorting.h"

namespace corridor::diagnose {
namespace {

using profile::GpuSpan;
using profile::GpuWork;
using profile::HostCall;
using profile::Trace;

double end_of(const GpuSpan& span) {
  return span.start_s + span.duration_s;
}

bool waits(std::string_view call) {
  return call.find("Synchronize") != std::string_view::npos || call.find("WaitEvent") != std::string_view::npos ||
         call == "cudaMemcpy" || call == "hipMemcpy";
}

/// Waiting calls on the host, merged into intervals that do not overlap.
class HostWaits {
 public:
  explicit HostWaits(const Trace& trace) {
    for (const HostCall& call : trace.calls) {
      if (waits(trace.names.text(call.name))) intervals_.emplace_back(call.start_s, call.end_s());
    }
    sort_if_needed(intervals_);
    intervals_ = merged(std::move(intervals_));
  }
  /// Whether a wait ended or lasted inside [from, to]: the host could not launch before the GPU had run dry.
  [[nodiscard]] bool inside(double from, double to) const {
    const auto after = std::upper_bound(intervals_.begin(), intervals_.end(), std::pair(to, 1e300));
    return after != intervals_.begin() && std::prev(after)->second >= from;
  }

 private:
  Intervals intervals_;
};

}  // namespace

Intervals merged(Intervals sorted) {
  std::size_t kept = 0;
  for (const auto& interval : sorted) {
    if (kept > 0 && interval.first <= sorted[kept - 1].second) {
      sorted[kept - 1].second = std::max(sorted[kept - 1].second, interval.second);
    } else {
      sorted[kept++] = interval;
    }
  }
  sorted.resize(kept);
  return sorted;
}

std::vector<DeviceTimeline> timelines(const Trace& trace) {
  std::map<std::uint16_t, DeviceTimeline> by_device;
  for (std::uint32_t i = 0; i < trace.gpu.size(); ++i) by_device[trace.gpu[i].device].spans.push_back(i);
  std::vector<DeviceTimeline> out;
  for (auto& [device, line] : by_device) {
    line.device = device;
    stable_sort_if_needed(
        line.spans, [&](std::uint32_t a, std::uint32_t b) { return trace.gpu[a].start_s < trace.gpu[b].start_s; });
    line.first_s = trace.gpu[line.spans.front()].start_s;
    double covered = line.first_s;
    for (const std::uint32_t i : line.spans) {
      const GpuSpan& span = trace.gpu[i];
      line.sum_s += span.duration_s;
      line.busy_s += std::max(0.0, end_of(span) - std::max(covered, span.start_s));
      covered = std::max(covered, end_of(span));
    }
    line.last_s = covered;
    out.push_back(std::move(line));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const DeviceTimeline& a, const DeviceTimeline& b) { return a.busy_s > b.busy_s; });
  return out;
}

IdleSplit split_idle(const Trace& trace, const DeviceTimeline& timeline) {
  IdleSplit idle;
  const HostWaits host_waits(trace);
  double covered = timeline.first_s;
  bool after_copy = false;
  for (const std::uint32_t i : timeline.spans) {
    const GpuSpan& span = trace.gpu[i];
    const double gap = span.start_s - covered;
    if (gap > idle.largest_gap_s) {
      idle.largest_gap_s = gap;
      idle.largest_gap_at_s = covered - timeline.first_s;
    }
    if (gap > 0) {
      const HostCall* call = span.launch == profile::none ? nullptr : &trace.calls[span.launch];
      if (after_copy && call != nullptr && call->start_s <= covered) {
        idle.data_wait_s += gap;
      } else if (call == nullptr || call->start_s <= covered) {
        // Launched in time (or before the trace began): the rest is the way to the device.
        idle.launch_gap_s += gap;
      } else {
        const double dry = std::min(gap, call->start_s - covered);
        (host_waits.inside(covered, call->start_s) ? idle.synchronisation_s : idle.host_wait_s) += dry;
        idle.launch_gap_s += gap - dry;
      }
    }
    if (end_of(span) >= covered) after_copy = span.work == GpuWork::copy;
    covered = std::max(covered, end_of(span));
  }
  return idle;
}

}  // namespace corridor::diagnose
