// SPDX-License-Identifier: Apache-2.0
// First the operations tell what they can; then annotations and the model explain what is left of a step; names last.
#include "corridor/diagnose/trace/span_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "corridor/diagnose/trace/graph_share.h"
#include "corridor/diagnose/trace/kernel_class.h"
#include "corridor/diagnose/trace/op_cost.h"

namespace corridor::diagnose {
namespace {

using profile::GpuSpan;
using profile::none;
using profile::Trace;

/// The innermost operation around a span that does work of its own.
struct FoundOp {
  std::uint32_t op = none;
  KernelClass kernel_class = KernelClass::other;
  bool known = false;  ///< it was looked for, found or not
};

class Gatherer {
 public:
  Gatherer(const TraceInput& input, const DeviceTimeline& timeline, const std::vector<std::uint32_t>& steps)
      : input_(input), trace_(input.trace), timeline_(timeline), steps_(steps) {
    out_.row_of_span.assign(timeline.spans.size(), none);
    out_.class_of_span.assign(timeline.spans.size(), KernelClass::other);
    found_ops_.resize(input.trace.ops.size());
    counted_.resize(input.trace.ops.size());
  }

  SpanRows run() {
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) by_operation(i);
    if (input_.model != nullptr) by_annotation();
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) by_name(i);
    name_kernels();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const GpuSpan& span(std::size_t i) const { return trace_.gpu[timeline_.spans[i]]; }
  [[nodiscard]] std::string_view kernel(std::size_t i) const { return trace_.names.text(span(i).name); }

  [[nodiscard]] FoundOp find_op(std::uint32_t op) {
    FoundOp found;
    std::uint32_t at = op;
    for (; at != none && found.op == none && !found_ops_[at].known; at = trace_.ops[at].parent) {
      const auto kernel_class = class_of_name(trace_.ops[at].name);
      if (kernel_class) found = {at, *kernel_class, true};
    }
    if (found.op == none && at != none) found = found_ops_[at];
    found.known = true;
    // Each chain of operations is walked once.
    for (at = op; at != none && !found_ops_[at].known; at = trace_.ops[at].parent) {
      found_ops_[at] = found;
      if (at == found.op) break;
    }
    return found;
  }

  const std::optional<KernelClass>& class_of_name(std::uint32_t operation) {
    const auto known = class_of_name_.find(operation);
    if (known != class_of_name_.end()) return known->second;
    return class_of_name_.emplace(operation, class_of_operation(trace_.names.text(operation))).first->second;
  }

  const std::optional<StepTokens>& step_tokens(std::uint32_t annotation) {
    const auto known = tokens_.find(annotation);
    if (known != tokens_.end()) return known->second;
    std::optional<StepTokens> parsed;
    if (annotation != none) parsed = parse_step(trace_.names.text(trace_.annotations[annotation].name));
    return tokens_.emplace(annotation, parsed).first->second;
  }

  std::uint32_t row_for(const std::string& operation, const std::string& shape, KernelClass kernel_class,
                        Explained explained) {
    const auto [at, is_new] = index_.try_emplace(std::tuple(operation, shape, explained), out_.rows.size());
    if (is_new) {
      ShapeRow row;
      row.operation = operation;
      row.shape = shape;
      row.kernel_class = kernel_class;
      row.explained = explained;
      out_.rows.push_back(std::move(row));
    }
    return static_cast<std::uint32_t>(at->second);
  }

  void assign(std::size_t i, std::uint32_t row) {
    out_.row_of_span[i] = row;
    out_.rows[row].total_s += span(i).duration_s;
  }

  void by_operation(std::size_t i) {
    if (span(i).work != profile::GpuWork::kernel && span(i).op == none) return;
    const FoundOp found = span(i).op == none ? FoundOp{} : find_op(span(i).op);
    if (found.op == none) return;
    out_.class_of_span[i] = found.kernel_class;
    const profile::HostOp& op = trace_.ops[found.op];
    if (op.inputs == none) return;
    const std::string name(trace_.names.text(op.name));
    const std::optional<StepTokens>& step = step_tokens(steps_[i]);
    const auto key = std::tuple(op.name, op.inputs, step ? steps_[i] : none);
    auto known = costs_.find(key);
    if (known == costs_.end()) {
      known = costs_
                  .emplace(key, cost_of_operation(name, found.kernel_class, trace_.inputs[op.inputs],
                                                  step ? &*step : nullptr))
                  .first;
    }
    if (!known->second) return;
    const OpCost& cost = *known->second;
    const Explained explained = cost.from_annotation ? Explained::by_annotation : Explained::by_operator;
    const std::uint32_t row = row_for(name, cost.shape, found.kernel_class, explained);
    assign(i, row);
    if (counted_[found.op]) return;  // another kernel of the same execution
    counted_[found.op] = true;
    ShapeRow& r = out_.rows[row];
    r.count += 1;
    r.type = cost.type;
    if (cost.flops) r.flops = r.flops.value_or(0) + *cost.flops;
    if (cost.bytes) r.bytes = r.bytes.value_or(0) + *cost.bytes;
    ClassWork& told = told_[std::pair(steps_[i], found.kernel_class)];
    told.flops += cost.flops.value_or(0);
    told.bytes += cost.bytes.value_or(0);
  }

  /// Spans of each step by class that no operation explained.
  void by_annotation() {
    std::map<std::uint32_t, std::array<std::vector<std::size_t>, kernel_class_count>> open;
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) {
      if (out_.row_of_span[i] != none || span(i).work != profile::GpuWork::kernel || !step_tokens(steps_[i])) continue;
      if (out_.class_of_span[i] == KernelClass::other) out_.class_of_span[i] = class_of_kernel(kernel(i));
      open[steps_[i]][static_cast<std::size_t>(out_.class_of_span[i])].push_back(i);
    }
    for (auto& [step, spans] : open) explain_step(step, spans);
  }

  void explain_step(std::uint32_t step, std::array<std::vector<std::size_t>, kernel_class_count>& spans) {
    const StepTokens& tokens = *step_tokens(step);
    if (tokens.decode.sequences > 0 && !tokens.decode.kv) return;  // the length of the caches is not told
    auto work = work_of_step(*input_.model, tokens, input_.tp, input_.kv, input_.device);
    const auto norm = static_cast<std::size_t>(KernelClass::normalisation);
    const auto pass = static_cast<std::size_t>(KernelClass::elementwise);
    // A compiler may fuse norms into passes, or passes into norms: the bytes follow the kernels there are.
    for (const auto& [from, to] : {std::pair(norm, pass), std::pair(pass, norm)}) {
      if (!spans[from].empty() || spans[to].empty()) continue;
      work[to].bytes += work[from].bytes;
      work[from] = {};
    }
    const std::string shape = describe(tokens);
    for (std::size_t c = 0; c < kernel_class_count; ++c) {
      const auto kernel_class = static_cast<KernelClass>(c);
      const auto told = told_.find(std::pair(step, kernel_class));
      if (told != told_.end()) {
        work[c].flops = std::max(0.0, work[c].flops - told->second.flops);
        work[c].bytes = std::max(0.0, work[c].bytes - told->second.bytes);
      }
      if (spans[c].empty() || work[c].bytes <= 0) continue;
      const std::uint32_t row =
          row_for(std::string(name(kernel_class)) + " of a step", shape, kernel_class, Explained::by_annotation);
      for (const std::size_t i : spans[c]) assign(i, row);
      ShapeRow& r = out_.rows[row];
      r.count += 1;
      r.type = work[c].type;
      r.bytes = r.bytes.value_or(0) + work[c].bytes;
      if (work[c].flops > 0) r.flops = r.flops.value_or(0) + work[c].flops;
    }
  }

  [[nodiscard]] static std::string describe(const StepTokens& tokens) {
    const auto whole = [](double x) { return std::to_string(static_cast<long long>(x)); };
    std::string out;
    if (tokens.decode.sequences > 0) {
      out = whole(tokens.decode.sequences) + " decoding, " + whole(tokens.decode.kv.value_or(0)) + " cached";
    }
    if (tokens.prefill.query > 0) out += (out.empty() ? "" : "; ") + whole(tokens.prefill.query) + " prompt tokens";
    return out;
  }

  void by_name(std::size_t i) {
    if (out_.row_of_span[i] != none) return;
    const bool is_kernel = span(i).work == profile::GpuWork::kernel;
    KernelClass& kernel_class = out_.class_of_span[i];
    if (!is_kernel) {
      kernel_class = KernelClass::copy;
    } else if (kernel_class == KernelClass::other) {
      kernel_class = class_of_kernel(kernel(i));
    }
    const bool sized = !is_kernel && span(i).bytes > 0;  // the trace itself tells the bytes of a copy
    const Explained explained = sized                                ? Explained::by_operator
                                : kernel_class != KernelClass::other ? Explained::by_name
                                                                     : Explained::none;
    const std::uint32_t row = row_for(std::string(kernel(i)), "", kernel_class, explained);
    assign(i, row);
    out_.rows[row].count += 1;
    if (sized) out_.rows[row].bytes = out_.rows[row].bytes.value_or(0) + span(i).bytes;
  }

  /// The kernel that took most of each row's time.
  void name_kernels() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> time;
    for (std::size_t i = 0; i < timeline_.spans.size(); ++i) {
      time[std::pair(out_.row_of_span[i], span(i).name)] += span(i).duration_s;
    }
    std::vector<double> best(out_.rows.size(), -1);
    for (const auto& [key, seconds] : time) {
      if (seconds <= best[key.first]) continue;
      best[key.first] = seconds;
      out_.rows[key.first].kernel = trace_.names.text(key.second);
    }
  }

  const TraceInput& input_;
  const Trace& trace_;
  const DeviceTimeline& timeline_;
  const std::vector<std::uint32_t>& steps_;
  SpanRows out_;
  std::map<std::tuple<std::string, std::string, Explained>, std::size_t> index_;
  std::vector<FoundOp> found_ops_;  ///< by operation
  std::unordered_map<std::uint32_t, std::optional<KernelClass>> class_of_name_;
  std::unordered_map<std::uint32_t, std::optional<StepTokens>> tokens_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::optional<OpCost>> costs_;
  std::vector<bool> counted_;  ///< by operation
  std::map<std::pair<std::uint32_t, KernelClass>, ClassWork> told_;
};

/// Capacity of the level before main memory; 0 when not known.
double last_cache_bytes(const hardware::Device& device) {
  if (device.ladder.size() < 2) return 0;
  const hardware::MemoryLevel& level = device.ladder[device.ladder.size() - 2];
  return level.capacity ? level.capacity->value.value() : 0;
}

KernelBound bound_by_class(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::elementwise:
    case KernelClass::normalisation:
    case KernelClass::copy:
    case KernelClass::sampling:
      return KernelBound::memory;
    case KernelClass::collective:
      return KernelBound::interconnect;
    default:
      return KernelBound::unknown;
  }
}

}  // namespace

SpanRows gather_rows(const TraceInput& input, const DeviceTimeline& timeline,
                     const std::vector<std::uint32_t>& step_of_span) {
  return Gatherer(input, timeline, step_of_span).run();
}

void place_row(const hardware::Device* known_device, ShapeRow& row) {
  row.bound = bound_by_class(row.kernel_class);
  if (known_device == nullptr) return;
  const hardware::Device& device = *known_device;
  if (row.kernel_class == KernelClass::collective || row.total_s <= 0) return;
  if (row.kernel.find("HtoD") != std::string::npos || row.kernel.find("DtoH") != std::string::npos) {
    row.bound = KernelBound::interconnect;  // the way to the host, not the device's memory
    return;
  }
  double memory_s = 0, compute_s = 0;
  if (row.bytes && device.memory_bandwidth) memory_s = *row.bytes / device.memory_bandwidth->value.value();
  if (row.flops && !row.type.empty()) {
    const auto type = hardware::compute_type_from(row.type);
    const auto executed = type ? hardware::executed_type(device, *type) : std::nullopt;
    if (executed && device.peak(*executed)) compute_s = *row.flops / device.peak(*executed)->value.value();
  }
  if (memory_s <= 0 && compute_s <= 0) return;
  constexpr double clock_error = 1.02;  // a profiler's time stamps are good to about this
  if (memory_s > row.total_s * clock_error) {
    const double each = row.count > 0 ? *row.bytes / row.count : *row.bytes;
    const bool cached = each <= last_cache_bytes(device);
    row.remark = cached ? "more bytes than main memory gives: the operands fit in the last cache"
                        : "more bytes than main memory gives: the shapes do not tell what was read";
    memory_s = 0;
  }
  if (compute_s > row.total_s * clock_error) {
    row.remark = "more FLOPs than the peak gives: another arithmetic type, or work that was skipped";
    compute_s = 0;
  }
  if (memory_s <= 0 && compute_s <= 0) return;
  row.bound = compute_s > memory_s ? KernelBound::compute : KernelBound::memory;
  row.fraction_of_roof = std::min(1.0, std::max(memory_s, compute_s) / row.total_s);
}

}  // namespace corridor::diagnose
