// SPDX-License-Identifier: Apache-2.0
// Idle parts and classes of two runs side by side, each change split into work and rate where both runs tell.
#include "corridor/app/trace_comparison.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using diagnose::ClassTotal;
using diagnose::TraceAnalysis;

double steps_of(const TraceAnalysis& a) {
  return static_cast<double>(
      std::count_if(a.steps.begin(), a.steps.end(), [](const diagnose::StepRow& s) { return s.kernels > 0; }));
}

const ClassTotal* total_of(const TraceAnalysis& a, diagnose::KernelClass kernel_class) {
  for (const ClassTotal& total : a.classes) {
    if (total.kernel_class == kernel_class) return &total;
  }
  return nullptr;
}

std::string times(double ratio) {
  return units::print_number(ratio) + " ×";
}

/// What of a class changed: its bytes (or FLOPs) and their rate, else the number of executions.
std::string why_of(const ClassTotal* mine, const ClassTotal* theirs, double my_steps, double their_steps) {
  if (mine == nullptr) return "not there any more";
  if (theirs == nullptr) return "new";
  const auto split = [&](const std::optional<double>& a, double a_s, const std::optional<double>& b, double b_s,
                         const char* what) -> std::string {
    constexpr double mostly = 0.8;  // of the class's time: less does not speak for it
    if (!a || !b || *a <= 0 || *b <= 0 || a_s < mostly * mine->total_s || b_s < mostly * theirs->total_s) return "";
    return fmt::format("{} the {}, at {} the rate", times(*a / my_steps / (*b / their_steps)), what,
                       times(*a / a_s / (*b / b_s)));
  };
  std::string why = split(mine->flops, mine->flops_time_s, theirs->flops, theirs->flops_time_s, "FLOPs");
  if (why.empty()) why = split(mine->bytes, mine->bytes_time_s, theirs->bytes, theirs->bytes_time_s, "bytes");
  if (why.empty() && mine->count > 0 && theirs->count > 0) {
    why = times(mine->count / my_steps / (theirs->count / their_steps)) + " the executions";
  }
  return why;
}

/// Idle parts in the words of the view.
std::vector<ChangedPart> idle_parts(const TraceAnalysis& a, const TraceAnalysis& b, double a_steps, double b_steps) {
  return {{"idle: host had not launched", a.idle.host_wait_s / a_steps, b.idle.host_wait_s / b_steps, ""},
          {"idle: launched, not begun", a.idle.launch_gap_s / a_steps, b.idle.launch_gap_s / b_steps, ""},
          {"idle: host waited for the GPU", a.idle.synchronisation_s / a_steps, b.idle.synchronisation_s / b_steps, ""},
          {"idle: behind a copy", a.idle.data_wait_s / a_steps, b.idle.data_wait_s / b_steps, ""}};
}

std::string sentence_of(const TraceComparison& c) {
  const std::string what = c.per_step ? "a step" : "the span";
  const double ratio = c.against_span_s > 0 ? c.this_span_s / c.against_span_s : 0;
  std::string out = fmt::format(
      "Against {}: {} takes {} instead of {} ({} the time), the GPU is busy {:.1f} % instead "
      "of {:.1f} %",
      c.against_file, what, units::print(units::Seconds{c.this_span_s}), units::print(units::Seconds{c.against_span_s}),
      times(ratio), c.this_busy * 100, c.against_busy * 100);
  if (c.parts.empty() || c.parts.front().change_s() == 0) return out;
  const ChangedPart& first = c.parts.front();
  out += fmt::format("; the largest change is {}: {}{}", first.part, first.change_s() > 0 ? "+" : "−",
                     units::print(units::Seconds{std::fabs(first.change_s())}));
  return first.why.empty() ? out : out + " (" + first.why + ")";
}

}  // namespace

TraceComparison compare_traces(const TraceAnswer& run, const TraceAnswer& reference) {
  const TraceAnalysis &a = run.analysis, &b = reference.analysis;
  TraceComparison c;
  c.against_file = reference.file;
  c.per_step = steps_of(a) > 0 && steps_of(b) > 0;
  const double a_steps = c.per_step ? steps_of(a) : 1, b_steps = c.per_step ? steps_of(b) : 1;
  c.this_span_s = a.span_s / a_steps;
  c.against_span_s = b.span_s / b_steps;
  c.this_busy = a.busy_fraction();
  c.against_busy = b.busy_fraction();
  c.parts = idle_parts(a, b, a_steps, b_steps);
  // Overlapping streams are busy once: class times are scaled to the union.
  const double a_scale = a.kernel_time_s > 0 ? a.gpu_busy_s / a.kernel_time_s / a_steps : 0;
  const double b_scale = b.kernel_time_s > 0 ? b.gpu_busy_s / b.kernel_time_s / b_steps : 0;
  for (std::size_t i = 0; i < diagnose::kernel_class_count; ++i) {
    const auto kernel_class = static_cast<diagnose::KernelClass>(i);
    const ClassTotal *mine = total_of(a, kernel_class), *theirs = total_of(b, kernel_class);
    if (mine == nullptr && theirs == nullptr) continue;
    c.parts.push_back({std::string(name(kernel_class)), mine == nullptr ? 0 : mine->total_s * a_scale,
                       theirs == nullptr ? 0 : theirs->total_s * b_scale, why_of(mine, theirs, a_steps, b_steps)});
  }
  constexpr double rounding = 1e-9;  // of the span: sums of the same times in another order
  for (ChangedPart& part : c.parts) {
    if (std::fabs(part.change_s()) < rounding * c.this_span_s) part.this_s = part.against_s;
  }
  std::stable_sort(c.parts.begin(), c.parts.end(), [](const ChangedPart& x, const ChangedPart& y) {
    return std::fabs(x.change_s()) > std::fabs(y.change_s());
  });
  c.sentence = sentence_of(c);
  if (run.device && reference.device && run.device->id != reference.device->id) {
    c.caveats.push_back(
        fmt::format("the two ran on different devices: {} and {}", run.device->id, reference.device->id));
  }
  if (!c.per_step) c.caveats.emplace_back("not both traces mark steps: the whole spans are compared");
  if (c.per_step && a_steps != b_steps) {
    c.caveats.push_back(fmt::format("times are of one step: the mean of {:.0f} and of {:.0f}", a_steps, b_steps));
  }
  return c;
}

}  // namespace corridor::app
