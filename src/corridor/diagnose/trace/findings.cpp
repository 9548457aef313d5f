// SPDX-License-Identifier: Apache-2.0
// One function a kind of loss: idle time, unfused passes, products and attention below their roof, transfers, and what
// the chip's own meters leave unused.
#include "corridor/diagnose/trace/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "corridor/diagnose/trace/meters.h"
#include "corridor/units/text.h"

namespace corridor::diagnose {
namespace {

// Only losses above this share of the span are told.
constexpr double least_share = 0.02;
// What remains between two kernels of a replayed graph (basis assumed: 1 µs, as between kernels launched ahead).
constexpr double graph_gap_s = 1e-6;
// What good kernels reach of a roof (basis assumed: cuBLAS products and copies reach 0.8 to 0.9 on H100 and A100).
constexpr double reachable_fraction = 0.85;

std::string time(double seconds) {
  return units::print(units::Seconds{seconds});
}

std::string percent(double share) {
  return fmt::format("{:.3g} %", share * 100);
}

class LossFinder {
 public:
  LossFinder(const TraceInput& input, const DeviceTimeline& timeline, const SpanRows& spans,
             const TraceAnalysis& analysis)
      : input_(input), timeline_(timeline), spans_(spans), analysis_(analysis) {}

  std::vector<Finding> run() {
    idle();
    unfused_passes();
    for (const ShapeRow& row : analysis_.shapes) below_roof(row);
    transfers();
    meters();
    for (Finding& finding : found_) add_rate(finding);
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Finding& a, const Finding& b) { return a.lost_s > b.lost_s; });
    return std::move(found_);
  }

 private:
  void add(Finding finding) {
    if (finding.lost_s < least_share * analysis_.span_s || finding.gain_s <= 0) return;
    finding.gain_s = std::min(finding.gain_s, finding.lost_s);
    found_.push_back(std::move(finding));
  }

  void idle() {
    const IdleSplit& split = analysis_.idle;
    // A pause of the capture or of the load is told apart (a caveat): no launch would have filled it.
    const double pause = split.has_pause(analysis_.span_s) ? split.largest_gap_s : 0;
    const double launching = std::max(0.0, split.host_wait_s + split.launch_gap_s - pause);
    Finding launch;
    launch.title = "the GPU waits for launches";
    launch.lost_s = launching;
    launch.evidence =
        fmt::format("idle for {} of {}{}: {} before a launch came, {} from launch to start; {:.0f} kernels",
                    time(launching), time(analysis_.span_s), pause > 0 ? ", the longest gap left out" : "",
                    time(split.host_wait_s), time(split.launch_gap_s), analysis_.kernels);
    std::size_t replayed = 0;
    for (const std::uint32_t i : timeline_.spans) replayed += input_.trace.gpu[i].from_graph ? 1 : 0;
    if (input_.trace.calls.empty()) {
      launch.title = "the GPU is idle";
      launch.evidence =
          fmt::format("idle for {} of {}; {:.0f} kernels", time(launching), time(analysis_.span_s), analysis_.kernels);
      launch.cause = "not known: the trace holds no calls of the host";
      launch.lever = "record the calls as well (nsys --trace=cuda, rocprofv3 --hip-trace) and look again";
    } else if (replayed * 2 > timeline_.spans.size()) {
      launch.cause = "gaps between the kernels of a replayed graph, and from one graph to the next";
      launch.lever = "fewer, larger kernels; launch the next graph before this one ends";
    } else {
      launch.cause = "the host needs longer to launch the kernels than the GPU to run them";
      launch.lever = "replay the step as a graph (CUDA graphs, torch.compile); fewer, larger kernels";
    }
    launch.gain_s = launching - analysis_.kernels * graph_gap_s;
    add(std::move(launch));

    Finding wait;
    wait.title = "the host waits for the GPU, then launches anew";
    wait.lost_s = split.synchronisation_s;
    wait.evidence = fmt::format("{} of idle time behind synchronising calls", time(split.synchronisation_s));
    wait.cause = "a value is read back, or a synchronise call stands between two launches";
    wait.lever = "keep values on the GPU (no .item(), no .cpu() in the loop); launch the next step before reading";
    wait.gain_s = split.synchronisation_s;
    add(std::move(wait));

    Finding data;
    data.title = "the GPU waits behind copies";
    data.lost_s = split.data_wait_s;
    data.evidence = fmt::format("{} of idle time directly behind a copy", time(split.data_wait_s));
    data.cause = "the next kernel needs what is being copied";
    data.lever = "copy from pinned memory on a stream of its own, one step ahead";
    data.gain_s = split.data_wait_s;
    add(std::move(data));
  }

  static bool is_pass(KernelClass c) { return c == KernelClass::elementwise || c == KernelClass::normalisation; }

  /// Passes that follow each other on one stream could be one: k of them move the array k times.
  void unfused_passes() {
    double taken_s = 0, gain = 0;
    std::size_t kernels = 0, chains = 0;
    for (std::size_t i = 0; i < timeline_.spans.size();) {
      double chain_s = 0;
      std::size_t length = 0;
      const std::uint32_t stream = input_.trace.gpu[timeline_.spans[i]].stream;
      while (i < timeline_.spans.size() && is_pass(spans_.class_of_span[i]) &&
             input_.trace.gpu[timeline_.spans[i]].stream == stream) {
        chain_s += input_.trace.gpu[timeline_.spans[i]].duration_s;
        ++length;
        ++i;
      }
      if (length == 0) ++i;
      if (length < 2) continue;
      taken_s += chain_s;
      gain += chain_s * (1 - 1 / static_cast<double>(length));
      kernels += length;
      ++chains;
    }
    Finding finding;
    finding.title = "element-wise passes that follow each other are not fused";
    finding.lost_s = gain;
    finding.evidence = fmt::format("{} kernels in {} chains take {}, {} of the span", kernels, chains, time(taken_s),
                                   percent(taken_s / analysis_.span_s));
    finding.cause = "each pass reads its input from main memory and writes its output back";
    finding.lever = "fuse them (torch.compile, fused norm, rope and activation kernels)";
    finding.gain_s = gain;
    add(std::move(finding));
  }

  void below_roof(const ShapeRow& row) {
    if (!row.fraction_of_roof || *row.fraction_of_roof >= reachable_fraction || is_pass(row.kernel_class)) return;
    Finding finding;
    const double lost = row.total_s * (1 - *row.fraction_of_roof / reachable_fraction);
    const bool memory = row.bound == KernelBound::memory;
    finding.title = fmt::format("{}{} at {} of its roof", row.operation, row.shape.empty() ? "" : " " + row.shape,
                                percent(*row.fraction_of_roof));
    finding.lost_s = lost;
    finding.evidence = fmt::format(
        "{:.0f} {} {}; {}", row.count, row.count == 1 ? "execution takes" : "executions take", time(row.total_s),
        memory ? units::print(units::BytesPerSecond{row.bytes_per_s().value_or(0)}) + " of main memory"
               : units::print(units::FlopsPerSecond{row.flop_per_s().value_or(0)}) + " " + row.type);
    finding.cause = memory ? "the reads are too small or too scattered to fill the memory's width"
                           : "tiles and waves do not fill the arithmetic units, or the clock is held down by power";
    finding.lever = memory ? "a kernel that splits the reads over all units; larger batches; fewer bytes (quantise)"
                           : "another kernel or shape (multiples of the tile); a narrower arithmetic type (fp8)";
    finding.gain_s = lost;
    add(std::move(finding));
  }

  void transfers() {
    double collectives = 0, copies = 0;
    for (const ShapeRow& row : analysis_.shapes) {
      if (row.kernel_class == KernelClass::collective) collectives += row.total_s;
      if (row.kernel_class == KernelClass::copy && row.bound == KernelBound::interconnect) copies += row.total_s;
    }
    Finding finding;
    finding.title = "collectives take GPU time";
    finding.lost_s = collectives;
    finding.evidence = fmt::format("{} in collectives, {} of the span; a collective also waits for the slowest rank",
                                   time(collectives), percent(collectives / analysis_.span_s));
    finding.cause = "the ranks exchange activations after each layer's products";
    finding.lever = "fewer tensor parallel ranks; an all-reduce kernel of the engine for small messages; overlap";
    finding.gain_s = collectives;
    add(std::move(finding));
    Finding host;
    host.title = "copies between host and device";
    host.lost_s = copies;
    host.evidence = fmt::format("{} in copies", time(copies));
    host.cause = "data crosses the host link inside the traced time";
    host.lever = "keep it on the device, or copy ahead from pinned memory";
    host.gain_s = copies;
    add(std::move(host));
  }

  /// What the chip's own meters leave unused while it works: all that there is where no shapes tell bytes and FLOPs.
  void meters() {
    if (!analysis_.meters || analysis_.coverage.by_operator + analysis_.coverage.by_annotation > 0.5) return;
    const MeterSummary& m = *analysis_.meters;
    if (!m.dram) return;
    const double dram = *m.dram, tensor = m.tensor.value_or(0), highest = std::max(dram, tensor);
    const bool memory = dram >= tensor;
    Finding finding;
    finding.title = fmt::format("{} at {} of the peak while the GPU is busy",
                                memory ? "main memory runs" : "the tensor units run", percent(highest));
    finding.lost_s = analysis_.gpu_busy_s * m.coverage * (1 - highest / reachable_fraction);
    finding.gain_s = finding.lost_s;
    finding.evidence = fmt::format("means of the chip's meters over {} of the busy time: main memory {}",
                                   percent(m.coverage), percent(dram));
    if (m.tensor) finding.evidence += fmt::format(", tensor units {}", percent(tensor));
    if (m.sm_active) finding.evidence += fmt::format(", SMs with work {}", percent(*m.sm_active));
    if (bound_by_meters(m) != KernelBound::unknown) {
      finding.cause = "this roof bounds the work, and some of the time does not reach it";
      finding.lever = memory ? "fewer bytes: quantise weights and KV cache, larger batches, fused passes"
                             : "a narrower arithmetic type (fp8), shapes that are multiples of the tile";
    } else if (m.sm_active.value_or(1) < 0.6) {
      finding.cause = "part of the SMs has no work: grids smaller than the chip";
      finding.lever = "larger batches; kernels that split their sums (split-K, split-KV); several streams";
    } else {
      finding.cause = "the SMs have work and wait: few reads in flight, few warps, short kernels";
      finding.lever = "fewer, larger kernels; counters of the longest ones (ncu --set roofline) tell on what they wait";
    }
    add(std::move(finding));
  }

  /// More generated tokens a second, when the steps tell how many they made.
  void add_rate(Finding& finding) const {
    double tokens = 0;
    for (const StepRow& step : analysis_.steps) tokens += step.decode_sequences.value_or(0);
    const double left = analysis_.span_s - finding.gain_s;
    if (tokens <= 0 || left <= 0) return;
    finding.gain_tok_s = tokens / left - tokens / analysis_.span_s;
  }

  const TraceInput& input_;
  const DeviceTimeline& timeline_;
  const SpanRows& spans_;
  const TraceAnalysis& analysis_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> find_losses(const TraceInput& input, const DeviceTimeline& timeline, const SpanRows& spans,
                                 const TraceAnalysis& analysis) {
  return LossFinder(input, timeline, spans, analysis).run();
}

}  // namespace corridor::diagnose
