// SPDX-License-Identifier: Apache-2.0
// Fills the Document of `corridor ptx run`: verdict, faults, what ran, memory, roofs, lines, counters.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"
#include "corridor/views/ptx_parts.h"
#include "corridor/views/ptx_timeline_view.h"
#include "corridor/views/ptx_view.h"

namespace corridor::views {
namespace {

using app::PtxAnswer;
using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using report::Value;

std::string dims(const ptx::Dim3& d) {
  std::string out = fmt::format("{}", d.x);
  if (d.y > 1 || d.z > 1) out += fmt::format(" × {}", d.y);
  if (d.z > 1) out += fmt::format(" × {}", d.z);
  return out;
}

std::string seconds(double s) {
  return units::print(units::Seconds{s});
}

std::string plural(std::uint64_t n, const char* word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

std::string time_sentence(const PtxAnswer& a) {
  const ptx::Placement& p = a.placement;
  const std::string& device = a.device.device.name;
  const std::string range = fmt::format("{} to {} on {}", seconds(p.low_s), seconds(p.high_s), device);
  const auto roof = std::find_if(p.roofs.begin(), p.roofs.end(), [&](const ptx::Roof& r) { return r.name == p.bound; });
  if (roof == p.roofs.end()) return range + "; most of it is the start of a kernel";
  return fmt::format("{}; the longest of its roofs is {} ({})", range, p.bound, seconds(roof->time_s));
}

std::string verdict(const PtxAnswer& a) {
  const auto failed =
      std::count_if(a.checks.begin(), a.checks.end(), [](const app::PtxCheck& c) { return c.different > 0; });
  std::string text;
  if (!a.run.completed && a.run.faults.empty()) text = "The run did not end. ";
  if (!a.run.faults.empty()) {
    std::uint64_t times = 0;
    for (const ptx::Fault& f : a.run.faults) times += f.count;
    text = fmt::format("{}{}. ", plural(a.run.faults.size(), "fault"),
                       times > a.run.faults.size() ? fmt::format(", seen {} times in all", times) : "");
    if (!a.run.completed) text += "The run stopped there; the numbers below are of what ran. ";
  } else if (failed > 0) {
    text += fmt::format("{} not as expected. ", failed == 1 ? "A buffer is" : "Buffers are");
  } else if (!a.checks.empty()) {
    text += "Ran clean, and every buffer is as expected. ";
  } else if (a.run.completed) {
    text += "Ran clean. ";
  }
  return text + "Estimated time: " + time_sentence(a) + ".";
}

void add_faults(Document& document, const PtxAnswer& a) {
  for (const ptx::Fault& f : a.run.faults) {
    std::string line = f.message;
    if (f.count > 1) line += fmt::format(" ({} times)", f.count);
    document.blocks.emplace_back(Paragraph{"warnings", std::move(line), Paragraph::Style::warning});
  }
  for (const app::PtxCheck& c : a.checks) {
    if (c.different == 0) continue;
    document.blocks.emplace_back(Paragraph{"warnings",
                                           fmt::format("{} against {}: {} of {} values differ, the first {}",
                                                       c.argument, c.file, c.different, c.values, c.first_difference),
                                           Paragraph::Style::warning});
  }
}

Table faults(const PtxAnswer& a) {
  Table table{"faults",
              "",
              {{"kind", "", Unit::none, true},
               {"message", "", Unit::none, true},
               {"kernel", "", Unit::none, true},
               {"ptx_line", "", Unit::count},
               {"source_line", "", Unit::count},
               {"block", "", Unit::none, true},
               {"thread", "", Unit::none, true},
               {"address", "", Unit::none, true},
               {"allocation", "", Unit::none, true},
               {"count", "", Unit::count}},
              {}};
  for (const ptx::Fault& f : a.run.faults) {
    const auto place = [](const ptx::Dim3& d) { return text(fmt::format("{},{},{}", d.x, d.y, d.z)); };
    table.rows.push_back({text(std::string(name_of(f.kind))), text(f.message), text(f.kernel), count(f.line),
                          f.source.line > 0 ? count(f.source.line) : null_value(), place(f.block), place(f.thread),
                          text(fmt::format("0x{:x}", f.address)), text(f.allocation),
                          count(static_cast<double>(f.count))});
  }
  return table;
}

FieldGroup what_ran(const PtxAnswer& a) {
  const ptx::Counters& c = a.run.counters;
  const double warp = static_cast<double>(c.warp_instructions);
  FieldGroup g{
      "What ran",
      {{"kernel", "", text(a.launch.kernel), ""},
       {"source.file", "", text(a.source.file), a.source.compiled},
       {"device.id", "", text(a.device.device.id), ""},
       {"device.name", "", text(a.device.device.name), ""},
       {"grid", "", text(dims(a.launch.grid)), ""},
       {"block", "", text(dims(a.launch.block)), ""},
       {"completed", "", flag(a.run.completed), ""},
       {"clean", "", flag(a.clean()), ""},
       {"blocks", "blocks", count(static_cast<double>(c.blocks)), ""},
       {"warps", "warps", count(static_cast<double>(c.warps)), ""},
       {"warp_instructions", "warp instructions", count(warp), ""},
       {"thread_instructions", "thread instructions", count(static_cast<double>(c.thread_instructions_on)),
        "guard true"},
       {"lane_efficiency", "lane efficiency",
        warp > 0 ? share(static_cast<double>(c.thread_instructions) / (32 * warp)) : null_value(), "live lanes of 32"},
       {"divergent_branches", "divergent branches", count(static_cast<double>(c.divergent_branches)),
        fmt::format("of {}", c.branches)},
       {"flops", "FLOPs", {c.flops(), Unit::flops}, ""},
       {"special", "special functions", count(static_cast<double>(c.special)), ""},
       {"barriers", "barriers", count(static_cast<double>(c.barriers)), "warp instructions"},
       {"shuffles", "shuffles", count(static_cast<double>(c.shuffles)), "warp instructions"},
       {"host_s", "", {a.host_s, Unit::seconds}, ""}}};
  if (a.run.blocks_run > 0 && a.run.blocks_run < c.blocks) {
    g.fields.push_back({"blocks_run", "blocks that ran", count(static_cast<double>(a.run.blocks_run)),
                        "a sample; what blocks do by themselves is scaled"});
    g.fields.push_back({"sampling_error", "standard error of the sample", share(a.run.sampling_error), ""});
  }
  return g;
}

FieldGroup where_it_stands(const PtxAnswer& a) {
  const ptx::Placement& p = a.placement;
  const ptx::Occupancy& o = a.occupancy;
  return {"Where it stands",
          {{"time_s.low", "time, all roofs overlap", {p.low_s, Unit::seconds}, ""},
           {"time_s.high", "time, waits hidden only by its warps", {p.high_s, Unit::seconds}, ""},
           {"time_s.launch", "start of a kernel, part of both", {p.launch_s, Unit::seconds}, ""},
           {"bound", "longest roof", text(p.bound), ""},
           {"flop_per_s", "arithmetic at the lower time", {p.flop_per_s, Unit::flops_per_second}, ""},
           {"fraction_of_roof", "", share(p.fraction_of_roof), ""},
           {"occupancy.share", "occupancy", share(o.share),
            fmt::format("{} of {} warps an SM", o.warps, a.machine.machine.warp_slots)},
           {"occupancy.blocks", "blocks an SM", count(o.blocks), ""},
           {"occupancy.limit", "limited by", text(std::string(name_of(o.limit))), ""},
           {"occupancy.by_warps", "", count(o.by_warps), ""},
           {"occupancy.by_blocks", "", count(o.by_blocks), ""},
           {"occupancy.by_registers", "", count(o.by_registers), ""},
           {"occupancy.by_shared", "", count(o.by_shared), ""},
           {"registers_per_thread", "registers a thread", count(a.needs.registers_per_thread), ""},
           {"shared_bytes_per_block",
            "shared memory a block",
            {static_cast<double>(a.needs.shared_bytes), Unit::bytes},
            ""},
           {"waves", "waves of blocks", count(static_cast<double>(p.waves)), ""},
           {"last_wave_share", "the last wave fills", share(p.last_wave_share), "of the device"}}};
}

Table buffers(const PtxAnswer& a) {
  Table table{"buffers",
              "Buffers after the run",
              {{"name", "name", Unit::none, true},
               {"type", "type", Unit::none, true},
               {"count", "values", Unit::count},
               {"first", "first values", Unit::none, true}},
              {}};
  for (const app::PtxBuffer& b : a.buffers) {
    std::string first;
    for (const double x : b.first) first += (first.empty() ? "" : "  ") + fmt::format("{:.6g}", x);
    table.rows.push_back(
        {text(b.name), text(std::string(name_of(b.type))), count(static_cast<double>(b.count)), text(first)});
  }
  return table;
}

Table checks(const PtxAnswer& a) {
  Table table{"checks",
              "Compared",
              {{"argument", "buffer", Unit::none, true},
               {"file", "with", Unit::none, true},
               {"values", "values", Unit::count},
               {"different", "different", Unit::count},
               {"largest_error", "largest error", Unit::none}},
              {}};
  for (const app::PtxCheck& c : a.checks) {
    table.rows.push_back({text(c.argument),
                          text(c.file),
                          count(static_cast<double>(c.values)),
                          count(static_cast<double>(c.different)),
                          {c.largest_error, Unit::none}});
  }
  return table;
}

}  // namespace

Document ptx_run_document(const PtxAnswer& a, bool explain) {
  Document document;
  document.schema = "corridor/ptx_run/1";
  document.title = fmt::format("{} of {}: {} blocks of {} threads, simulated", a.launch.kernel, a.source.file,
                               dims(a.launch.grid), dims(a.launch.block));
  document.blocks.emplace_back(Paragraph{"verdict", verdict(a), Paragraph::Style::verdict});
  add_faults(document, a);
  document.blocks.emplace_back(faults(a));
  document.blocks.emplace_back(what_ran(a));
  document.blocks.emplace_back(ptx_accesses(a.run.counters));
  document.blocks.emplace_back(ptx_levels(a.run));
  document.blocks.emplace_back(where_it_stands(a));
  document.blocks.emplace_back(ptx_roofs(a.placement));
  document.blocks.emplace_back(ptx_roofline(a));
  document.blocks.emplace_back(ptx_lines(a));
  if (!a.run.printed.empty()) {
    document.blocks.emplace_back(
        Paragraph{"printed", "Printed by the kernel:\n" + a.run.printed, Paragraph::Style::plain});
  }
  if (!a.buffers.empty()) document.blocks.emplace_back(buffers(a));
  if (!a.checks.empty()) document.blocks.emplace_back(checks(a));
  for (const ptx::Timeline& timeline : a.timelines) {
    append_timeline(document, timeline, fmt::format("timeline.warps_{}", timeline.resident_warps));
  }
  document.blocks.emplace_back(ptx_counters(a.run.counters));
  std::vector<std::string> notes = a.notes;
  if (!a.about.empty()) notes.insert(notes.begin(), "This launch ships with the program: " + a.about);
  if (!a.device.note.empty()) notes.push_back(a.device.note);
  notes.emplace_back(
      "Counts are exact for this PTX; the machine code of a GPU differs from it. Times are roofs, not "
      "cycles (docs/simulated_gpu.md).");
  std::vector<std::string> assumptions = a.defaults;
  assumptions.insert(assumptions.end(), a.machine.assumed.begin(), a.machine.assumed.end());
  append_remarks(document, notes, assumptions, explain, ptx_formulas(a));
  return document;
}

}  // namespace corridor::views
