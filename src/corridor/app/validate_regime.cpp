// SPDX-License-Identifier: Apache-2.0
// Regimes by phase, load and kind of model; rules that name what a row suffers from.
#include "corridor/app/validate_regime.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/validate_case.h"
#include "corridor/base/lower.h"

namespace corridor::app {
namespace {

using profile::MeasuredPoint;
using profile::PointLoad;
using profile::PointMetric;
using profile::PointOperation;

constexpr double small_operation_s = 2e-5;
constexpr double one_token_batch = 1.5;

std::string operation_regime(const PointOperation& operation) {
  switch (operation.kind) {
    case PointOperation::Kind::product:
      if (operation.type == "bf16" || operation.type == "fp16" || operation.type.empty()) return "one product, bf16";
      return operation.type.starts_with("fp8") ? "one product, fp8" : "one product, other";
    case PointOperation::Kind::attention_decode:
      return "decode attention";
    case PointOperation::Kind::attention_prefill:
      return "prefill attention";
    case PointOperation::Kind::moe:
      return "MoE product";
    case PointOperation::Kind::collective:
      return "collective";
  }
  return "one product, other";
}

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string("-");
}

}  // namespace

const std::vector<std::string>& regime_names() {
  static const std::vector<std::string> names = {
      "one product, bf16",
      "one product, fp8",
      "one product, other",
      "best product of a search",
      "decode attention",
      "prefill attention",
      "MoE product",
      "collective",
      "reachable bandwidth",
      "single-stream decode",
      "static batch",
      "TPOT, concurrency, dense",
      "TPOT, concurrency, MoE",
      "TPOT, KV-saturated",
      "throughput, concurrency",
      "prefill, TTFT at batch 1",
      "prefill, batch above 1",
      "TTFT, under load",
      "speculative speed-up",
      "shapes not known",
  };
  return names;
}

std::string regime_of(const JudgedPoint& judged, bool routed, bool shapes_known) {
  const MeasuredPoint& point = judged.point;
  if (point.metric == PointMetric::bandwidth) return "reachable bandwidth";
  if (point.metric == PointMetric::flop_rate) return "best product of a search";
  if (point.operation) return operation_regime(*point.operation);
  if (point.metric == PointMetric::speedup || point.tokens_per_step.value_or(1) > 1) return "speculative speed-up";
  if (!shapes_known) return "shapes not known";
  const bool closed_loop = point.load == PointLoad::concurrency;
  const bool one = point.sequences.value_or(1) < one_token_batch;
  switch (point.metric) {
    case PointMetric::ttft:
    case PointMetric::prefill_rate:
      if (one) return "prefill, TTFT at batch 1";
      return closed_loop ? "TTFT, under load" : "prefill, batch above 1";
    case PointMetric::tpot:
    case PointMetric::decode_per_user:
      if (closed_loop && judged.saturated) return "TPOT, KV-saturated";
      if (closed_loop) return routed ? "TPOT, concurrency, MoE" : "TPOT, concurrency, dense";
      return one ? "single-stream decode" : "static batch";
    case PointMetric::output_total:
      if (one && !closed_loop && !point.output) return "single-stream decode";
      [[fallthrough]];
    default:
      return closed_loop ? "throughput, concurrency" : "static batch";
  }
}

std::string likely_reason(const JudgedPoint& judged) {
  const MeasuredPoint& point = judged.point;
  const std::string notes = lower(point.notes);
  const std::string device = lower(point.device);
  const auto says = [&](const char* word) { return notes.find(word) != std::string::npos; };
  const auto capped = [&](const std::string& text) {
    return text.find("power") != std::string::npos && text.find("power-law") == std::string::npos;
  };
  if (judged.inside()) return "inside its interval";
  if (says("outlier") || says("implausible") || says("tainted")) return "the source itself doubts this row";
  if (capped(notes) || capped(device)) return "the board ran under a power limit";
  if (!judged.fits) return "by our own count this does not fit in memory";
  if (point.operation) {
    if (point.metric == PointMetric::op_time && point.value < small_operation_s) {
      return "a small operation, close to the launch floor";
    }
    if (!judged.device_measured) return "no kernel of this device class was measured";
    if (point.operation->kind == PointOperation::Kind::moe) return "how tokens choose experts, and which kernel ran";
    return "which kernel ran is not known";
  }
  if (point.metric == PointMetric::bandwidth) return "reachable bandwidth of this device is not in its file";
  if (judged.saturated) return "requests wait for KV memory";
  if (point.metric == PointMetric::ttft && point.load == PointLoad::concurrency) return "waiting behind other prompts";
  if (point.metric == PointMetric::ttft && point.sequences.value_or(1) > one_token_batch) {
    return "the first token of a batch waits for other prompts";
  }
  if (!judged.engine_known) return "the engine has no profile; " + judged.engine_id + " stands in";
  if (!judged.device_measured) return "no kernel of this device class was measured";
  if (judged.regime == "speculative speed-up") return "cost of the guesses and of the baseline's host";
  if (point.date.starts_with("2023") || point.date.starts_with("2024")) {
    return "an engine of " + point.date.substr(0, 4) + ", older than most that were measured";
  }
  return "not explained";
}

std::string beyond_reason(const JudgedPoint& judged, double times_as_fast) {
  const std::string notes = lower(judged.point.notes);
  std::string out = fmt::format("{:.3g} times as fast as the limit allows", times_as_fast);
  if (notes.find("implausible") != std::string::npos || notes.find("outlier") != std::string::npos) {
    return out + "; the source itself doubts this row";
  }
  if (judged.point.operation && judged.point.operation->kind == PointOperation::Kind::collective) {
    return out + "; perhaps another link than the device file states";
  }
  if (judged.point.metric == PointMetric::bandwidth) return out + "; perhaps the data fit in a cache";
  if (!judged.point.operation) return out + "; another precision, length or board than stated?";
  return out;
}

std::string sequences_range(double sequences) {
  constexpr std::array<std::pair<double, const char*>, 3> ranges = {{{1, "1"}, {8, "2-8"}, {64, "9-64"}}};
  for (const auto& [most, text] : ranges) {
    if (sequences <= most) return text;
  }
  return "65-";
}

std::string configuration_key(const JudgedPoint& judged) {
  const MeasuredPoint& p = judged.point;
  std::string key =
      fmt::format("{}|{}|{}|{}", static_cast<int>(p.metric), judged.device_id, p.engine, static_cast<int>(p.load));
  if (p.operation) {
    const PointOperation& o = *p.operation;
    key += fmt::format("|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", static_cast<int>(o.kind), o.type, o.kv, o.m, o.n, o.k,
                       o.batch, o.heads, o.kv_heads, o.head_dim, o.window, o.length);
    key += fmt::format("|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", o.tokens, o.hidden, o.inter, o.experts, o.per_token,
                       o.tp, o.ep, o.routing, o.collective, o.implementation, o.ranks, o.payload_bytes);
    return key;
  }
  const std::string model = judged.model_id.empty() ? p.model : judged.model_id;
  key += fmt::format("|{}|{}|{}|{}|{}|{}|{}|{}", model, p.weights, p.kv, text_of(p.devices), text_of(p.tp),
                     text_of(p.pp), text_of(p.ep), text_of(p.dp));
  key += fmt::format("|{}|{}|{}|{}|{}|{}", text_of(p.sequences), text_of(p.input), text_of(p.output),
                     text_of(p.context), text_of(p.tokens_per_step), text_of(p.draft_tokens));
  // Speed-ups are told apart by the task, bandwidths by the kernel, and only the notes and the name say which.
  if (p.metric == PointMetric::speedup || p.metric == PointMetric::bandwidth) key += "|" + p.model + "|" + p.notes;
  return key;
}

}  // namespace corridor::app
