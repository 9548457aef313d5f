// SPDX-License-Identifier: Apache-2.0
// Fills the Document of `corridor op`.
#include "corridor/views/op_view.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using report::FieldGroup;
using report::Paragraph;
using report::Unit;
using report::Value;

Value count_or_none(const std::optional<double>& value) {
  return value ? count(*value) : Value{std::monostate{}, Unit::count};
}

/// The mean is worth a line of its own only when the arrays differ.
bool uses_differ(const app::OpResult& r) {
  return std::any_of(r.uses.begin(), r.uses.end(), [&](const auto& use) { return use.uses != r.uses.front().uses; });
}

std::string verdict(const app::OpResult& r) {
  const bool memory = r.wall == app::OpWall::memory;
  const double ratio = memory ? r.memory_time / r.compute_time : r.compute_time / r.memory_time;
  const std::string arithmetic = units::print(r.compute_time) + " of arithmetic";
  const std::string moving = units::print(r.memory_time) + " of moving bytes";
  return fmt::format("{} wall. {} against {}, a factor of {}: {} lies {} the ridge at {}.", name(r.wall),
                     memory ? moving : arithmetic, memory ? arithmetic : moving, units::print_number(ratio),
                     units::print(r.intensity),
                     ratio == 1 ? "at"
                     : memory   ? "below"
                                : "above",
                     units::print(r.ridge));
}

FieldGroup work(const app::OpResult& r) {
  FieldGroup group{"Work and traffic", {}};
  group.fields = {
      {"operation", "", {r.kind}, ""},
      {"dtype", "", {r.dtype}, ""},
      {"flops", "work", {r.flops.value(), Unit::flops}, ""},
      {"bytes", "bytes of main memory", {r.bytes.value(), Unit::bytes}, ""},
      {"intensity_flop_per_byte", "arithmetic intensity", {r.intensity.value(), Unit::flop_per_byte}, ""},
      {"trips", r.trips ? "trips to main memory" : "", count_or_none(r.trips), ""},
      {"uses_per_value", uses_differ(r) ? "uses of a value read, mean" : "", count_or_none(r.uses_per_value), ""}};
  for (const app::ValueUse& use : r.uses) {
    group.fields.push_back({"uses." + use.key, use.name, count(use.uses), ""});
  }
  if (r.traffic_saved) {
    group.fields.push_back(
        {"traffic_saved_fraction", "traffic saved by fusion", {*r.traffic_saved, Unit::percent}, ""});
  }
  return group;
}

FieldGroup roofs(const app::OpResult& r) {
  return {"Under both roofs",
          {{"wall", "", {std::string(name(r.wall))}, ""},
           {"memory_time_s", "memory time", {r.memory_time.value(), Unit::seconds}, "at " + units::print(r.bandwidth)},
           {"compute_time_s",
            "compute time",
            {r.compute_time.value(), Unit::seconds},
            fmt::format("at {} in {}", units::print(r.peak), hardware::name(r.executed))},
           {"limit_s", "limit", {r.limit.value(), Unit::seconds}, "no software is faster"},
           {"device.id", "", {r.device_id}, ""},
           {"device.name", "device", {r.device_name}, r.device_id},
           {"device.compute_type", "", {std::string(hardware::name(r.executed))}, ""},
           {"device.memory_bandwidth_bytes_per_s", "", {r.bandwidth.value(), Unit::bytes_per_second}, ""},
           {"device.peak_flop_per_s", "", {r.peak.value(), Unit::flops_per_second}, ""},
           {"device.ridge_flop_per_byte", "ridge point", {r.ridge.value(), Unit::flop_per_byte}, ""}}};
}

report::RooflinePlot plot(const app::OpResult& r) {
  report::RooflinePlot out;
  out.key = "roofline";
  out.title = "Roofline";
  out.bandwidths = {{"main memory", r.bandwidth.value(), false}};
  out.peaks = {{std::string(hardware::name(r.executed)), r.peak.value(), true}};
  out.points = {{r.kind, r.kind, r.intensity.value(), (r.flops / r.limit).value(), 0.1}};
  return out;
}

}  // namespace

report::Document op_document(const app::OpResult& result, bool explain, const std::vector<std::string>& defaults) {
  report::Document document;
  document.schema = "corridor/op/1";
  document.title = result.kind == "given"
                       ? fmt::format("{} on {}", result.title, result.device_name)
                       : fmt::format("{}, {}, on {}", result.title, result.dtype, result.device_name);
  document.blocks.emplace_back(Paragraph{"verdict", verdict(result), Paragraph::Style::verdict});
  document.blocks.emplace_back(work(result));
  document.blocks.emplace_back(roofs(result));
  document.blocks.emplace_back(plot(result));
  append_remarks(document, result.notes, defaults, explain, result.formulas);
  return document;
}

}  // namespace corridor::views
