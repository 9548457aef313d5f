// SPDX-License-Identifier: Apache-2.0
// Fills the Documents of the experiments on the simulated GPU.
#include "corridor/views/ptx_lab_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/views/fields.h"
#include "corridor/views/lab_view.h"

namespace corridor::views {
namespace {

using measure::LabReading;
using report::Document;
using report::Paragraph;
using report::Table;
using report::Unit;

Table simulated_readings(const measure::LabResult& result) {
  Table table{"readings",
              "Closed form against the simulator",
              {{"what", "what", Unit::none, true},
               {"unit", "", Unit::none, true},
               {"predicted", "predicted", Unit::none},
               {"low", "at least", Unit::none},
               {"high", "at most", Unit::none},
               {"measured", "simulated", Unit::none},
               {"verdict", "verdict", Unit::none, true}},
              {}};
  const auto maybe = [](const std::optional<double>& x, measure::LabUnit unit) {
    return x ? lab_value(*x, unit) : null_value();
  };
  for (const LabReading& r : result.readings) {
    table.rows.push_back({text(r.what), text(std::string(name(r.unit))), maybe(r.predicted, r.unit),
                          maybe(r.low, r.unit), maybe(r.high, r.unit), lab_value(r.measured, r.unit),
                          text(r.holds() ? "holds" : "does not hold")});
  }
  return table;
}

}  // namespace

Document ptx_lab_document(const app::PtxLabAnswer& answer) {
  const measure::LabResult& result = answer.result;
  Document document;
  document.schema = "corridor/lab/1";
  document.title = fmt::format("Experiment {} on the simulated {}: {}", result.name, answer.device.name, result.claim);
  const auto failed =
      std::count_if(result.readings.begin(), result.readings.end(), [](const LabReading& r) { return !r.holds(); });
  const std::size_t asked = result.readings.size();
  document.blocks.emplace_back(
      Paragraph{"verdict",
                failed == 0 ? fmt::format("Holds: {0} of {0} readings are inside their bounds.", asked)
                            : fmt::format("Does not hold: {} of {} readings are outside their bounds.", failed, asked),
                Paragraph::Style::verdict});
  document.blocks.emplace_back(report::FieldGroup{"",
                                                  {{"experiment", "", text(result.name), ""},
                                                   {"claim", "", text(result.claim), ""},
                                                   {"on", "", text("sim:" + answer.device.id), ""},
                                                   {"holds", "", flag(result.holds()), ""}}});
  for (const std::string& line : result.formulas) {
    document.blocks.emplace_back(Paragraph{"formulas", line, Paragraph::Style::detail});
  }
  document.blocks.emplace_back(simulated_readings(result));
  document.blocks.emplace_back(Paragraph{"tolerance", "Bounds: " + result.tolerance, Paragraph::Style::plain});
  if (report::LinePlot plot = lab_plot(result, "curve"); !plot.series.empty()) {
    plot.title.clear();
    plot.series.front().name = "simulated";
    document.blocks.emplace_back(std::move(plot));
  }
  append_remarks(document, result.notes, answer.machine.assumed, false, {});
  return document;
}

Document ptx_lab_list_document(const std::vector<app::PtxExperiment>& experiments) {
  Document document;
  document.schema = "corridor/lab/1";
  document.title = "Experiments on the simulated GPU: corridor lab NAME --on sim runs one";
  Table table{"experiments", "", {{"name", "name", Unit::none, true}, {"law", "law", Unit::none, true}}, {}};
  for (const app::PtxExperiment& e : experiments) {
    table.rows.push_back({text(std::string(e.name)), text(std::string(e.sentence))});
  }
  document.blocks.emplace_back(std::move(table));
  return document;
}

}  // namespace corridor::views
