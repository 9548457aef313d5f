// SPDX-License-Identifier: Apache-2.0
// Quantiles of observed ÷ predicted by cell, then one widening factor for each thing a case has beyond its cell.
#include "interval_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "constant_lines.h"

namespace corridor::fit {
namespace {

using profile::PointMetric;

constexpr double low_share = 0.09;  // quantiles of an interval that holds about 82 % of unseen points
constexpr double high_share = 0.91;
constexpr std::size_t fewest_points = 8;  // below this a cell is not written: its phase answers
constexpr double least_width = 0.12;      // a regime of few models and devices is never taken for surer than this
// Constants of one server used for another leave 40 to 65 % inside; twice the width in the logarithm leaves four
// fifths.
constexpr double other_engine = 2;
constexpr double most_widening = 2;  // wider bands are no answer
constexpr double least_low = 0.4;    // the same for a cell: beyond it an engine's kernels are not known
constexpr double most_high = 2.5;

/// Cell of a row: phase, then (with dots) the sequences.
std::string phase_of(const RunPoint& run, const RunTimes& times) {
  const bool loop = run.scenario.load == graph::Load::concurrency;
  switch (run.point.metric) {
    case PointMetric::ttft:
    case PointMetric::prefill_rate:
      return loop ? "prefill_loop" : "prefill";
    case PointMetric::speedup:
      return "";
    default:
      return !loop ? "decode" : times.saturated ? "decode_saturated" : "decode_loop";
  }
}

const char* sequences_word(double sequences) {
  return sequences <= 1 ? "one" : sequences <= 8 ? "to_8" : sequences <= 64 ? "to_64" : "above_64";
}

struct Traits {
  bool unmeasured = false, experts = false, narrow = false;
  [[nodiscard]] int count() const { return int{unmeasured} + int{experts} + int{narrow}; }
};

Traits traits_of(const RunPoint& run) {
  Traits traits;
  traits.unmeasured = !run.constants->measured;
  for (const model::LayerGroup& group : run.model->model.layers) {
    traits.experts = traits.experts || group.feed_forward.experts > 0;
  }
  const auto role = traits.experts ? model::TensorRole::expert : model::TensorRole::dense_mlp;
  traits.narrow = run.model->model.stored(role).format.bits_per_weight < 12;
  return traits;
}

struct Cell {
  double low = 1, high = 1;
  std::size_t points = 0;
};

Cell cell_of(const std::vector<double>& ratios) {
  Cell cell;
  cell.points = ratios.size();
  cell.low = std::clamp(quantile(ratios, low_share), least_low, 1 - least_width);
  cell.high = std::clamp(quantile(ratios, high_share), 1 / (1 - least_width), most_high);
  return cell;
}

using Ratios = std::map<std::string, std::vector<double>>;
using Cells = std::map<std::string, Cell>;

bool counts(const Residual& residual) {
  const std::string& note = residual.run->point.notes;
  const auto says = [&](const char* word) { return note.find(word) != std::string::npos; };
  return !residual.impossible() && !says("power-capped") && !says("identical") && !says("outlier");
}

std::vector<std::string> cells_for(const Residual& residual, const std::string& engine_class) {
  const std::string phase = phase_of(*residual.run, residual.times);
  if (phase.empty()) return {};
  const std::string sequences = sequences_word(residual.run->scenario.sequences);
  std::vector<std::string> names;
  for (const std::string& engine : {engine_class, std::string("any")}) {
    names.push_back(engine + "." + phase + "." + sequences);
    names.push_back(engine + "." + phase);
  }
  return names;
}

/// The cell that answers for a row, as the program looks it up.
const Cell* answer(const Cells& cells, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = cells.find(name);
    if (found != cells.end()) return &found->second;
  }
  return nullptr;
}

/// Factor on the logarithm of the ratios with which the rows of a trait fall inside as often as they should.
double widening(const std::vector<std::pair<double, const Cell*>>& rows) {
  if (rows.size() < fewest_points) return 1.3;
  std::vector<double> needed;
  for (const auto& [ratio, cell] : rows) {
    const double log_ratio = std::log(ratio);
    needed.push_back(log_ratio < 0 ? log_ratio / std::log(cell->low) : log_ratio / std::log(cell->high));
  }
  return std::clamp(quantile(needed, high_share - low_share), 1.0, most_widening);
}

std::string cell_text(const std::string& name, const Cell& cell) {
  const char* source = "fit engines: quantiles of observed / predicted over data/validation/runs.csv, left out";
  return fmt::format(
      "\n[{}]\nlow = {{ value = {:.3f}, unit = \"1\", source = \"{}\", basis = \"measured\", date = \"2026-11-29\", "
      "points "
      "= {} }}\nhigh = {{ value = {:.3f}, unit = \"1\", source = \"{}\", basis = \"measured\", date = \"2026-11-29\", "
      "points = {} }}\n",
      name, cell.low, source, cell.points, cell.high, source, cell.points);
}

}  // namespace

int fit_intervals(const std::vector<Residual>& residuals, const std::map<std::string, roofline::EngineProfile>& engines,
                  const std::string& path, bool write) {
  Ratios ratios;
  const auto class_of = [&](const Residual& residual) { return engines.at(residual.run->engine).interval_class; };
  for (const Residual& residual : residuals) {
    if (!counts(residual) || traits_of(*residual.run).unmeasured || traits_of(*residual.run).experts) continue;
    for (const std::string& name : cells_for(residual, class_of(residual))) ratios[name].push_back(residual.ratio());
  }
  Cells cells;
  for (const auto& [name, values] : ratios) {
    if (values.size() >= fewest_points) cells[name] = cell_of(values);
  }
  std::vector<std::pair<double, const Cell*>> unmeasured;
  std::vector<std::pair<double, const Cell*>> experts;
  for (const Residual& residual : residuals) {
    const Traits traits = traits_of(*residual.run);
    const Cell* cell = answer(cells, cells_for(residual, class_of(residual)));
    if (cell == nullptr || !counts(residual)) continue;
    if (traits.unmeasured && !traits.experts) unmeasured.emplace_back(residual.ratio(), cell);
    if (traits.experts && !traits.unmeasured) experts.emplace_back(residual.ratio(), cell);
  }
  const std::vector<std::pair<const char*, double>> factors = {
      {"device_unmeasured", widening(unmeasured)}, {"experts", widening(experts)}, {"engine_unknown", other_engine}};
  std::string out =
      "# SPDX-License-Identifier: Apache-2.0\n"
      "# Width of expected times: low and high as multiples of the expected time, an 80 % interval of points no fit "
      "has "
      "seen.\n"
      "# Cells are [engine class.phase.sequences]; how a case finds its cell: src/corridor/roofline/interval.h.\n"
      "# Written by the fit program (fit/interval_fit.cpp); do not edit by hand.\n\n[widen]\n";
  for (const auto& [name, factor] : factors) {
    out += fmt::format(
        "{} = {{ value = {:.2f}, unit = \"1\", source = \"fit engines over data/validation/runs.csv: factor on "
        "the logarithm of both ratios\", basis = \"{}\", date = \"2026-11-29\" }}\n",
        name, factor, std::string(name) == "engine_unknown" ? "assumed" : "measured");
    fmt::print("widen {} {:.2f}\n", name, factor);
  }
  for (const auto& [name, cell] : cells) {
    out += cell_text(name, cell);
    fmt::print("{} {:.2f} {:.2f} ({} points)\n", name, cell.low, cell.high, cell.points);
  }
  if (!write) return 0;
  if (Result<int> ok = write_file(path, out); !ok) {
    fmt::print(stderr, "{}: {}\n", ok.error().where, ok.error().what);
    return 2;
  }
  return 0;
}

}  // namespace corridor::fit
