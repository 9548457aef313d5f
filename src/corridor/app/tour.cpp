// SPDX-License-Identifier: Apache-2.0
// Runs the experiments the tour speaks of, then tells the chapters.
#include "corridor/app/tour.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/tour_claims.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

constexpr double tour_effort = 0.5;  // of the time an experiment takes alone
constexpr const char* tour_experiments[] = {"intensity", "chase",        "switch",    "order",  "fusion",  "tiling",
                                            "attention", "decode-batch", "precision", "decode", "dispatch"};

TourFigure figure_of(double value, measure::LabUnit unit) {
  switch (unit) {
    case measure::LabUnit::seconds:
      return figure(units::Seconds{value});
    case measure::LabUnit::bytes_per_second:
      return {value, "B/s", units::print(units::BytesPerSecond{value})};
    case measure::LabUnit::flop_per_second:
      return {value, "FLOP/s", units::print(units::FlopsPerSecond{value})};
    case measure::LabUnit::per_second:
      return count_figure(value, "1/s");
    case measure::LabUnit::cycles:
      return count_figure(value, "cycles");
    case measure::LabUnit::ratio:
      break;
  }
  return ratio_figure(value);
}

}  // namespace

std::string_view name(TourVerdict verdict) {
  switch (verdict) {
    case TourVerdict::holds:
      return "holds";
    case TourVerdict::does_not_hold:
      return "does not hold";
    case TourVerdict::computed:
      return "computed";
    case TourVerdict::not_measured:
      break;
  }
  return "not measured";
}

bool TourAnswer::all_hold() const {
  return std::none_of(claims.begin(), claims.end(),
                      [](const TourClaim& c) { return c.verdict == TourVerdict::does_not_hold; });
}

TourFigure ratio_figure(double value) {
  return {value, "ratio", units::print_number(value)};
}
TourFigure figure(units::Seconds value) {
  return {value.value(), "s", units::print(value)};
}
TourFigure figure(units::FlopsPerByte value) {
  return {value.value(), "FLOP/B", units::print(value)};
}
TourFigure count_figure(double value, const std::string& unit) {
  return {value, unit, units::print_count(value) + (unit.empty() ? "" : " " + unit)};
}

TourClaim& TourBuilder::add(std::string id, std::string claim, std::string formula) {
  TourClaim out;
  out.id = std::move(id);
  out.chapter = chapters.size() - 1;
  out.claim = std::move(claim);
  out.formula = std::move(formula);
  out.how = "computed from the catalogue";
  claims.push_back(std::move(out));
  return claims.back();
}

const measure::LabResult* TourBuilder::experiment(std::string_view name) const {
  const auto found = std::find_if(experiments_.begin(), experiments_.end(),
                                  [&](const measure::LabResult& r) { return r.name == name; });
  return found == experiments_.end() ? nullptr : &*found;
}

void TourBuilder::take(TourClaim& claim, std::string_view experiment_name, std::string_view reading) const {
  claim.how = "corridor lab " + std::string(experiment_name);
  const measure::LabResult* result = experiment(experiment_name);
  const measure::LabReading* found = result == nullptr ? nullptr : result->find(reading);
  if (found == nullptr) {
    claim.verdict = TourVerdict::not_measured;
    return;
  }
  if (found->predicted) claim.predicted = figure_of(*found->predicted, found->unit);
  claim.measured = figure_of(found->measured, found->unit);
  claim.spread = found->spread;
  claim.verdict = found->holds() ? TourVerdict::holds : TourVerdict::does_not_hold;
  if (claim.here.empty() && !result->formulas.empty()) claim.here = result->formulas.front();
}

void TourBuilder::take(TourClaim& claim, std::string_view experiment_name, TourFigure predicted, TourFigure measured,
                       bool holds) const {
  claim.how = "corridor lab " + std::string(experiment_name);
  claim.predicted = std::move(predicted);
  claim.measured = std::move(measured);
  claim.verdict = holds ? TourVerdict::holds : TourVerdict::does_not_hold;
}

Result<TourAnswer> tour_of(const Assets& assets, const measure::LabMachine* machine,
                           std::vector<measure::LabResult> experiments) {
  Result<hardware::ResolvedDevice> h100 = hardware::find_device(assets, "h100-sxm");
  if (!h100) return tl::unexpected(h100.error());
  Result<hardware::ResolvedDevice> h200 = hardware::find_device(assets, "h200");
  if (!h200) return tl::unexpected(h200.error());
  TourBuilder builder(assets, std::move(h100->device), std::move(h200->device), machine, experiments);
  for (const auto& tell :
       {tell_of_lanes, tell_of_waiting, tell_of_intensity, tell_of_tokens, tell_of_changes, tell_of_outcomes}) {
    if (const Result<int> told = tell(builder); !told) return tl::unexpected(told.error());
  }
  TourAnswer out;
  out.chapters = std::move(builder.chapters);
  out.claims = std::move(builder.claims);
  if (machine != nullptr) out.machine = *machine;
  out.experiments = std::move(experiments);
  return out;
}

Result<TourAnswer> tour(const Assets& assets, const TourRequest& request, const Progress& progress) {
  if (!request.measure) return tour_of(assets, nullptr, {});
  const measure::SystemClock clock;
  const units::Seconds start = clock.now();
  Result<LabBench> bench = LabBench::open(assets, request.threads, progress);
  if (!bench) return tl::unexpected(bench.error());
  std::vector<measure::LabResult> results;
  std::vector<std::string> notes = bench->machine().notes;
  for (const char* name : tour_experiments) {
    if (progress) progress(fmt::format("{} ({} of {})", name, results.size() + 1, std::size(tour_experiments)));
    Result<measure::LabResult> result = bench->run(name, tour_effort);
    if (result) {
      results.push_back(std::move(*result));
    } else {
      notes.push_back(result.error().line());
    }
  }
  Result<TourAnswer> answer = tour_of(assets, &bench->machine(), std::move(results));
  if (!answer) return answer;
  answer->notes.insert(answer->notes.begin(), notes.begin(), notes.end());
  answer->took = clock.now() - start;
  return answer;
}

}  // namespace corridor::app
