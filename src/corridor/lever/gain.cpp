// SPDX-License-Identifier: Apache-2.0
// Gains as ratios of predictions, their intervals and bounds.
#include "corridor/lever/gain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/roofline/phases.h"
#include "corridor/units/text.h"

namespace corridor::lever {
namespace {

using roofline::Budget;
using roofline::DecodePrediction;
using roofline::Prediction;
using units::Seconds;

/// Sequences × tokens each that one step yields, in the metric's view.
double tokens_per_step(const Prediction& prediction, const graph::Scenario& scenario, Metric metric) {
  const double each = prediction.decode.tokens_per_sequence;
  if (metric == Metric::per_user) return each;
  return each * prediction.decode.sequences * static_cast<double>(scenario.parallelism.dp);
}

/// A time cut into what the model of bytes and FLOPs gives, and overhead.
struct Split {
  double work = 0, overhead = 0, least = 0;
  /// The time when the overhead is `factor` times what was modelled.
  [[nodiscard]] double with(double factor) const { return std::max(least, work + factor * overhead); }
};

Split split_of(const Prediction& prediction, Metric metric) {
  const bool prompt = metric == Metric::first_token;
  const Budget& b = prompt ? prediction.prefill.budget : prediction.decode.budget;
  const Seconds limit = prompt ? prediction.prefill.limit : prediction.decode.limit;
  return {(b.weights + b.kv + b.activations + b.compute).value(), (b.launch + b.host + b.communication).value(),
          limit.value()};
}

/// Metric with overhead scaled, as a rate.
double rate(const Prediction& prediction, const graph::Scenario& scenario, Metric metric, double factor) {
  const double units = metric == Metric::first_token ? 1 : tokens_per_step(prediction, scenario, metric);
  return units / split_of(prediction, metric).with(factor);
}

const graph::Scenario& scenario_of(const Situation& s, const Change& change) {
  return change.scenario ? *change.scenario : s.input.scenario;
}

/// The engine's interval says how far a time may be off. Bytes and FLOPs are counted, so the difference is laid on the
/// overhead (launches, host, communication): the overhead of both cases is scaled by the factor that would bring the
/// present case to the low and to the high end of its interval, and the gain is taken again.
std::pair<double, double> overhead_factors(const Prediction& now, Metric metric) {
  const roofline::Interval& t = metric == Metric::first_token ? now.prefill.expected : now.decode.expected;
  const Split split = split_of(now, metric);
  if (split.overhead <= 0) return {1, 1};
  const auto factor = [&](Seconds end) { return std::max(0.0, 1 + (end - t.mid).value() / split.overhead); };
  return {factor(t.low), factor(t.high)};
}

}  // namespace

std::string_view name(Metric metric) {
  switch (metric) {
    case Metric::all_users:
      return "tok/s all users";
    case Metric::per_user:
      return "tok/s per user";
    case Metric::first_token:
      return "time to first token";
  }
  return "";
}

roofline::PredictInput Change::applied_to(const roofline::PredictInput& base) const {
  return {model ? *model : base.model,    device ? *device : base.device,          scenario ? *scenario : base.scenario,
          engine ? *engine : base.engine, constants ? *constants : base.constants, draft ? &*draft : base.draft};
}

Result<Prediction> predict_change(const Situation& s, const Change& change, Metric metric) {
  const roofline::PredictInput input = change.applied_to(s.input);
  if (metric == Metric::first_token) return roofline::predict(input);
  Prediction after;
  after.graphs = input.scenario.graphs && input.engine.graphs_default;
  if (!input.device.memory_bandwidth) return fail("no memory bandwidth is known", input.device.id);
  after.memory = roofline::fit_memory(input.model, input.device, input.scenario, input.engine, nullptr, input.draft);
  Result<DecodePrediction> decode = roofline::predict_decode(input, after.memory, after.graphs);
  if (!decode) return tl::unexpected(decode.error());
  after.decode = std::move(*decode);
  return after;
}

double metric_value(const Prediction& prediction, const graph::Scenario& scenario, Metric metric) {
  if (metric == Metric::first_token) return prediction.prefill.expected.mid.value();
  return tokens_per_step(prediction, scenario, metric) / prediction.decode.expected.mid.value();
}

Seconds roof_time(const Prediction& prediction, const hardware::Device& device) {
  const DecodePrediction& d = prediction.decode;
  const Seconds memory = (d.per_device.weights + d.per_device.kv) / device.memory_bandwidth->value;
  return std::max({memory, d.limit_compute, d.limit_link});
}

double roof_ratio(const Situation& s, const Change& change, const Prediction& after, Metric metric) {
  if (metric == Metric::first_token) return s.now.prefill.limit / after.prefill.limit;
  const roofline::PredictInput changed = change.applied_to(s.input);
  const double tokens =
      tokens_per_step(after, changed.scenario, metric) / tokens_per_step(s.now, s.input.scenario, metric);
  return tokens * (roof_time(s.now, s.input.device) / roof_time(after, changed.device));
}

double bound_with_overhead(const Situation& s, const Change& change, const Prediction& after, Metric metric) {
  const double roofs = roof_ratio(s, change, after, metric);
  const double left = split_of(after, metric).overhead;
  if (left <= 0) return roofs;
  double overheads = split_of(s.now, metric).overhead / left;
  if (metric != Metric::first_token) {
    overheads *=
        tokens_per_step(after, scenario_of(s, change), metric) / tokens_per_step(s.now, s.input.scenario, metric);
  }
  return std::max(roofs, overheads);
}

double gain_without(double share) {
  constexpr double nearly_all = 1 - 1e-9;
  return 1 / (1 - std::clamp(share, 0.0, nearly_all));
}

LeverResult unavailable(std::string id, std::string name, Metric metric, std::string note) {
  LeverResult result;
  result.id = std::move(id);
  result.name = std::move(name);
  result.metric = metric;
  result.note = std::move(note);
  return result;
}

void take_gain(const Situation& s, Change change, const Prediction& after, double bound, LeverResult& result) {
  const Metric metric = result.metric;
  const graph::Scenario& scenario = scenario_of(s, change);
  result.applies = true;
  result.before = metric_value(s.now, s.input.scenario, metric);
  result.after = metric_value(after, scenario, metric);
  const double mid = metric == Metric::first_token ? result.before / result.after : result.after / result.before;
  const auto [few, many] = overhead_factors(s.now, metric);
  const auto gain_at = [&](double factor) {
    return rate(after, scenario, metric, factor) / rate(s.now, s.input.scenario, metric, factor);
  };
  const std::array<double, 2> ends = {gain_at(few), gain_at(many)};
  result.max_gain = std::max(bound, mid);
  result.gain.mid = mid;
  result.gain.low = std::min({mid, ends[0], ends[1]});
  result.gain.high = std::min(std::max({mid, ends[0], ends[1]}), result.max_gain);
  result.wall_after = metric == Metric::first_token ? after.prefill.wall : after.decode.wall;
  result.changed = std::move(change);
}

std::string times(double ratio) {
  return fmt::format("{}×", ratio < 10 ? fmt::format("{:.2f}", ratio) : units::print_number(ratio));
}

std::string percent(double share) {
  return share > 0 && share < 0.095 ? fmt::format("{:.1f} %", share * 100) : fmt::format("{:.0f} %", share * 100);
}

namespace {
double part_of_bytes(const DecodePrediction& d, units::Bytes part) {
  const double all = (d.per_device.weights + d.per_device.kv).value();
  return all > 0 ? part.value() / all : 0;
}
}  // namespace

double weight_share(const DecodePrediction& d) {
  return part_of_bytes(d, d.per_device.weights);
}
double kv_share(const DecodePrediction& d) {
  return part_of_bytes(d, d.per_device.kv);
}

std::string fit_clause(const Situation& s, const Prediction& after) {
  if (s.now.memory.fits) return "";
  return after.memory.fits ? "; and then it fits"
                           : fmt::format("; still {} short on each device", units::print(after.memory.shortfall));
}

}  // namespace corridor::lever
