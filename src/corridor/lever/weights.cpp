// SPDX-License-Identifier: Apache-2.0
// Weight formats: gain, bound with every weight in the format, and the batch from which unpacking loses.
#include "corridor/lever/weights.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"

namespace corridor::lever {
namespace {

using roofline::Prediction;

constexpr double worth_changing = 0.97;       // fewer bytes than this share of the present ones, else nothing changes
constexpr double largest_crossover = 16'384;  // sequences; beyond what one replica serves

/// The bound counts every weight in the new format, the head and the table too: no software reads fewer bytes.
model::ModelSpec with_every_weight(model::ModelSpec model, const model::WeightFormat& format) {
  for (model::RoleStorage& role : model.storage) role = model::RoleStorage{format, {}, {}};
  return model;
}

/// Seconds of a pure decode step of one replica at `batch` sequences; empty when it cannot be predicted.
std::optional<double> step_seconds(const Situation& s, Change change, double batch) {
  change.scenario = s.input.scenario;
  change.scenario->load = graph::Load::batch;
  change.scenario->sequences = batch;
  change.scenario->parallelism.dp = 1;
  change.scenario->parallelism.ep = std::min(change.scenario->parallelism.ep, change.scenario->parallelism.tp);
  const Result<Prediction> step = predict_change(s, change, Metric::all_users);
  if (!step) return std::nullopt;
  return step->decode.expected.mid.value();
}

/// Smallest batch at which the changed weights are slower than the present ones; empty when there is none.
std::optional<double> crossover_batch(const Situation& s, const Change& change) {
  const auto slower = [&](double batch) {
    const std::optional<double> present = step_seconds(s, {}, batch);
    const std::optional<double> changed = step_seconds(s, change, batch);
    return present && changed && *changed > *present;
  };
  double high = 1;
  while (high <= largest_crossover && !slower(high)) high *= 4;
  if (high > largest_crossover) return std::nullopt;
  double low = high / 4;
  while (high - low > std::max(1.0, high * 0.03)) {  // three per cent of a batch is finer than the prediction
    const double middle = std::floor((low + high) / 2);
    (slower(middle) ? high : low) = middle;
  }
  return high;
}

std::string stop_of(const Situation& s, const Change& change, const model::WeightFormat& format,
                    const Prediction& after, bool unpacks) {
  if (unpacks) {
    const std::optional<double> batch = crossover_batch(s, change);
    if (!batch) return fmt::format("at no batch up to {:.0f}", largest_crossover);
    return fmt::format(
        "batch {:.0f}: from there {} is slower than now, because it is unpacked to 16 bit before the "
        "product",
        *batch, format.name);
  }
  if (after.decode.break_even.batch) {
    return fmt::format("batch {:.0f}: beyond it arithmetic is the wall", *after.decode.break_even.batch);
  }
  return fmt::format("weights are then {} of the bytes; the KV cache and overhead do not shrink",
                     percent(weight_share(after.decode)));
}

}  // namespace

bool uses_gguf(const Situation& s) {
  return s.input.model.source == "GGUF" || s.input.engine.id == "llama.cpp";
}

LeverResult change_weights(const Situation& s, std::string id, std::string name, std::string_view format_name) {
  LeverResult result = unavailable(std::move(id), std::move(name), Metric::all_users, "");
  const model::WeightFormat format = *model::find_weight_format(format_name);
  Change change;
  change.model = model::with_weight_format(s.input.model, format);
  const double now_bytes = model::weight_bytes(s.input.model);
  if (model::weight_bytes(*change.model) > worth_changing * now_bytes) {
    result.note = fmt::format("the weights already take {:.1f} bits each: {} would not make them smaller",
                              now_bytes * 8 / std::max(1.0, model::parameter_count(s.input.model)), format.name);
    return result;
  }
  const Result<Prediction> after = predict_change(s, change, result.metric);
  Change every;
  every.model = with_every_weight(s.input.model, format);
  const Result<Prediction> bound = predict_change(s, every, result.metric);
  const Result<roofline::Arithmetic> arithmetic =
      roofline::arithmetic_of(s.input.device, format, s.input.scenario.math);
  if (!after || !bound || !arithmetic) {
    result.note = !after ? after.error().line() : !bound ? bound.error().line() : arithmetic.error().line();
    return result;
  }
  result.stops_at = stop_of(s, change, format, *after, arithmetic->unpacks);
  const double roofs = roof_ratio(s, every, *bound, result.metric);
  take_gain(s, std::move(change), *after, roofs, result);
  result.change = "--weights " + format.name;
  result.cost = format.bits_per_weight > 6
                    ? "small loss of quality, measure it on your own task; quantise the model once"
                    : "larger loss of quality, check it on your own task; quantise the model once";
  const bool memory_bound = s.now.decode.wall != roofline::Wall::compute;
  result.note = memory_bound ? fmt::format("weights are {} of the bytes: {} give at most {}",
                                           percent(weight_share(s.now.decode)), result.name, times(result.max_gain))
                             : fmt::format("arithmetic takes {} of the step: {} give at most {}",
                                           percent(s.now.decode.shares.compute), result.name, times(result.max_gain));
  if (result.gain.mid < 1 && arithmetic->unpacks) {
    result.note +=
        fmt::format("; at batch {:.0f} unpacking to 16 bit costs more than the bytes save", s.now.decode.sequences);
  }
  result.note += fit_clause(s, *after);
  return result;
}

}  // namespace corridor::lever
