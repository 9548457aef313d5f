// SPDX-License-Identifier: Apache-2.0
// Every figure with its spread; on a terminal the ladder and a few lines, in JSON and HTML the curve as well.
#include "corridor/views/measure_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using measure::CurvePoint;
using measure::Figure;
using measure::Measurement;
using report::Document;
using report::FieldGroup;
using report::LinePlot;
using report::Paragraph;
using report::Table;
using report::Unit;
using report::Value;

using MaybeFigure = std::optional<Figure>;

constexpr int least_for_spread = 3;  // passes

Value figure_value(const MaybeFigure& figure, Unit unit) {
  return figure ? Value{figure->value, unit} : null_value();
}
/// Fewer than three passes have no spread.
Value spread_value(const MaybeFigure& figure) {
  return figure && figure->passes >= least_for_spread ? share(figure->spread) : null_value();
}

std::string spread_words(const Figure& figure) {
  if (figure.passes < least_for_spread) return fmt::format("spread unknown, {}", figure.how);
  return fmt::format("spread {:.1f} %, {}", 100 * figure.spread, figure.how);
}

/// The blocks of one device; `prefix` stands before every key.
class DeviceBlocks {
 public:
  DeviceBlocks(const Measurement& m, std::string prefix, Document& doc)
      : m_(m), prefix_(std::move(prefix)), doc_(doc) {}

  void add() {
    paragraph("verdict", verdict(), Paragraph::Style::verdict);
    doc_.blocks.emplace_back(ladder());
    doc_.blocks.emplace_back(main_memory());
    doc_.blocks.emplace_back(peaks());
    doc_.blocks.emplace_back(costs());
    for (const std::string& warning : m_.warnings) paragraph("warnings", warning, Paragraph::Style::warning);
    doc_.blocks.emplace_back(rate_plot());
    doc_.blocks.emplace_back(latency_plot());
    doc_.blocks.emplace_back(roofline());
    doc_.blocks.emplace_back(curve());
    doc_.blocks.emplace_back(conditions());
  }

 private:
  [[nodiscard]] std::string key(const std::string& name) const { return prefix_ + name; }
  void paragraph(const char* name, const std::string& words, Paragraph::Style style) {
    doc_.blocks.emplace_back(Paragraph{key(name), words, style});
  }
  [[nodiscard]] const measure::MeasuredPeak* ridge_peak() const;
  [[nodiscard]] std::string verdict() const;
  [[nodiscard]] Table ladder() const;
  [[nodiscard]] FieldGroup main_memory() const;
  [[nodiscard]] Table peaks() const;
  [[nodiscard]] FieldGroup costs() const;
  [[nodiscard]] LinePlot rate_plot() const;
  [[nodiscard]] LinePlot latency_plot() const;
  [[nodiscard]] report::RooflinePlot roofline() const;
  [[nodiscard]] Table curve() const;
  [[nodiscard]] Table conditions() const;

  const Measurement& m_;
  std::string prefix_;
  Document& doc_;
};

/// The peak that the ridge is made of: the fastest of 16 or 32 bits.
const measure::MeasuredPeak* DeviceBlocks::ridge_peak() const {
  const auto ridge = m_.ridge_flop_per_byte();
  if (!ridge) return nullptr;
  const double rate = *ridge * m_.main_memory.read->value;
  const auto found = std::min_element(m_.peaks.begin(), m_.peaks.end(), [rate](const auto& a, const auto& b) {
    return std::abs(a.flop_per_s.value - rate) < std::abs(b.flop_per_s.value - rate);
  });
  return found == m_.peaks.end() ? nullptr : &*found;
}

std::string DeviceBlocks::verdict() const {
  if (!m_.main_memory.read) return "The main memory could not be measured.";
  std::string words =
      fmt::format("Main memory is read at {}", units::print(units::BytesPerSecond{m_.main_memory.read->value}));
  if (const auto* peak = ridge_peak()) {
    words += fmt::format("; {} arithmetic does {}: the ridge stands at {}", hardware::name(peak->type),
                         units::print(units::FlopsPerSecond{peak->flop_per_s.value}),
                         units::print(units::FlopsPerByte{*m_.ridge_flop_per_byte()}));
  }
  return words + ".";
}

Table DeviceBlocks::ladder() const {
  Table table;
  table.key = key("ladder");
  table.title = "Memory ladder";
  table.columns = {{"level", "level", Unit::none, true},
                   {"instances", ""},
                   {"capacity_bytes", "capacity", Unit::bytes},
                   {"reported_capacity_bytes", "reported", Unit::bytes},
                   {"bandwidth_bytes_per_s", "read", Unit::bytes_per_second},
                   {"bandwidth_spread", "spread", Unit::percent},
                   {"latency_s", "latency", Unit::seconds},
                   {"latency_spread", "spread", Unit::percent}};
  for (const measure::MeasuredLevel& level : m_.ladder) {
    const bool known = level.capacity.value() > 0;
    table.rows.push_back({text(level.level), count(level.instances), known ? value(level.capacity) : null_value(),
                          level.reported ? value(*level.reported) : null_value(),
                          figure_value(level.bandwidth, Unit::bytes_per_second), spread_value(level.bandwidth),
                          figure_value(level.latency, Unit::seconds), spread_value(level.latency)});
  }
  return table;
}

FieldGroup DeviceBlocks::main_memory() const {
  FieldGroup group{"Main memory", {}};
  const measure::MainMemory& main = m_.main_memory;
  const std::array<std::pair<const char*, const MaybeFigure*>, 4> kinds = {
      {{"read", &main.read}, {"write", &main.write}, {"copy", &main.copy}, {"triad", &main.triad}}};
  for (const auto& [name, figure] : kinds) {
    const std::string stem = key(std::string("main_memory.") + name);
    group.fields.push_back({stem + "_bytes_per_s", *figure ? name : "", figure_value(*figure, Unit::bytes_per_second),
                            *figure ? spread_words(**figure) : ""});
    group.fields.push_back({stem + "_spread", "", spread_value(*figure), ""});
  }
  group.fields.push_back({key("main_memory.threads_to_saturate"), m_.on == "cpu" ? "threads to saturate it" : "",
                          count(main.threads_to_saturate), "fewest within 5 % of the best read rate"});
  return group;
}

Table DeviceBlocks::peaks() const {
  Table table;
  table.key = key("peaks");
  table.title = "Arithmetic, in registers";
  table.columns = {{"type", "type", Unit::none, true},
                   {"flop_per_s", "rate", Unit::flops_per_second},
                   {"spread", "spread", Unit::percent},
                   {"unit", "unit", Unit::none, true},
                   {"how", ""}};
  for (const measure::MeasuredPeak& peak : m_.peaks) {
    table.rows.push_back({text(std::string(hardware::name(peak.type))),
                          {peak.flop_per_s.value, Unit::flops_per_second},
                          spread_value(peak.flop_per_s),
                          text(peak.unit_name),
                          text(peak.flop_per_s.how)});
  }
  return table;
}

FieldGroup DeviceBlocks::costs() const {
  FieldGroup group{"Launch and ridge", {}};
  const auto add = [&](const char* name, const char* label, const MaybeFigure& figure) {
    const std::string stem = key(name);
    group.fields.push_back(
        {stem + "_s", figure ? label : "", figure_value(figure, Unit::seconds), figure ? spread_words(*figure) : ""});
    group.fields.push_back({stem + "_spread", "", spread_value(figure), ""});
  };
  add("launch", "launch of a task", m_.launch);
  add("launch_graph", "launch from a graph", m_.launch_graph);
  add("all_reduce", "all-reduce, smallest", m_.all_reduce);
  const auto ridge = m_.ridge_flop_per_byte();
  const auto* peak = ridge_peak();
  const std::string note = peak != nullptr ? fmt::format("{} ÷ main memory read", hardware::name(peak->type)) : "";
  group.fields.push_back(
      {key("ridge_flop_per_byte"), "ridge point", ridge ? Value{*ridge, Unit::flop_per_byte} : null_value(), note});
  const bool both = ridge && peak != nullptr;
  group.fields.push_back({key("ridge_spread"), "",
                          both ? share(peak->flop_per_s.spread + m_.main_memory.read->spread) : null_value(), ""});
  return group;
}

LinePlot DeviceBlocks::rate_plot() const {
  LinePlot plot;
  plot.key = key("plots.bandwidth");
  plot.title = "Bandwidth by working set";
  plot.x_label = "working set of all threads, bytes";
  plot.y_label = "bytes/s";
  plot.log_x = plot.log_y = true;
  const std::array<std::pair<const char*, MaybeFigure CurvePoint::*>, 4> kinds = {{{"read", &CurvePoint::read},
                                                                                   {"write", &CurvePoint::write},
                                                                                   {"copy", &CurvePoint::copy},
                                                                                   {"triad", &CurvePoint::triad}}};
  for (const auto& [name, member] : kinds) {
    LinePlot::Series series{name, {}, {}};
    for (const CurvePoint& point : m_.curve) {
      if (!(point.*member)) continue;
      series.x.push_back(point.size.value());
      series.y.push_back((point.*member)->value);
    }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  return plot;
}

LinePlot DeviceBlocks::latency_plot() const {
  LinePlot plot;
  plot.key = key("plots.latency");
  plot.title = "Latency by working set";
  plot.x_label = "working set of one chase, bytes";
  plot.y_label = "seconds a load";
  plot.log_x = plot.log_y = true;
  LinePlot::Series series{"load to use", {}, {}};
  for (const CurvePoint& point : m_.curve) {
    if (!point.latency) continue;
    series.x.push_back(point.size.value());
    series.y.push_back(point.latency->value);
  }
  if (!series.x.empty()) plot.series.push_back(std::move(series));
  return plot;
}

report::RooflinePlot DeviceBlocks::roofline() const {
  report::RooflinePlot plot;
  plot.key = key("roofline");
  plot.title = "Roofline of " + m_.device_name;
  for (const measure::MeasuredLevel& level : m_.ladder) {
    if (level.bandwidth) plot.bandwidths.push_back({level.level, level.bandwidth->value, true});
  }
  const auto* used = ridge_peak();
  for (const measure::MeasuredPeak& peak : m_.peaks) {
    plot.peaks.push_back({std::string(hardware::name(peak.type)), peak.flop_per_s.value, &peak == used});
  }
  return plot;
}

Table DeviceBlocks::curve() const {
  Table table;
  table.key = key("curve");
  table.columns = {{"size_bytes", ""},       {"threads", ""},     {"latency_s", ""},         {"latency_spread", ""},
                   {"read_bytes_per_s", ""}, {"read_spread", ""}, {"write_bytes_per_s", ""}, {"write_spread", ""},
                   {"copy_bytes_per_s", ""}, {"copy_spread", ""}, {"triad_bytes_per_s", ""}, {"triad_spread", ""}};
  for (const CurvePoint& p : m_.curve) {
    table.rows.push_back({value(p.size), count(p.threads), figure_value(p.latency, Unit::seconds),
                          spread_value(p.latency), figure_value(p.read, Unit::bytes_per_second), spread_value(p.read),
                          figure_value(p.write, Unit::bytes_per_second), spread_value(p.write),
                          figure_value(p.copy, Unit::bytes_per_second), spread_value(p.copy),
                          figure_value(p.triad, Unit::bytes_per_second), spread_value(p.triad)});
  }
  return table;
}

Table DeviceBlocks::conditions() const {
  Table table;
  table.key = key("conditions");
  table.title = "How it was measured";
  table.columns = {{"name", "", Unit::none, true}, {"value", "", Unit::none, true}};
  for (report::Column& column : table.columns) column.label = column.key;
  for (const auto& [name, words] : m_.conditions) table.rows.push_back({text(name), text(words)});
  return table;
}

void add_head(const Measurement& m, const std::string& prefix, Document& doc) {
  FieldGroup group{"", {}};
  group.fields.push_back({prefix + "on", "", text(m.on), ""});
  group.fields.push_back({prefix + "device.name", "", text(m.device_name), ""});
  group.fields.push_back({prefix + "device.id", "", text(m.device.id), ""});
  doc.blocks.emplace_back(std::move(group));
}

std::vector<std::string> explanation(const app::MeasureAnswer& answer) {
  std::vector<std::string> lines = {
      "figure = median of the passes; spread = (90th − 10th percentile) ÷ median; passes go on until the median is "
      "known "
      "to 0.5 % or the time for it is spent",
      "capacity of a level = size at which the latency curve has risen by a fifth of the way to the next plateau, "
      "times "
      "the caches of that level in use"};
  for (const Measurement& m : answer.measured) {
    const auto ridge = m.ridge_flop_per_byte();
    if (!ridge) continue;
    lines.push_back(fmt::format("{}: ridge = fastest arithmetic of 16 or 32 bits ÷ main memory read = {} ÷ {} = {}",
                                m.on, units::print(units::FlopsPerSecond{*ridge * m.main_memory.read->value}),
                                units::print(units::BytesPerSecond{m.main_memory.read->value}),
                                units::print(units::FlopsPerByte{*ridge})));
  }
  return lines;
}

}  // namespace

Document measure_view(const app::MeasureAnswer& answer, bool explain) {
  Document doc;
  const bool several = answer.measured.size() > 1;
  doc.schema = several ? "corridor/measurements/1" : "corridor/measurement/1";
  if (answer.refusal) {
    doc.title = "Nothing was measured";
    doc.blocks.emplace_back(Paragraph{"verdict", answer.refusal->line(), Paragraph::Style::verdict});
    return doc;
  }
  for (const Measurement& m : answer.measured) {
    const std::string prefix = several ? m.on + "." : "";
    doc.title += (doc.title.empty() ? "" : " and ") + m.device_name;
    add_head(m, prefix, doc);
    DeviceBlocks(m, prefix, doc).add();
  }
  doc.title += ", measured";
  std::vector<std::string> notes = answer.notes;
  notes.push_back(answer.written.empty() ? "corridor measure -o FILE.toml keeps this as a device for --device"
                                         : "written to " + answer.written + ": give it to --device of any command");
  append_remarks(doc, notes, {}, explain, explanation(answer));
  return doc;
}

}  // namespace corridor::views
