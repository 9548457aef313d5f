// SPDX-License-Identifier: Apache-2.0
// Fills the Documents of `corridor lab`.
#include "corridor/views/lab_view.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using measure::LabReading;
using measure::LabUnit;
using report::Document;
using report::Paragraph;
using report::Table;
using report::Unit;
using report::Value;

Value maybe_value(const std::optional<double>& number, LabUnit unit) {
  return number ? lab_value(*number, unit) : null_value();
}

std::string judged(const LabReading& r) {
  if (!r.judged()) return "not judged";
  return r.holds() ? "holds" : "does not hold";
}

Table readings(const measure::LabResult& result) {
  Table table{"readings",
              "Predicted against measured",
              {{"what", "", Unit::none, true},
               {"unit", "", Unit::none, true},
               {"x", "", Unit::none},
               {"predicted", "predicted", Unit::none},
               {"low", "at least", Unit::none},
               {"high", "at most", Unit::none},
               {"measured", "measured", Unit::none},
               {"spread", "spread", Unit::percent},
               {"passes", "", Unit::count},
               {"verdict", "verdict", Unit::none, true}},
              {}};
  table.columns[0].label = "what";
  for (const LabReading& r : result.readings) {
    table.rows.push_back({text(r.what), text(std::string(name(r.unit))),
                          r.series.empty() ? null_value() : Value{r.x, Unit::none}, maybe_value(r.predicted, r.unit),
                          maybe_value(r.low, r.unit), maybe_value(r.high, r.unit), lab_value(r.measured, r.unit),
                          r.passes > 0 ? share(r.spread) : null_value(), count(r.passes), text(judged(r))});
  }
  return table;
}

Table ladder(const measure::LabMachine& machine) {
  Table table{"ladder",
              "This machine's ladder, measured before the experiment",
              {{"level", "level", Unit::none, true},
               {"capacity_bytes", "capacity", Unit::bytes},
               {"bandwidth_bytes_per_s", "bandwidth", Unit::bytes_per_second},
               {"latency_s", "latency", Unit::seconds}},
              {}};
  for (const measure::LabLevel& level : machine.ladder) {
    table.rows.push_back({text(level.name), value(level.capacity), value(level.bandwidth), value(level.latency)});
  }
  return table;
}

report::FieldGroup machine_group(const measure::LabMachine& machine) {
  return {
      "",
      {{"machine.name", "machine", text(machine.name()), ""},
       {"machine.threads", "threads", count(machine.threads), ""},
       {"machine.fp32_flop_per_s", "fp32 peak", value(machine.fp32), ""},
       {"machine.ridge_flop_per_byte", "ridge", value(units::FlopsPerByte{machine.ridge()}), ""},
       {"machine.update_bytes_per_s", "main memory, read and written back", value(machine.update), ""},
       {"machine.dispatch_s", machine.gpu ? "a launch" : "start of a task on all threads", value(machine.dispatch), ""},
       {"machine.clock_hz",
        machine.gpu ? "clock of an SM" : "clock of a core",
        {machine.clock.value(), Unit::hertz},
        ""}}};
}

std::string verdict(const measure::LabResult& result) {
  const auto failed =
      std::count_if(result.readings.begin(), result.readings.end(), [](const LabReading& r) { return !r.holds(); });
  const auto asked =
      std::count_if(result.readings.begin(), result.readings.end(), [](const LabReading& r) { return r.judged(); });
  if (result.holds()) return fmt::format("Holds: {0} of {0} readings are inside their bounds.", asked);
  return fmt::format("Does not hold: {} of {} readings are outside their bounds.", failed, asked);
}

void add_lines(Document& document, const char* key, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    document.blocks.emplace_back(Paragraph{key, line, Paragraph::Style::detail});
  }
}

}  // namespace

Value lab_value(double number, LabUnit unit) {
  switch (unit) {
    case LabUnit::seconds:
      return {number, Unit::seconds};
    case LabUnit::bytes_per_second:
      return {number, Unit::bytes_per_second};
    case LabUnit::flop_per_second:
      return {number, Unit::flops_per_second};
    case LabUnit::per_second:
    case LabUnit::cycles:
      return {number, Unit::count};
    case LabUnit::ratio:
      break;
  }
  return {number, Unit::none};
}

report::LinePlot lab_plot(const measure::LabResult& result, const std::string& key) {
  report::LinePlot plot{key, result.claim, result.x_label, result.y_label, true, true, {}};
  report::LinePlot::Series predicted{"predicted", {}, {}};
  report::LinePlot::Series measured{"measured", {}, {}};
  for (const LabReading& r : result.readings) {
    if (r.series.empty()) continue;
    if (r.predicted) {
      predicted.x.push_back(r.x);
      predicted.y.push_back(*r.predicted);
    }
    measured.x.push_back(r.x);
    measured.y.push_back(r.measured);
  }
  if (measured.x.empty()) return plot;
  plot.series = {std::move(measured), std::move(predicted)};
  return plot;
}

report::RooflinePlot lab_roofline(const measure::LabMachine& machine, const measure::LabResult& result,
                                  const std::string& key) {
  report::RooflinePlot plot;
  plot.key = key;
  plot.title = "The roofline of this machine";
  for (const measure::LabLevel& level : machine.ladder) {
    plot.bandwidths.push_back({level.name, level.bandwidth.value(), &level == &machine.main_memory()});
  }
  plot.peaks.push_back({"fp32", machine.fp32.value(), true});
  for (const measure::LabPoint& point : result.points) {
    plot.points.push_back(
        {point.what, "measured", point.intensity, point.flop_per_s, 1.0 / static_cast<double>(result.points.size())});
  }
  return plot;
}

Document lab_list_document(const std::vector<measure::Experiment>& experiments) {
  Document document;
  document.schema = "corridor/lab/1";
  document.title = "Experiments: corridor lab NAME runs one on this machine, --on cuda:0 on its GPU";
  Table table{"experiments",
              "",
              {{"name", "name", Unit::none, true},
               {"runs_on", "runs on", Unit::none, true},
               {"law", "law", Unit::none, true},
               {"needs_gpu", "", Unit::none}},
              {}};
  for (const measure::Experiment& e : experiments) {
    const char* where = e.needs_gpu ? "GPU" : e.run_gpu == nullptr ? "CPU" : "CPU, GPU";
    table.rows.push_back({text(std::string(e.name)), text(where), text(std::string(e.sentence)), flag(e.needs_gpu)});
  }
  document.blocks.emplace_back(std::move(table));
  return document;
}

Document lab_document(const app::LabAnswer& answer) {
  const measure::LabResult& result = answer.result;
  Document document;
  document.schema = "corridor/lab/1";
  document.title = fmt::format("Experiment {}: {}", result.name, result.claim);
  document.blocks.emplace_back(
      report::FieldGroup{"", {{"experiment", "", text(result.name), ""}, {"claim", "", text(result.claim), ""}}});
  if (!answer.needs.empty()) {
    document.blocks.emplace_back(Paragraph{"verdict", answer.needs, Paragraph::Style::verdict});
    return document;
  }
  document.blocks.emplace_back(Paragraph{"verdict", verdict(result), Paragraph::Style::verdict});
  document.blocks.emplace_back(report::FieldGroup{"", {{"holds", "", flag(result.holds()), ""}}});
  add_lines(document, "formulas", result.formulas);
  document.blocks.emplace_back(readings(result));
  if (!result.tolerance.empty()) {
    document.blocks.emplace_back(Paragraph{"tolerance", "Bounds: " + result.tolerance, Paragraph::Style::plain});
  }
  if (report::LinePlot plot = lab_plot(result, "curve"); !plot.series.empty()) {
    plot.title.clear();
    document.blocks.emplace_back(std::move(plot));
  }
  if (!result.points.empty()) document.blocks.emplace_back(lab_roofline(answer.machine, result, "roofline"));
  document.blocks.emplace_back(machine_group(answer.machine));
  document.blocks.emplace_back(ladder(answer.machine));
  add_lines(document, "notes", result.notes);
  add_lines(document, "notes", answer.machine.notes);
  return document;
}

}  // namespace corridor::views
