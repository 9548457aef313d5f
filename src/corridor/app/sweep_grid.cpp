// SPDX-License-Identifier: Apache-2.0
// Resolves the names of a sweep once and turns predictions into points.
#include "corridor/app/sweep_grid.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/case_loader.h"
#include "corridor/app/scenario_builder.h"

namespace corridor::app {
namespace {

constexpr std::size_t most_cases = 4096;  // combinations of names, each with its own model and constants

constexpr std::size_t most_notes = 100;  // a page of them; more would hide the answer

/// How many different cases one axis makes: as many as it has names.
std::size_t cases_of(const SweepAxis& axis) {
  return axis.has_numbers() ? 1 : axis.names.size();
}

/// A flag that an axis replaces has no default to tell of, nor have those that follow from it.
bool follows(AxisKind kind, const std::string& default_name) {
  switch (kind) {
    case AxisKind::concurrency:
      return default_name == "batch";
    case AxisKind::context:
      return default_name == "context" || default_name == "input";
    case AxisKind::input:
    case AxisKind::output:
      return default_name == name(kind) || default_name == "context";
    case AxisKind::tp:
      return default_name == "tp" || default_name == "devices" || default_name == "layout";
    default:
      return default_name == name(kind);
  }
}

void drop_swept_defaults(const std::vector<SweepAxis>& axes, PredictAnswer& answer) {
  const auto swept = [&](const DefaultUsed& used) {
    return std::any_of(axes.begin(), axes.end(), [&](const SweepAxis& axis) { return follows(axis.kind, used.name); });
  };
  answer.defaults.erase(std::remove_if(answer.defaults.begin(), answer.defaults.end(), swept), answer.defaults.end());
}

/// Prepares a case at the largest numbers of the axes; of tp at the first that this model and device allow.
Result<PredictAnswer> prepare(CaseLoader& loader, const std::vector<SweepAxis>& axes, PredictRequest request) {
  const SweepAxis* tp = nullptr;
  for (const SweepAxis& axis : axes) {
    if (axis.kind == AxisKind::tp) tp = &axis;
    if (axis.between()) axis.put(axis.values.back(), request);
  }
  if (tp == nullptr) return loader.prepare(request);
  Result<PredictAnswer> first = fail("no value", "--over tp");
  for (const double value : tp->values) {
    tp->put(value, request);
    Result<PredictAnswer> answer = loader.prepare(request);
    if (answer) return answer;
    if (value == tp->values.front()) first = std::move(answer);
  }
  return first;
}

void fill_from(const roofline::Prediction& p, const graph::Scenario& scenario, SweepPoint& point) {
  const roofline::DecodePrediction& d = p.decode;
  point.fits = p.memory.fits;
  point.limit = d.limit;
  point.step = d.expected;
  point.sequences = d.sequences;
  point.tokens_per_step = d.tokens_per_sequence;
  point.asked = scenario.sequences;
  point.users = d.sequences * static_cast<double>(scenario.parallelism.dp);
  point.ttft_limit = p.prefill.limit;
  point.ttft = p.prefill.expected;
  point.wall = d.wall;
  point.ttft_wall = p.prefill.wall;
  point.shares = d.shares;
  point.intensity = d.totals.flops / d.totals.bytes();
  point.weights = d.totals.weights;
  point.kv = d.totals.kv;
  point.needed = p.memory.needed();
  point.kv_pool = p.memory.kv_pool;
  if (p.memory.has_kv && p.memory.capacity_known) point.max_requests = p.memory.max_requests;
  point.break_even = d.break_even.batch;
  point.break_even_weights_only = d.break_even.batch_weights_only;
  point.kv_ahead = d.totals.kv > d.totals.weights;
}

}  // namespace

Result<SweepGrid> SweepGrid::open(const Assets& assets, const PredictRequest& base, std::vector<SweepAxis> axes) {
  SweepGrid grid;
  grid.base_ = base;
  grid.axes_ = std::move(axes);
  std::size_t cases = 1;
  for (const SweepAxis& axis : grid.axes_) cases *= cases_of(axis);
  if (cases > most_cases) {
    return fail(fmt::format("{} combinations of names", cases), "--over", fmt::format("give at most {}", most_cases));
  }
  CaseLoader loader(assets);
  const std::size_t inner = grid.axes_.size() > 1 ? cases_of(grid.axes_[1]) : 1;
  for (std::size_t i = 0; i < cases; ++i) {
    PredictRequest request = base;
    const std::size_t index[] = {i / inner, i % inner};
    for (std::size_t axis = 0; axis < grid.axes_.size(); ++axis) {
      if (!grid.axes_[axis].has_numbers()) grid.axes_[axis].put(static_cast<double>(index[axis]), request);
    }
    Result<PredictAnswer> answer = prepare(loader, grid.axes_, std::move(request));
    if (!answer) return tl::unexpected(answer.error());
    drop_swept_defaults(grid.axes_, *answer);
    grid.facts_.emplace_back(answer->model);
    grid.cases_.push_back(std::move(*answer));
  }
  return grid;
}

PredictAnswer SweepGrid::described_case() const {
  PredictAnswer first = cases_.front();
  first.notes.clear();
  for (const PredictAnswer& each : cases_) {
    for (const std::string& note : each.notes) {
      const bool known = std::find(first.notes.begin(), first.notes.end(), note) != first.notes.end();
      if (!known && first.notes.size() < most_notes) first.notes.push_back(note);
    }
  }
  if (const auto prediction = predict_case(first, first.scenario))
    first.prediction.assumptions = prediction->assumptions;
  return first;
}

PredictRequest SweepGrid::request_at(const Coordinates& at) const {
  PredictRequest request = base_;
  for (std::size_t i = 0; i < axes_.size(); ++i) axes_[i].put(at[i], request);
  return request;
}

std::size_t SweepGrid::case_at(const Coordinates& at) const {
  std::size_t index = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    index = index * cases_of(axes_[i]) + (axes_[i].has_numbers() ? 0 : static_cast<std::size_t>(at[i]));
  }
  return index;
}

SweepPoint SweepGrid::compute(const Coordinates& at) const {
  SweepPoint point;
  point.at = at;
  const std::size_t index = case_at(at);
  const PredictAnswer& prepared = cases_[index];
  const PredictRequest request = request_at(at);
  graph::Scenario scenario;
  ScenarioBuilder builder(request, prepared.model, prepared.device, scenario);
  if (Result<int> ok = builder.build(); !ok) {
    point.error = ok.error().line();
    return point;
  }
  const Result<roofline::Prediction> prediction = predict_case(prepared, scenario, &facts_[index]);
  if (!prediction) {
    point.error = prediction.error().line();
    return point;
  }
  fill_from(*prediction, scenario, point);
  return point;
}

}  // namespace corridor::app
