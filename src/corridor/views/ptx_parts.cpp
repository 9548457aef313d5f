// SPDX-License-Identifier: Apache-2.0
// Memory, roofs, lines and counters of a simulated run as tables.
#include "corridor/views/ptx_parts.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using ptx::AccessCounters;
using ptx::Counters;
using report::Table;
using report::Unit;
using report::Value;

Value exact(std::uint64_t x) {
  return count(static_cast<double>(x));
}

Value ratio(double a, double b) {
  return b > 0 ? Value{a / b, Unit::none} : null_value();
}

std::string_view line_of(std::string_view text, std::uint32_t number) {
  for (std::uint32_t i = 1; !text.empty(); ++i) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (i == number) return text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  const std::size_t last = text.find_last_not_of(" \t\r");
  std::string out(text.substr(first, last - first + 1));
  std::replace(out.begin(), out.end(), '\t', ' ');
  return out;
}

/// Counts of one line of the source the compiler started from (or of the PTX when it does not tell).
struct SourceCounts {
  bool in_source = false;
  std::uint32_t line = 0;
  std::uint64_t warp_instructions = 0, sectors = 0, conflicts = 0;
  double flops = 0;
};

std::vector<SourceCounts> by_source(const app::PtxAnswer& a) {
  const auto& files = a.source.program->module().files;
  std::map<std::pair<bool, std::uint32_t>, SourceCounts> lines;
  for (const ptx::LineCounters& each : a.run.lines) {
    const auto file = files.find(each.source.file);
    const bool known = file != files.end() && !a.source.source.empty() &&
                       file->second.ends_with(a.source.source_name) && each.source.line > 0;
    SourceCounts& line = lines[{known, known ? each.source.line : each.line}];
    line.in_source = known;
    line.line = known ? each.source.line : each.line;
    line.warp_instructions += each.warp_instructions;
    line.sectors += each.sectors;
    line.conflicts += each.conflicts;
    line.flops += each.flops;
  }
  std::vector<SourceCounts> out;
  for (const auto& [key, line] : lines) out.push_back(line);
  std::stable_sort(out.begin(), out.end(), [](const SourceCounts& x, const SourceCounts& y) {
    return x.warp_instructions > y.warp_instructions;
  });
  return out;
}

constexpr double sector = 32;

}  // namespace

Table ptx_accesses(const Counters& c) {
  Table table{"accesses",
              "Memory instructions",
              {{"kind", "kind", Unit::none, true},
               {"requests", "requests", Unit::count},
               {"sectors", "sectors", Unit::count},
               {"sectors_per_request", "a request", Unit::none},
               {"wavefronts", "wavefronts", Unit::count},
               {"conflicts", "conflicts", Unit::count},
               {"bytes", "asked for", Unit::bytes}},
              {}};
  const auto add = [&](const char* name, const AccessCounters& x, bool shared) {
    if (x.requests == 0) return;
    table.rows.push_back(
        {text(name),
         exact(x.requests),
         shared ? null_value() : exact(x.sectors),
         shared ? null_value() : ratio(static_cast<double>(x.sectors), static_cast<double>(x.requests)),
         exact(x.wavefronts),
         shared ? exact(x.wavefronts - std::min(x.ideal_wavefronts, x.wavefronts)) : null_value(),
         {static_cast<double>(x.bytes), Unit::bytes}});
  };
  add("global loads", c.global_load, false);
  add("global stores", c.global_store, false);
  add("global atomics", c.global_atomic, false);
  add("local loads", c.local_load, false);
  add("local stores", c.local_store, false);
  add("shared loads", c.shared_load, true);
  add("shared stores", c.shared_store, true);
  add("shared atomics", c.shared_atomic, true);
  return table;
}

Table ptx_levels(const ptx::RunResult& run) {
  const Counters& c = run.counters;
  Table table{"levels",
              "Bytes of each level",
              {{"level", "level", Unit::none, true},
               {"bytes", "moved", Unit::bytes},
               {"hit_share", "hits", Unit::percent},
               {"intensity_flop_per_byte", "intensity", Unit::flop_per_byte}},
              {}};
  const auto& m = c.cache;
  const auto add = [&](const char* name, std::uint64_t sectors, Value hits) {
    const double bytes = sector * static_cast<double>(sectors);
    table.rows.push_back({text(name),
                          {bytes, Unit::bytes},
                          std::move(hits),
                          bytes > 0 ? Value{c.flops() / bytes, Unit::flop_per_byte} : null_value()});
  };
  const auto hits = [](std::uint64_t hit, std::uint64_t of) {
    return of > 0 ? share(static_cast<double>(hit) / static_cast<double>(of)) : null_value();
  };
  const std::uint64_t asked = c.global_load.sectors + c.global_store.sectors + c.global_atomic.sectors +
                              c.local_load.sectors + c.local_store.sectors;
  add("L1", asked, hits(m.l1_hits, m.l1_sectors));
  if (run.l2_sectors && run.dram_sectors) {
    add("L2, at least", run.l2_sectors->least, null_value());
    add("L2, at most", run.l2_sectors->most, null_value());
    add("DRAM, at least", run.dram_sectors->least, null_value());
    add("DRAM, at most", run.dram_sectors->most, null_value());
  }
  if (m.l2_read_sectors + m.l2_write_sectors + m.l2_atomic_sectors == 0) return table;
  add("L2", m.l2_read_sectors + m.l2_write_sectors + m.l2_atomic_sectors, hits(m.l2_read_hits, m.l2_read_sectors));
  add("DRAM", m.dram_read_sectors + m.dram_write_sectors, null_value());
  return table;
}

Table ptx_roofs(const ptx::Placement& placement) {
  Table table{"roofs",
              "Roofs: the least time each part needs",
              {{"name", "roof", Unit::none, true},
               {"time_s", "time", Unit::seconds},
               {"work", "work", Unit::count},
               {"unit", "unit", Unit::none, true},
               {"intensity_flop_per_byte", "", Unit::flop_per_byte}},
              {},
              8};
  for (const ptx::Roof& r : placement.roofs) {
    table.rows.push_back(
        {text(r.name),
         {r.time_s, Unit::seconds},
         count(r.work),
         text(r.unit),
         r.intensity_flop_per_byte > 0 ? Value{r.intensity_flop_per_byte, Unit::flop_per_byte} : null_value()});
  }
  return table;
}

report::RooflinePlot ptx_roofline(const app::PtxAnswer& a) {
  const ptx::Machine& m = a.machine.machine;
  const Counters& c = a.run.counters;
  report::RooflinePlot plot;
  plot.key = "roofline";
  plot.title = "On the roofline of " + a.device.device.name;
  const double sms = m.sm_count;
  const auto lanes = [&](ptx::Pipe pipe) { return m.lanes_per_clock[static_cast<std::size_t>(pipe)]; };
  plot.bandwidths = {{"L1", m.l1_bytes_per_clock_sm * sms * m.clock_hz, false},
                     {"L2", m.l2_bytes_per_s, false},
                     {"DRAM", m.dram_bytes_per_s, true}};
  const bool tensor = std::any_of(c.tensor_flops.begin(), c.tensor_flops.end(), [](auto x) { return x > 0; });
  plot.peaks.push_back({"fp32", 2 * lanes(ptx::Pipe::fma) * sms * m.clock_hz, !tensor});
  if (tensor) plot.peaks.push_back({"tensor fp16", m.tensor_f16_flop_per_clock_sm * sms * m.clock_hz, true});
  const auto add = [&](const char* name, std::uint64_t sectors) {
    if (sectors == 0 || c.flops() <= 0 || a.placement.flop_per_s <= 0) return;
    plot.points.push_back({fmt::format("{} at {}", a.launch.kernel, name), name,
                           c.flops() / (sector * static_cast<double>(sectors)), a.placement.flop_per_s, 0.2});
  };
  add("DRAM", c.cache.dram_read_sectors + c.cache.dram_write_sectors);
  add("L2", c.cache.l2_read_sectors + c.cache.l2_write_sectors + c.cache.l2_atomic_sectors);
  add("L1", c.global_load.sectors + c.global_store.sectors + c.global_atomic.sectors);
  return plot;
}

Table ptx_lines(const app::PtxAnswer& a) {
  constexpr std::size_t shown_on_terminal = 6, most = 50;
  Table table{"lines",
              "Lines that cost most",
              {{"line", "line", Unit::count},
               {"of", "", Unit::none, true},
               {"text", "text", Unit::none, true},
               {"warp_instructions", "warp instr.", Unit::count},
               {"sectors", "sectors", Unit::count},
               {"conflicts", "conflicts", Unit::count},
               {"flops", "FLOPs", Unit::count}},
              {},
              shown_on_terminal};
  const std::vector<SourceCounts> lines = by_source(a);
  const bool both = std::any_of(lines.begin(), lines.end(), [](const SourceCounts& line) { return line.in_source; });
  for (const SourceCounts& line : lines) {
    if (table.rows.size() == most) break;
    const std::string_view of = line.in_source ? std::string_view(a.source.source) : *a.source.program->module().text;
    table.rows.push_back(
        {exact(line.line), text(line.in_source ? a.source.source_name : a.source.program->module().name),
         text((both && !line.in_source ? "PTX: " : "") + trimmed(line_of(of, line.line))),
         exact(line.warp_instructions), exact(line.sectors), exact(line.conflicts), count(line.flops)});
  }
  return table;
}

Table ptx_counters(const Counters& counters) {
  Table table{"counters",
              "Counters, as Nsight Compute names them",
              {{"name", "name", Unit::none, true}, {"value", "value", Unit::count}, {"unit", "unit", Unit::none, true}},
              {},
              6};
  for (const ptx::NamedCounter& each : ptx::named(counters)) {
    table.rows.push_back({text(std::string(each.name)), count(each.value), text(std::string(each.unit))});
  }
  return table;
}

std::vector<std::string> ptx_formulas(const app::PtxAnswer& a) {
  const Counters& c = a.run.counters;
  std::vector<std::string> out;
  out.push_back(fmt::format("lane efficiency = thread instructions ÷ (32 × warp instructions) = {} ÷ (32 × {})",
                            c.thread_instructions, c.warp_instructions));
  for (const ptx::Roof& r : a.placement.roofs) {
    if (r.time_s <= 0 || r.work <= 0) continue;
    out.push_back(fmt::format("{}: {} {} ÷ {} a second = {}", r.name, units::print_count(r.work), r.unit,
                              units::print_count(r.work / r.time_s), units::print(units::Seconds{r.time_s})));
  }
  out.push_back(fmt::format("waves = {} blocks ÷ ({} SMs × {} blocks), rounded up = {}", c.blocks,
                            a.machine.machine.sm_count, a.occupancy.blocks, a.placement.waves));
  return out;
}

}  // namespace corridor::views
