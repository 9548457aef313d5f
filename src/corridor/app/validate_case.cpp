// SPDX-License-Identifier: Apache-2.0
// Scenario from a row, prediction of its phases, and from those the number that the row measured.
#include "corridor/app/validate_case.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "corridor/app/scenario_builder.h"
#include "corridor/app/validate_operation.h"
#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"
#include "corridor/profile/points/words.h"
#include "corridor/roofline/predict.h"

namespace corridor::app {
namespace {

using profile::MeasuredPoint;
using profile::PointLoad;
using profile::PointMetric;

// The rules of thumb that the answer is compared with: shares of the datasheet's peaks.
constexpr double rule_decode_bandwidth = 0.60;
constexpr double rule_prefill_mfu = 0.45;
constexpr double rule_product_mfu = 0.30;
// Length taken when a row of decode speed states none: a limit that assumed a longer one could be beaten.
constexpr std::int64_t short_length = 128;

/// Four times of one thing, in seconds.
struct Times {
  double low = 0, mid = 0, high = 0, limit = 0, rule = 0;

  friend Times operator+(const Times& a, const Times& b) {
    return {a.low + b.low, a.mid + b.mid, a.high + b.high, a.limit + b.limit, a.rule + b.rule};
  }
  friend Times operator*(const Times& a, double k) {
    return {a.low * k, a.mid * k, a.high * k, a.limit * k, a.rule * k};
  }
};

PointPrediction as_time(const Times& t) {
  return {t.low, t.mid, t.high, t.limit, t.limit, t.rule, false, true};
}

/// `work` done in that time: the slow end of the time is the low end of the rate.
PointPrediction as_rate(const Times& t, double work) {
  const auto rate = [&](double seconds) { return seconds > 0 ? work / seconds : 0; };
  return {rate(t.high), rate(t.mid), rate(t.low), rate(t.limit), rate(t.limit), rate(t.rule), false, true};
}

std::optional<std::int64_t> whole(const std::optional<double>& value) {
  if (!value || !(*value >= 0.5 && *value < 1e15)) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*value));
}

Times decode_times(const roofline::Prediction& p) {
  const roofline::DecodePrediction& d = p.decode;
  const auto tpot = [&](units::Seconds step) { return d.tpot_s(step); };
  return {tpot(d.expected.low), tpot(d.expected.mid), tpot(d.expected.high), tpot(d.limit),
          tpot(d.limit_memory) / rule_decode_bandwidth};
}

/// `alone`: without the wait behind other prompts.
Times prompt_times(const roofline::Prediction& p, bool alone) {
  const roofline::Interval& t = alone ? p.prefill.expected : p.prefill.first_token;
  return {t.low.value(), t.mid.value(), t.high.value(), p.prefill.limit.value(),
          p.prefill.limit_compute.value() / rule_prefill_mfu};
}

/// The request that `corridor predict` would get; names are resolved already.
PredictRequest request_of(const MeasuredPoint& point, const PointCase& names) {
  PredictRequest r;
  r.devices = point.devices;
  r.tp = point.tp;
  r.pp = point.pp;
  r.ep = point.ep;
  r.dp = point.dp;
  if (r.devices && !r.tp && !r.pp && !r.dp && *r.devices == 1) r.devices.reset();
  r.engine = names.engine->profile.id;
  if (!point.kv.empty()) {
    r.kv = profile::weight_format_word(point.kv);
  } else if (r.engine.starts_with("tensorrt-llm")) {
    // Not stated: NVIDIA's fp8 and fp4 checkpoints ask for an fp8 cache, and this engine follows the checkpoint.
    const std::string weights = profile::weight_format_word(point.weights);
    if (weights == "fp8" || weights == "nvfp4") r.kv = "fp8";
  }
  const double sequences = std::max(1.0, std::round(point.sequences.value_or(1)));
  (point.load == PointLoad::concurrency ? r.concurrency : r.batch) = sequences;
  r.input = whole(point.input);
  r.output = whole(point.output);
  r.context = whole(point.context);
  const bool prompt_only = point.metric == PointMetric::ttft || point.metric == PointMetric::prefill_rate;
  if (!r.output && prompt_only) r.output = 1;
  if (prompt_only) r.context.reset();  // of a prompt, the tokens cached before it: see prompt_after
  if (!r.input && !r.context && !prompt_only) r.input = r.output = short_length;
  return r;
}

void ask_speculation(const MeasuredPoint& point, const PointCase& names, PredictRequest& r) {
  if (!point.tokens_per_step) return;
  const double most = point.draft_tokens.value_or(names.guess.draft_tokens);
  const double drafts = std::clamp(std::max(most, std::ceil(*point.tokens_per_step - 1)), 1.0, 64.0);
  r.spec_tokens = static_cast<std::int64_t>(drafts);
  r.spec_tokens_per_round = *point.tokens_per_step;
  r.spec_draft = "ngram";  // a draft's weights are given to the prediction as a model of its own
}

/// A draft that reads as much as the method's guesses do; empty when guesses cost nothing.
std::optional<model::ModelSpec> draft_of(const PointCase& names) {
  if (names.guess.draft_share <= 0) return std::nullopt;
  Result<model::ModelSpec> draft =
      model::plain_dense_model(names.guess.draft_share * model::parameter_count(names.model->spec));
  if (!draft) return std::nullopt;
  return std::move(*draft);
}

Result<roofline::Prediction> predict_request(const PredictRequest& request, const PointCase& names) {
  graph::Scenario scenario;
  ScenarioBuilder builder(request, names.model->spec, names.device->device, scenario);
  if (Result<int> ok = builder.build(); !ok) {
    return fail(ok.error().where.empty() ? "the row's layout or lengths do not go with the model"
                                         : "the row's value is out of range: " + ok.error().where);
  }
  std::optional<model::ModelSpec> draft;
  if (scenario.speculation.draft_tokens > 0) draft = draft_of(names);
  Result<roofline::Prediction> out =
      roofline::predict({names.model->spec, names.device->device, scenario, names.engine->profile,
                         names.device->constants, draft ? &*draft : nullptr, &names.model->facts, false});
  if (!out) return fail(out.error().what);
  return out;
}

/// Tokens a second of all sequences, from arrival to the last token; `prompts`: prompt tokens are counted as well.
PointPrediction total_rate(const MeasuredPoint& point, const roofline::Prediction& p, double sequences, bool prompts) {
  const Times tpot = decode_times(p);
  if (!point.output && !prompts) return as_rate(tpot, sequences);  // the decode phase alone
  const double output = std::max(1.0, point.output.value_or(1));
  const double input = point.input.value_or(0);
  const Times whole_request = prompt_times(p, false) + tpot * (output - 1);
  return as_rate(whole_request, sequences * (output + (prompts ? input : 0)));
}

/// Predicted speed with guesses ÷ without. No round is faster than one step of the target.
Result<PointPrediction> predict_speedup(const MeasuredPoint& point, const PointCase& names) {
  if (!point.tokens_per_step) return fail("a speed-up without the tokens a step that the guesses yield");
  PredictRequest request = request_of(point, names);
  const Result<roofline::Prediction> base = predict_request(request, names);
  if (!base) return tl::unexpected(base.error());
  ask_speculation(point, names, request);
  const Result<roofline::Prediction> faster = predict_request(request, names);
  if (!faster) return tl::unexpected(faster.error());
  const Times before = decode_times(*base);
  const Times after = decode_times(*faster);
  PointPrediction out;
  out.limit = out.roofline = *point.tokens_per_step;
  out.mid = std::min(out.limit, before.mid / after.mid);
  // What is wrong with both steps alike cancels; the interval of one of them is left.
  out.low = std::min(out.mid, before.mid / after.high);
  out.high = std::min(out.limit, before.mid / after.low);
  out.one_constant = *point.tokens_per_step;
  return out;
}

/// A prompt behind tokens that are cached already: the whole of both less the cached part alone, and never less than
/// the same prompt with nothing before it. The interval is that of the whole.
Result<PointPrediction> predict_prompt_after(const MeasuredPoint& point, const PointCase& names) {
  PredictRequest request = request_of(point, names);
  const double cached = std::round(*point.context);
  const double length = std::max(1.0, point.input.value_or(1));
  const bool rate = point.metric == PointMetric::prefill_rate;
  Times whole_prompt, before, alone;
  double prompts = 1;
  for (const auto& [tokens, times] : {std::pair{cached + length, &whole_prompt}, {cached, &before}, {length, &alone}}) {
    request.input = whole(tokens);
    const Result<roofline::Prediction> p = predict_request(request, names);
    if (!p) return tl::unexpected(p.error());
    *times = prompt_times(*p, rate);
    prompts = p->prefill.prompts;
  }
  Times rest;
  rest.mid = std::max(alone.mid, whole_prompt.mid - before.mid);
  rest.low = rest.mid * whole_prompt.low / whole_prompt.mid;
  rest.high = rest.mid * whole_prompt.high / whole_prompt.mid;
  rest.limit = std::min(rest.mid, std::max(alone.limit, whole_prompt.limit - before.limit));
  rest.low = std::max(rest.low, rest.limit);
  rest.rule = std::max(alone.rule, whole_prompt.rule - before.rule);
  return rate ? as_rate(rest, prompts * length) : as_time(rest);
}

Result<PointPrediction> predict_run(const MeasuredPoint& point, const PointCase& names) {
  if (point.metric == PointMetric::speedup) return predict_speedup(point, names);
  const bool prompt = point.metric == PointMetric::ttft || point.metric == PointMetric::prefill_rate;
  if (prompt && point.context.value_or(0) >= 1) return predict_prompt_after(point, names);
  PredictRequest request = request_of(point, names);
  ask_speculation(point, names, request);
  const Result<roofline::Prediction> p = predict_request(request, names);
  if (!p) return tl::unexpected(p.error());
  const double replicas = static_cast<double>(point.dp.value_or(1));
  const double asked = std::max(1.0, std::round(point.sequences.value_or(1)));
  const double running = std::min(asked, p->memory.sequences * replicas);
  PointPrediction out = [&]() -> PointPrediction {
    switch (point.metric) {
      case PointMetric::ttft:
        return as_time(prompt_times(*p, false));
      case PointMetric::latency:
        return as_time(prompt_times(*p, false) + decode_times(*p) * std::max(0.0, point.output.value_or(1) - 1));
      case PointMetric::decode_per_user:
        return as_rate(decode_times(*p), 1);
      case PointMetric::output_total:
        return total_rate(point, *p, running, false);
      case PointMetric::total_tokens:
        return total_rate(point, *p, running, true);
      case PointMetric::prefill_rate:
        return as_rate(prompt_times(*p, true), p->prefill.prompts * point.input.value_or(1));
      default:
        return as_time(decode_times(*p));
    }
  }();
  out.saturated = point.load == PointLoad::concurrency && running < asked;
  out.fits = p->memory.fits;
  return out;
}

Result<PointPrediction> predict_operation(const MeasuredPoint& point, const PointCase& names) {
  if (!point.operation) return fail("the row states no operation");
  Result<OperationCase> operation = operation_case(*point.operation);
  if (!operation) return tl::unexpected(operation.error());
  // A rate of FLOPs is told of the bare product: its operands are stored in the narrow type already.
  if (point.metric == profile::PointMetric::flop_rate) {
    const auto quantises = [](const graph::Op& op) { return op.kind == graph::OpKind::quantise; };
    operation->ops.erase(std::remove_if(operation->ops.begin(), operation->ops.end(), quantises), operation->ops.end());
  }
  const Result<OperationTime> t = time_operation(*operation, names.device->device, names.device->constants);
  if (!t) return fail(t.error().what);
  const double rule = std::max({t->cold_memory.value() / rule_decode_bandwidth,
                                t->limit_compute.value() / rule_product_mfu, t->limit_link.value()});
  const double roofline = std::max({t->cold_memory, t->limit_compute, t->limit_link}).value();
  const Times times{t->low.value(), t->mid.value(), t->high.value(), t->limit.value(), rule};
  const profile::PointOperation& o = *point.operation;
  const double work = 2 * o.m * o.n * o.k;
  const bool rate = point.metric == PointMetric::flop_rate;
  PointPrediction out = rate ? as_rate(times, work) : as_time(times);
  out.roofline = rate ? work / roofline : roofline;
  return out;
}

/// The fraction of the datasheet's bandwidth that kernels of the class reach; its spread over kinds is the interval.
Result<PointPrediction> predict_bandwidth(const PointCase& names) {
  const hardware::Device& device = names.device->device;
  if (!device.memory_bandwidth) return fail("no memory bandwidth of the device is known");
  const double peak = device.memory_bandwidth->value.value();
  const roofline::KernelConstants& c = names.device->constants;
  const auto [low, high] =
      std::minmax({c.bf16.bandwidth_fraction, c.attention_decode.bandwidth_fraction, c.elementwise.bandwidth_fraction});
  PointPrediction out;
  out.limit = out.roofline = peak;
  out.mid = std::min(
      peak, device.reachable_bandwidth ? device.reachable_bandwidth->value.value() : peak * c.bf16.bandwidth_fraction);
  out.low = std::min(out.mid, peak * low);
  out.high = std::clamp(peak * high, out.mid, peak);
  out.one_constant = rule_decode_bandwidth * peak;
  return out;
}

}  // namespace

bool is_rate(PointMetric metric) {
  switch (metric) {
    case PointMetric::tpot:
    case PointMetric::ttft:
    case PointMetric::latency:
    case PointMetric::op_time:
      return false;
    default:
      return true;
  }
}

Result<PointPrediction> predict_point(const MeasuredPoint& point, const PointCase& names) {
  switch (point.metric) {
    case PointMetric::op_time:
    case PointMetric::flop_rate:
      return predict_operation(point, names);
    case PointMetric::bandwidth:
      return predict_bandwidth(names);
    case PointMetric::acceptance:
      return fail("an input of predictions, not a result");
    default:
      return predict_run(point, names);
  }
}

}  // namespace corridor::app
