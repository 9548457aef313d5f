// SPDX-License-Identifier: Apache-2.0
// Timeline, rows, steps, wall and verdict of a recorded run.
#include "corridor/diagnose/trace/trace_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "corridor/diagnose/trace/findings.h"
#include "corridor/diagnose/trace/meters.h"
#include "corridor/diagnose/trace/span_rows.h"
#include "corridor/diagnose/trace/step_annotation.h"
#include "corridor/diagnose/trace/timeline.h"
#include "corridor/units/text.h"

namespace corridor::diagnose {
namespace {

using profile::Annotation;
using profile::none;
using profile::Trace;

/// Annotations that mark steps: those on the GPU where there are any, else those on the host.
std::vector<std::uint32_t> step_annotations(const Trace& trace) {
  std::vector<std::uint32_t> gpu, host;
  for (std::uint32_t i = 0; i < trace.annotations.size(); ++i) {
    if (!names_step(trace.names.text(trace.annotations[i].name))) continue;
    (trace.annotations[i].on_gpu ? gpu : host).push_back(i);
  }
  std::vector<std::uint32_t>& chosen = gpu.empty() ? host : gpu;
  std::sort(chosen.begin(), chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
    return trace.annotations[a].start_s < trace.annotations[b].start_s;
  });
  return std::move(chosen);
}

/// The step of each span: by the span's own time for GPU annotations, by its launch for host ones.
std::vector<std::uint32_t> steps_of_spans(const Trace& trace, const DeviceTimeline& timeline,
                                          const std::vector<std::uint32_t>& steps) {
  std::vector<std::uint32_t> out(timeline.spans.size(), none);
  if (steps.empty()) return out;
  constexpr double rounding_s = 2e-9;
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    const profile::GpuSpan& span = trace.gpu[timeline.spans[i]];
    double at = span.start_s + rounding_s;
    if (!trace.annotations[steps.front()].on_gpu) {
      if (span.launch == none) continue;
      at = trace.calls[span.launch].start_s;
    }
    const auto after = std::upper_bound(steps.begin(), steps.end(), at,
                                        [&](double t, std::uint32_t s) { return t < trace.annotations[s].start_s; });
    if (after == steps.begin()) continue;
    const Annotation& step = trace.annotations[*std::prev(after)];
    if (at <= step.start_s + step.duration_s + rounding_s) out[i] = *std::prev(after);
  }
  return out;
}

std::vector<StepRow> step_rows(const Trace& trace, const DeviceTimeline& timeline,
                               const std::vector<std::uint32_t>& steps, const std::vector<std::uint32_t>& step_of) {
  std::vector<StepRow> out;
  std::vector<std::pair<std::size_t, std::uint32_t>> launches;  // of each step, repeated for each kernel
  std::vector<double> covered(steps.size(), -1), first(steps.size(), -1);
  std::vector<std::size_t> place(trace.annotations.size(), 0);
  for (const std::uint32_t s : steps) {
    place[s] = out.size();
    StepRow row;
    row.name = trace.names.text(trace.annotations[s].name);
    row.start_s = trace.annotations[s].start_s;
    row.host_s = trace.annotations[s].on_gpu ? 0 : trace.annotations[s].duration_s;
    if (const std::optional<StepTokens> tokens = parse_step(row.name)) {
      row.prefill_tokens = tokens->prefill.query;
      row.decode_sequences = tokens->decode.sequences;
      row.kv_tokens = tokens->decode.kv;
    }
    out.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < timeline.spans.size(); ++i) {
    if (step_of[i] == none) continue;
    const std::size_t at = place[step_of[i]];
    const profile::GpuSpan& span = trace.gpu[timeline.spans[i]];
    const double end = span.start_s + span.duration_s;
    if (first[at] < 0) first[at] = covered[at] = span.start_s;
    out[at].busy_s += std::max(0.0, end - std::max(covered[at], span.start_s));
    covered[at] = std::max(covered[at], end);
    out[at].kernels += span.work == profile::GpuWork::kernel ? 1 : 0;
    if (span.launch != none) launches.emplace_back(at, span.launch);
  }
  std::sort(launches.begin(), launches.end());
  const auto repeated = std::unique(launches.begin(), launches.end());
  for (auto launch = launches.begin(); launch != repeated; ++launch) out[launch->first].launches += 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].span_s = first[i] < 0 ? 0 : covered[i] - first[i];
    if (first[i] >= 0) out[i].start_s = first[i];
  }
  return out;
}

std::vector<ClassTotal> class_totals(const std::vector<ShapeRow>& rows) {
  std::array<ClassTotal, kernel_class_count> sums;
  for (const ShapeRow& row : rows) {
    ClassTotal& sum = sums[static_cast<std::size_t>(row.kernel_class)];
    sum.kernel_class = row.kernel_class;
    sum.count += row.count;
    sum.total_s += row.total_s;
    if (row.bytes) {
      sum.bytes = sum.bytes.value_or(0) + *row.bytes;
      sum.bytes_time_s += row.total_s;
    }
    if (row.flops) {
      sum.flops = sum.flops.value_or(0) + *row.flops;
      sum.flops_time_s += row.total_s;
    }
  }
  std::vector<ClassTotal> out;
  for (const ClassTotal& sum : sums) {
    if (sum.total_s > 0) out.push_back(sum);
  }
  std::sort(out.begin(), out.end(), [](const ClassTotal& a, const ClassTotal& b) { return a.total_s > b.total_s; });
  return out;
}

Coverage coverage_of(const std::vector<ShapeRow>& rows, double total_s) {
  Coverage share;
  for (const ShapeRow& row : rows) {
    double& part = row.explained == Explained::by_operator     ? share.by_operator
                   : row.explained == Explained::by_annotation ? share.by_annotation
                   : row.explained == Explained::by_name       ? share.by_name
                                                               : share.none;
    part += total_s > 0 ? row.total_s / total_s : 0;
  }
  return share;
}

/// The largest share of the span: idle time, or busy time by what bounds it.
void judge(TraceAnalysis& analysis) {
  std::array<double, 5> time{};
  // Overlapping streams are busy once: their sum is scaled to the union.
  const double scale = analysis.kernel_time_s > 0 ? analysis.gpu_busy_s / analysis.kernel_time_s : 0;
  for (const ShapeRow& row : analysis.shapes) time[static_cast<std::size_t>(row.bound)] += row.total_s * scale;
  time[static_cast<std::size_t>(KernelBound::overhead)] = analysis.idle.total_s();
  const auto largest = std::max_element(time.begin(), time.end());
  analysis.wall = static_cast<KernelBound>(largest - time.begin());
  // No shapes tell what bounds the work: the chip's own meters may.
  if (analysis.wall == KernelBound::unknown && analysis.meters) analysis.wall = bound_by_meters(*analysis.meters);
  analysis.wall_share = analysis.span_s > 0 ? *largest / analysis.span_s : 0;
}

std::string time(double seconds) {
  return units::print(units::Seconds{seconds});
}

/// How close the work that the wall bounds came to its roof, over the rows that tell; empty when none does.
std::optional<double> fraction_at_wall(const TraceAnalysis& analysis) {
  double time_s = 0, roof_s = 0;
  for (const ShapeRow& row : analysis.shapes) {
    if (row.bound != analysis.wall || !row.fraction_of_roof) continue;
    time_s += row.total_s;
    roof_s += row.total_s * *row.fraction_of_roof;
  }
  return time_s > 0 ? std::optional(roof_s / time_s) : std::nullopt;
}

/// What the meters say of the memory while the GPU works; empty without them.
std::string meter_words(const TraceAnalysis& analysis) {
  if (!analysis.meters || !analysis.meters->dram) return {};
  return fmt::format("; by the chip's meter main memory runs at {:.0f} % of its peak while busy",
                     *analysis.meters->dram * 100);
}

std::string verdict(const TraceAnalysis& analysis) {
  std::string words =
      fmt::format("The GPU is busy {:.1f} % of {}", analysis.busy_fraction() * 100, time(analysis.span_s));
  if (analysis.wall == KernelBound::unknown) {
    return words + fmt::format("; what bounds {:.0f} % of the time is not known", analysis.wall_share * 100) +
           meter_words(analysis);
  }
  if (analysis.wall == KernelBound::overhead) {
    words += fmt::format(": overhead-bound, {:.0f} % of the time no kernel runs", analysis.wall_share * 100);
    if (analysis.idle.has_pause(analysis.span_s)) {
      words += fmt::format(" ({:.0f} % in one gap)", analysis.idle.largest_gap_s / analysis.span_s * 100);
    }
    return words + meter_words(analysis);
  }
  words +=
      fmt::format("; {:.0f} % of the time goes to work bound by {}", analysis.wall_share * 100, name(analysis.wall));
  const std::optional<double> fraction = fraction_at_wall(analysis);
  if (fraction) words += fmt::format(", which reaches {:.0f} % of that roof", *fraction * 100);
  return words + meter_words(analysis);
}

/// Puts the rows in order of their time; each span keeps its row.
void sort_rows(std::vector<std::uint32_t> row_of_span, TraceAnalysis& analysis) {
  std::vector<std::uint32_t> order(analysis.shapes.size()), place(order.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return analysis.shapes[a].total_s > analysis.shapes[b].total_s;
  });
  std::vector<ShapeRow> sorted;
  sorted.reserve(order.size());
  for (const std::uint32_t row : order) {
    place[row] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(analysis.shapes[row]));
  }
  analysis.shapes = std::move(sorted);
  for (std::uint32_t& row : row_of_span) row = place[row];
  analysis.row_of_span = std::move(row_of_span);
}

void add_caveats(const TraceInput& input, const DeviceTimeline& timeline, TraceAnalysis& analysis) {
  const Trace& trace = input.trace;
  const IdleSplit& idle = analysis.idle;
  if (idle.has_pause(analysis.span_s)) {
    analysis.caveats.push_back(fmt::format(
        "one gap of {}, {} after the first GPU work, is {:.0f} % of the span: a pause of the capture or of the load, "
        "not of a step; without it the GPU is busy {:.1f} %",
        time(idle.largest_gap_s), time(idle.largest_gap_at_s), idle.largest_gap_s / analysis.span_s * 100,
        analysis.gpu_busy_s / (analysis.span_s - idle.largest_gap_s) * 100));
  }
  if (trace.with_stack && analysis.wall == KernelBound::overhead) {
    analysis.caveats.emplace_back("Python stacks were recorded, which slows the host down: the idle time is inflated");
  }
  std::size_t early = 0;
  for (const std::uint32_t i : timeline.spans) early += trace.gpu[i].launch == none ? 1 : 0;
  if (trace.calls.empty()) {
    analysis.caveats.emplace_back("the trace holds no calls of the host: why the GPU was idle is not known");
  } else if (early > 0) {
    analysis.caveats.push_back(
        fmt::format("{} of {} GPU events were launched before the trace began", early, timeline.spans.size()));
  }
  if (!trace.record_shapes && !trace.gpu.empty()) {
    const bool framework = trace.format.find("Chrome") != std::string::npos;
    analysis.caveats.emplace_back(framework
                                      ? "input shapes were not recorded: record_shapes=True tells FLOPs and bytes"
                                      : "this profiler records no shapes: kernels are classed by name, without bytes");
  }
  if (input.device == nullptr) {
    analysis.caveats.emplace_back("the device is not known: no roofs; give --device");
  }
  bool replayed = false;
  for (const std::uint32_t i : timeline.spans) replayed = replayed || trace.gpu[i].from_graph;
  if (replayed && input.model == nullptr) {
    analysis.caveats.emplace_back("replayed graphs hide the shapes: give the model to explain their bytes");
  }
}

}  // namespace

std::string_view name(KernelClass kernel_class) {
  constexpr std::array<std::string_view, kernel_class_count> names = {
      "product", "attention", "moe", "normalisation", "elementwise", "copy", "collective", "sampling", "other"};
  return names[static_cast<std::size_t>(kernel_class)];
}

std::string_view name(Explained explained) {
  constexpr std::array<std::string_view, 4> names = {"operator", "annotation", "name", "none"};
  return names[static_cast<std::size_t>(explained)];
}

std::string_view name(KernelBound bound) {
  constexpr std::array<std::string_view, 5> names = {"memory", "compute", "interconnect", "overhead", "unknown"};
  return names[static_cast<std::size_t>(bound)];
}

Result<TraceAnalysis> analyse(const TraceInput& input) {
  const Trace& trace = input.trace;
  const std::vector<DeviceTimeline> lines = timelines(trace);
  if (lines.empty()) {
    return fail("holds no GPU work", trace.format, "record with the GPU activity switched on");
  }
  const DeviceTimeline& timeline = lines.front();
  TraceAnalysis analysis;
  analysis.device = timeline.device;
  analysis.devices = lines.size();
  analysis.span_s = timeline.last_s - timeline.first_s;
  analysis.gpu_busy_s = timeline.busy_s;
  analysis.kernel_time_s = timeline.sum_s;
  std::vector<bool> launched(trace.calls.size());
  for (const std::uint32_t i : timeline.spans) {
    analysis.kernels += trace.gpu[i].work == profile::GpuWork::kernel ? 1 : 0;
    if (trace.gpu[i].launch != none) launched[trace.gpu[i].launch] = true;
  }
  analysis.launches = static_cast<double>(std::count(launched.begin(), launched.end(), true));
  analysis.idle = split_idle(trace, timeline);
  const std::vector<std::uint32_t> steps = step_annotations(trace);
  const std::vector<std::uint32_t> step_of = steps_of_spans(trace, timeline, steps);
  analysis.steps = step_rows(trace, timeline, steps, step_of);
  SpanRows spans = gather_rows(input, timeline, step_of);
  analysis.shapes = spans.rows;
  for (ShapeRow& row : analysis.shapes) place_row(input.device, row);
  analysis.classes = class_totals(analysis.shapes);
  analysis.coverage = coverage_of(analysis.shapes, analysis.kernel_time_s);
  analysis.meters = summarise_meters(trace, timeline);
  judge(analysis);
  analysis.findings = find_losses(input, timeline, spans, analysis);
  analysis.spans = timeline.spans;
  sort_rows(std::move(spans.row_of_span), analysis);
  analysis.sentence = verdict(analysis);
  add_caveats(input, timeline, analysis);
  return analysis;
}

}  // namespace corridor::diagnose
