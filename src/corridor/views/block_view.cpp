// SPDX-License-Identifier: Apache-2.0
// Fills the Document of `corridor block`.
#include "corridor/views/block_view.h"

#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using report::FieldGroup;
using report::Paragraph;
using report::Unit;
using report::Value;

Value maybe(const std::optional<double>& value) {
  return value ? count(*value) : Value{std::monostate{}, Unit::count};
}

Value maybe(const std::optional<units::Bytes>& value) {
  return value ? Value{value->value(), Unit::bytes} : Value{std::monostate{}, Unit::bytes};
}

/// "shared_memory" as words.
std::string words(std::string text) {
  for (char& c : text) {
    if (c == '_') c = ' ';
  }
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : " and ") + words(part);
  return out;
}

std::string verdict(const app::BlockResult& r) {
  const std::string lanes = r.last_warp_lanes == r.warp_size
                                ? "every lane live"
                                : fmt::format("the last with {} of {} lanes live", r.last_warp_lanes, r.warp_size);
  const auto plural = [](double number) { return number == 1 ? "" : "s"; };
  return fmt::format("{} warp{} a block, {}. {} block{} an SM: {} of {} warps resident ({}), limited by {}.", r.warps,
                     plural(r.warps), lanes, r.blocks_per_sm, plural(r.blocks_per_sm), r.warps_per_sm,
                     r.max_warps_per_sm, report::print({r.occupancy, Unit::percent}), joined(r.limited_by));
}

FieldGroup one_block(const app::BlockResult& r) {
  return {
      "One block",
      {{"threads", "threads", count(r.threads), ""},
       {"warps", "warps", count(r.warps), ""},
       {"last_warp_lanes", "live lanes of the last warp", count(r.last_warp_lanes), fmt::format("of {}", r.warp_size)},
       {"registers_per_thread", "registers a thread", count(r.registers_per_thread),
        r.registers_assumed ? "default: none was given" : ""},
       {"shared_bytes_per_block", "shared memory, as allocated", {r.shared_a_block.value(), Unit::bytes}, ""}}};
}

FieldGroup resident(const app::BlockResult& r) {
  FieldGroup group{
      "Resident at once",
      {{"blocks_per_sm", "blocks an SM", count(r.blocks_per_sm), ""},
       {"warps_per_sm", "warps an SM", count(r.warps_per_sm), fmt::format("of {}", r.max_warps_per_sm)},
       {"occupancy", "occupancy", {r.occupancy, Unit::percent}, ""},
       {"limited_by",
        "limited by",
        {r.limited_by.front()},
        r.limited_by.size() > 1 ? "also by " + joined({r.limited_by.begin() + 1, r.limited_by.end()}) : ""},
       {"multiprocessors", "SMs of the device", maybe(r.multiprocessors), ""},
       {"blocks_per_device", "blocks, whole device", maybe(r.blocks_per_device), ""},
       {"warps_per_device", "warps, whole device", maybe(r.warps_per_device), ""},
       {"threads_per_device", "threads, whole device", maybe(r.threads_per_device), ""},
       {"register_file_bytes", "register files, whole device", maybe(r.register_file), ""},
       {"l2_bytes", "L2 cache", maybe(r.l2), ""},
       {"device.id", "", {r.device_id}, ""},
       {"device.name", "device", {r.device_name}, r.device_id}}};
  if (r.grid) {
    group.fields.push_back({"grid_blocks", "blocks launched", {*r.grid, Unit::count}, ""});
    group.fields.push_back({"waves", "waves", maybe(r.waves), ""});
    group.fields.push_back({"last_wave_blocks", "blocks of the last wave", maybe(r.last_wave), ""});
  }
  return group;
}

report::Table limits(const app::BlockResult& r) {
  report::Table table{"limits",
                      "What each limit allows",
                      {{"resource", "limit", Unit::none, true},
                       {"blocks", "blocks an SM", Unit::count},
                       {"used_per_block", "used a block", Unit::count},
                       {"available_per_sm", "an SM has", Unit::count},
                       {"unit", "unit", Unit::none, true}},
                      {}};
  for (const app::BlockLimit& limit : r.limits) {
    table.rows.push_back({Value{limit.resource}, count(limit.blocks), count(limit.used_a_block), count(limit.available),
                          Value{limit.unit}});
  }
  return table;
}

}  // namespace

report::Document block_document(const app::BlockResult& result, bool explain,
                                const std::vector<std::string>& defaults) {
  report::Document document;
  document.schema = "corridor/block/1";
  document.title = fmt::format("A block of {} threads on {}", result.threads, result.device_name);
  document.blocks.emplace_back(Paragraph{"verdict", verdict(result), Paragraph::Style::verdict});
  document.blocks.emplace_back(one_block(result));
  document.blocks.emplace_back(resident(result));
  document.blocks.emplace_back(limits(result));
  append_remarks(document, result.notes, defaults, explain, result.formulas);
  return document;
}

}  // namespace corridor::views
