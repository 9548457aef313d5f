// SPDX-License-Identifier: Apache-2.0
// Fills the Documents of `corridor devices`.
#include "corridor/views/devices_view.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using hardware::ComputeType;
using report::Column;
using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using report::Value;

/// A year or another whole number that JSON carries without a point.
Value optional_whole(const std::optional<double>& x) {
  return x ? Value{static_cast<std::int64_t>(*x), Unit::none} : null_value();
}

Value optional_number(const std::optional<double>& x, Unit unit) {
  return x ? Value{*x, unit} : null_value();
}

template <class Quantity>
Value optional_quantity(const std::optional<Quantity>& x, Unit unit) {
  return x ? Value{x->value(), unit} : null_value();
}

template <class Quantity>
Value optional_fact(const hardware::MaybeFact<Quantity>& fact, Unit unit) {
  return fact ? Value{fact->value.value(), unit} : null_value();
}

/// A ridge in a narrow column: three significant figures, the unit in the title.
Value ridge_cell(const app::Ridges& ridges, ComputeType type) {
  const auto& ridge = ridges[static_cast<std::size_t>(type)];
  return ridge ? Value{ridge->value(), Unit::none} : null_value();
}

/// bf16, or fp16 where the device has no bf16.
Value half_ridge_cell(const app::Ridges& ridges) {
  const Value bf16 = ridge_cell(ridges, ComputeType::bf16);
  return std::holds_alternative<std::monostate>(bf16.data) ? ridge_cell(ridges, ComputeType::fp16) : bf16;
}

std::string ridge_key(ComputeType type) {
  return fmt::format("ridge_{}_flop_per_byte", name(type));
}

std::vector<Column> list_columns() {
  std::vector<Column> columns = {{"id", "device", Unit::none, true},
                                 {"name", "", Unit::none, true},
                                 {"vendor", "", Unit::none, true},
                                 {"kind", "", Unit::none, true},
                                 {"year", "", Unit::none, false},
                                 {"form_factor", "", Unit::none, true},
                                 {"memory_type", "", Unit::none, true},
                                 {"memory_bytes", "memory", Unit::bytes, false},
                                 {"bandwidth_bytes_per_s", "bandwidth", Unit::bytes_per_second, false},
                                 {ridge_key(ComputeType::fp32), "fp32", Unit::none, false},
                                 {"ridge_bf16_or_fp16_flop_per_byte", "bf16", Unit::none, false},
                                 {ridge_key(ComputeType::fp8), "fp8", Unit::none, false},
                                 {ridge_key(ComputeType::fp4), "fp4", Unit::none, false},
                                 {ridge_key(ComputeType::int8), "int8", Unit::none, false},
                                 {"board_power_w", "W", Unit::none, false},
                                 {"threads_resident", "", Unit::count, false},
                                 {"lanes_fp32_per_clock", "", Unit::count, false},
                                 {"warning", "", Unit::none, true}};
  return columns;
}

std::vector<Value> list_row(const app::DeviceSummary& d) {
  return {text(d.id),
          text(d.name),
          text(d.vendor),
          text(std::string(name(d.kind))),
          optional_whole(d.year),
          text(d.form_factor),
          text(d.memory_type),
          optional_quantity(d.memory, Unit::bytes),
          optional_quantity(d.bandwidth, Unit::bytes_per_second),
          ridge_cell(d.ridges, ComputeType::fp32),
          half_ridge_cell(d.ridges),
          ridge_cell(d.ridges, ComputeType::fp8),
          ridge_cell(d.ridges, ComputeType::fp4),
          ridge_cell(d.ridges, ComputeType::int8),
          optional_number(d.board_power_w, Unit::none),
          optional_number(d.threads_resident, Unit::count),
          optional_number(d.lanes_per_clock, Unit::count),
          d.warning.empty() ? null_value() : text(d.warning)};
}

/// Devices of which no ridge point is known.
std::string without_peaks(const app::DeviceList& list) {
  std::string names;
  for (const app::DeviceSummary& device : list.devices) {
    const bool none =
        std::none_of(device.ridges.begin(), device.ridges.end(), [](const auto& r) { return r.has_value(); });
    if (none) names += (names.empty() ? "" : ", ") + device.id;
  }
  return names;
}

FieldGroup identity(const app::DeviceDetail& detail) {
  const hardware::Device& d = detail.device;
  FieldGroup group{"", {}};
  group.fields.push_back({"id", "id", text(d.id), ""});
  group.fields.push_back({"name", "driver's name", text(d.name), ""});
  group.fields.push_back({"vendor", "vendor", text(d.vendor), ""});
  group.fields.push_back({"kind", "kind", text(std::string(name(d.kind))), ""});
  if (!d.architecture.empty()) group.fields.push_back({"architecture", "architecture", text(d.architecture), ""});
  if (!d.form_factor.empty()) group.fields.push_back({"form_factor", "form", text(d.form_factor), ""});
  group.fields.push_back({"year", "", optional_whole(d.year ? std::optional(d.year->value) : std::nullopt), ""});
  group.fields.push_back({"memory_type", "memory", text(d.memory_type), ""});
  group.fields.push_back({"unified_memory", "memory shared with the host", flag(d.unified_memory), ""});
  group.fields.push_back({"default_engine", "engine by default", text(d.default_engine), ""});
  if (!d.link.kind.empty()) group.fields.push_back({"link_kind", "link to other devices", text(d.link.kind), ""});
  if (!d.pcie.kind.empty()) group.fields.push_back({"pcie_kind", "link to the host", text(d.pcie.kind), ""});
  return group;
}

Table ladder(const hardware::Device& d) {
  Table table{"ladder",
              "Memory ladder (whole device)",
              {{"level", "level", Unit::none, true},
               {"reach", "reach", Unit::none, true},
               {"capacity_bytes", "capacity", Unit::bytes, false},
               {"bandwidth_bytes_per_s", "bandwidth", Unit::bytes_per_second, false},
               {"latency_s", "latency", Unit::seconds, false}},
              {},
              0};
  for (const hardware::MemoryLevel& level : d.ladder) {
    table.rows.push_back({text(level.name), text(level.reach), optional_fact(level.capacity, Unit::bytes),
                          optional_fact(level.bandwidth, Unit::bytes_per_second),
                          optional_fact(level.latency, Unit::seconds)});
  }
  return table;
}

Table arithmetic(const app::DeviceDetail& detail) {
  Table table{"arithmetic",
              "Arithmetic (dense) and ridge points",
              {{"type", "type", Unit::none, true},
               {"peak_flop_per_s", "peak", Unit::flops_per_second, false},
               {"ridge_flop_per_byte", "ridge", Unit::flop_per_byte, false},
               {"basis", "basis", Unit::none, true}},
              {},
              0};
  for (std::size_t i = 0; i < detail.ridges.size(); ++i) {
    const auto& peak = detail.device.peaks[i];
    if (!peak) continue;
    table.rows.push_back(
        {text(std::string(name(static_cast<ComputeType>(i)))), optional_fact(peak, Unit::flops_per_second),
         optional_quantity(detail.ridges[i], Unit::flop_per_byte), text(std::string(name(peak->basis)))});
  }
  return table;
}

Unit unit_of(std::string_view unit) {
  if (unit == "B") return Unit::bytes;
  if (unit == "B/s") return Unit::bytes_per_second;
  if (unit == "FLOP/s") return Unit::flops_per_second;
  if (unit == "s") return Unit::seconds;
  if (unit == "Hz") return Unit::hertz;
  if (unit == "W") return Unit::watts;
  return Unit::none;
}

/// Sources in the order they first appear; a fact points to one by its number.
class SourceNumbers {
 public:
  std::int64_t number(const std::string& source) {
    const auto found = std::find(sources_.begin(), sources_.end(), source);
    if (found != sources_.end()) return found - sources_.begin() + 1;
    sources_.push_back(source);
    return static_cast<std::int64_t>(sources_.size());
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return sources_; }

 private:
  std::vector<std::string> sources_;
};

/// Counts and years whole and ungrouped ("2048", "2022"), quantities with their prefix.
std::string shown_value(const app::FactRow& fact) {
  const Unit unit = unit_of(fact.unit);
  if (unit == Unit::none && fact.value == std::floor(fact.value)) return fmt::format("{:.0f}", fact.value);
  return report::print(Value{fact.value, unit});
}

Table fact_table(const app::DeviceDetail& detail, SourceNumbers& sources) {
  Table table{"facts",
              "Every number, how it is known, and where it was read",
              {{"key", "", Unit::none, true},
               {"label", "number", Unit::none, true},
               {"value", "", Unit::none, false},
               {"unit", "", Unit::none, true},
               {"shown", "value", Unit::none, false},
               {"basis", "basis", Unit::none, true},
               {"source_number", "source", Unit::none, false},
               {"source", "", Unit::none, true},
               {"date", "read on", Unit::none, true},
               {"note", "", Unit::none, true}},
              {},
              0};
  for (const app::FactRow& fact : detail.facts) {
    table.rows.push_back({text(fact.key), text(fact.label), Value{fact.value, unit_of(fact.unit)},
                          text(std::string(fact.unit)), text(shown_value(fact)), text(std::string(name(fact.basis))),
                          Value{sources.number(fact.source), Unit::none}, text(fact.source), text(fact.date),
                          fact.note.empty() ? null_value() : text(fact.note)});
  }
  return table;
}

Table trend_points(const app::DeviceTrend& trend) {
  Table table{"points",
              "Devices of each line; ridge points in FLOP a byte",
              {{"line", "", Unit::none, true},
               {"id", "", Unit::none, true},
               {"year", "", Unit::none, false},
               {"shown", "device", Unit::none, true},
               {"bandwidth_bytes_per_s", "bandwidth", Unit::bytes_per_second, false},
               {"peak_bf16_or_fp16_flop_per_s", "16-bit peak", Unit::flops_per_second, false},
               {ridge_key(ComputeType::fp32), "fp32", Unit::none, false},
               {"ridge_bf16_or_fp16_flop_per_byte", "16 bit", Unit::none, false},
               {ridge_key(ComputeType::fp8), "fp8", Unit::none, false},
               {ridge_key(ComputeType::fp4), "fp4", Unit::none, false},
               {ridge_key(ComputeType::int8), "int8", Unit::none, false}},
              {},
              0};
  for (const app::TrendLine& line : trend.lines) {
    for (const app::TrendPoint& p : line.points) {
      table.rows.push_back(
          {text(line.name), text(p.id), optional_whole(p.year),
           text(p.year ? fmt::format("{}, {:.0f}", p.id, *p.year) : p.id),
           optional_quantity(p.bandwidth, Unit::bytes_per_second),
           optional_quantity(p.peaks[static_cast<std::size_t>(ComputeType::bf16)], Unit::flops_per_second),
           ridge_cell(p.ridges, ComputeType::fp32), half_ridge_cell(p.ridges), ridge_cell(p.ridges, ComputeType::fp8),
           ridge_cell(p.ridges, ComputeType::fp4), ridge_cell(p.ridges, ComputeType::int8)});
    }
  }
  return table;
}

Table trend_steps(const app::DeviceTrend& trend) {
  Table table{"steps",
              "From one device to the next (new ÷ old)",
              {{"line", "", Unit::none, true},
               {"from", "from", Unit::none, true},
               {"to", "to", Unit::none, true},
               {"type", "type", Unit::none, true},
               {"peak_ratio", "arithmetic", Unit::none, false},
               {"bandwidth_ratio", "bandwidth", Unit::none, false},
               {"ridge_from_flop_per_byte", "ridge old", Unit::none, false},
               {"ridge_to_flop_per_byte", "ridge new", Unit::none, false},
               {"ridge_fell", "fell", Unit::none, false}},
              {},
              0};
  for (const app::TrendStep& s : trend.steps) {
    table.rows.push_back({text(s.line), text(s.from), text(s.to), text(std::string(name(s.type))),
                          Value{s.peak_ratio, Unit::none}, Value{s.bandwidth_ratio, Unit::none},
                          Value{s.ridge_from, Unit::none}, Value{s.ridge_to, Unit::none}, flag(s.ridge_fell())});
  }
  return table;
}

}  // namespace

Document device_list_document(const app::DeviceList& list) {
  Document document{"corridor/devices/1",
                    list.vendor.empty()
                        ? fmt::format("{} devices", list.devices.size())
                        : fmt::format("{} devices of {}", list.devices.size(), list.devices.front().vendor),
                    {}};
  Table table{"devices", "Ridge points in FLOP a byte, by arithmetic type (dense peaks)", list_columns(), {}, 0};
  for (const app::DeviceSummary& device : list.devices) table.rows.push_back(list_row(device));
  document.blocks.push_back(std::move(table));
  if (const std::string names = without_peaks(list); !names.empty()) {
    document.blocks.push_back(
        Paragraph{"notes", "Without a known arithmetic peak, so that only memory limits can be told: " + names + ".",
                  Paragraph::Style::plain});
  }
  document.blocks.push_back(
      Paragraph{"notes",
                "bf16 is fp16 on a device without bf16; W is board power. corridor devices NAME shows one "
                "device with every source; --trend shows how product lines moved.",
                Paragraph::Style::detail});
  return document;
}

Document device_document(const app::DeviceDetail& detail, bool explain) {
  const hardware::Device& device = detail.device;
  const std::string year = device.year ? fmt::format(" ({:.0f})", device.year->value) : "";
  Document document{"corridor/device/1", device.name + year, {}};
  if (!detail.resolution_note.empty()) {
    document.blocks.push_back(Paragraph{"assumptions", detail.resolution_note, Paragraph::Style::plain});
  }
  if (!device.warning.empty())
    document.blocks.push_back(Paragraph{"warnings", device.warning, Paragraph::Style::warning});
  document.blocks.push_back(identity(detail));
  document.blocks.push_back(ladder(device));
  document.blocks.push_back(arithmetic(detail));
  SourceNumbers sources;
  document.blocks.push_back(fact_table(detail, sources));
  for (std::size_t i = 0; i < sources.all().size(); ++i) {
    document.blocks.push_back(
        Paragraph{"sources", fmt::format("[{}] {}", i + 1, sources.all()[i]), Paragraph::Style::detail});
  }
  if (explain) {
    for (const app::FactRow& fact : detail.facts) {
      if (fact.note.empty()) continue;
      document.blocks.push_back(
          Paragraph{"explanations", fmt::format("{}: {}", fact.label, fact.note), Paragraph::Style::detail});
    }
  }
  return document;
}

Document device_trend_document(const app::DeviceTrend& trend) {
  Document document{"corridor/device-trend/1", "How arithmetic, bandwidth and ridge moved", {}};
  for (const app::TrendStep& step : trend.steps) {
    if (!step.ridge_fell()) continue;
    document.blocks.push_back(Paragraph{
        "ridge_fell",
        fmt::format("{} → {}: the {} ridge fell from {} to {} FLOP a byte (arithmetic × {:.2f}, bandwidth × {:.2f}).",
                    step.from, step.to, name(step.type), units::print_number(step.ridge_from),
                    units::print_number(step.ridge_to), step.peak_ratio, step.bandwidth_ratio),
        Paragraph::Style::plain});
  }
  document.blocks.push_back(trend_points(trend));
  document.blocks.push_back(trend_steps(trend));
  document.blocks.push_back(
      Paragraph{"notes",
                "bf16 is fp16 on a device without bf16. The fp8 peak of Ada GeForce cards is the rate "
                "with fp32 accumulation, that of Blackwell ones the block-scaled rate.",
                Paragraph::Style::detail});
  return document;
}

}  // namespace corridor::views
