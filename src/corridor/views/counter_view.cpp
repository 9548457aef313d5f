// SPDX-License-Identifier: Apache-2.0
// Counters of kernels as a Document.
#include "corridor/views/counter_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"
#include "corridor/views/findings_table.h"
#include "corridor/views/import_table.h"

namespace corridor::views {
namespace {

using app::CounterAnswer;
using diagnose::CounterAnalysis;
using diagnose::CounterBound;
using diagnose::CounterLevel;
using diagnose::Finding;
using diagnose::KernelRow;
using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using units::print;

constexpr std::size_t kernels_on_terminal = 15;
constexpr std::size_t most_plotted = 200;
constexpr std::size_t kernel_name_bytes = 34;  // leaves room for the fractions in 80 columns

report::Value time_value(double s) {
  return {s, Unit::seconds};
}
report::Value bytes_value(double x) {
  return {x, Unit::bytes};
}
report::Value flops_value(double x) {
  return {x, Unit::flops};
}
report::Value byte_rate(double x) {
  return {x, Unit::bytes_per_second};
}
report::Value flop_rate_value(double x) {
  return {x, Unit::flops_per_second};
}
report::Value intensity(double x) {
  return {x, Unit::flop_per_byte};
}
report::Value hertz(double x) {
  return {x, Unit::hertz};
}

/// At most `kernel_name_bytes`, cut at a whole character.
std::string cut_label(const std::string& label) {
  if (label.size() <= kernel_name_bytes) return label;
  std::size_t cut = kernel_name_bytes - 1;
  while (cut > 0 && (static_cast<unsigned char>(label[cut]) & 0xC0U) == 0x80U) --cut;
  return label.substr(0, cut) + "…";
}

/// The wall in the words of every diagnosis.
std::string wall_word(CounterBound bound) {
  switch (bound) {
    case CounterBound::dram:
      return "memory";
    case CounterBound::l2:
    case CounterBound::l1:
    case CounterBound::shared:
      return "cache";
    case CounterBound::compute:
      return "compute";
    case CounterBound::latency:
      return "latency";
    case CounterBound::unknown:
      break;
  }
  return "unknown";
}

void say_verdict(const CounterAnalysis& a, Document& doc) {
  const auto say = [&](std::string sentence, Paragraph::Style style) {
    doc.blocks.emplace_back(Paragraph{"verdict.text", std::move(sentence), style});
  };
  say(a.sentence + ".", Paragraph::Style::verdict);
  if (a.findings.empty()) return;
  const Finding& f = a.findings.front();
  say(fmt::format("Largest loss: {} ({}). Cause: {}.", f.title, f.evidence, f.cause), Paragraph::Style::plain);
  say(fmt::format("Next change: {}. It gains at most {} of the profiled time.", f.lever,
                  print(units::Seconds{f.gain_s})),
      Paragraph::Style::plain);
}

FieldGroup counter_verdict(const CounterAnalysis& a) {
  FieldGroup group{"Verdict", {}};
  auto& f = group.fields;
  f.push_back({"verdict.wall", "wall", text(wall_word(a.wall)), ""});
  f.push_back({"verdict.wall_share", "its share of the time", share(a.wall_share), ""});
  f.push_back({"verdict.sentence", "", text(a.sentence), ""});
  return group;
}

FieldGroup profile_group(const CounterAnswer& answer) {
  const CounterAnalysis& a = answer.analysis;
  std::string files;
  for (const std::string& file : answer.files) files += (files.empty() ? "" : ", ") + file;
  FieldGroup group{"The profile", {}};
  auto& f = group.fields;
  f.push_back({"counters.file", "file", text(files), ""});
  f.push_back({"counters.format", "format", text(answer.format), ""});
  f.push_back({"counters.device_name", "device in the file",
               answer.profiled_device.empty() ? null_value() : text(answer.profiled_device), ""});
  f.push_back({"device.id", "data sheet of", answer.device ? text(answer.device->id) : null_value(), ""});
  f.push_back({"counters.kernels", "kernels and shapes", count(a.kernels), ""});
  f.push_back({"counters.launches", "launches", count(a.launches), ""});
  f.push_back({"counters.time_s", "their time", time_value(a.time_s), "sum over launches"});
  return group;
}

const diagnose::LevelUse* level_of(const KernelRow& row, CounterLevel level) {
  for (const diagnose::LevelUse& use : row.levels) {
    if (use.level == level) return &use;
  }
  return nullptr;
}

std::optional<double> level_fraction(const KernelRow& row, CounterLevel level) {
  const diagnose::LevelUse* use = level_of(row, level);
  return use == nullptr ? std::nullopt : use->fraction;
}

/// The type nearest its roof; the one with the most FLOPs where no roof is known.
const diagnose::TypeUse* main_type(const KernelRow& row) {
  const diagnose::TypeUse* best = row.arithmetic.empty() ? nullptr : &row.arithmetic.front();
  for (const diagnose::TypeUse& use : row.arithmetic) {
    if (use.fraction && (!best->fraction || *use.fraction > *best->fraction)) best = &use;
  }
  return best;
}

std::string join_remarks(const KernelRow& row) {
  std::string all;
  for (const std::string& remark : row.remarks) all += (all.empty() ? "" : "; ") + remark;
  return all;
}

/// Seven columns for people; everything else is in `kernel_levels` and JSON.
std::vector<report::Column> kernel_columns(bool counted) {
  const auto only = [&](bool shown, const char* label) { return shown ? label : ""; };
  return {{"label", "kernel", Unit::none, true},
          {"kernel", ""},
          {"shape", ""},
          {"class", only(!counted, "class"), Unit::none, true},
          {"launches", "launches", Unit::count},
          {"total_s", "time", Unit::seconds},
          {"share", only(!counted, "share"), Unit::percent},
          {"dram_fraction", only(counted, "DRAM"), Unit::percent},
          {"l2_fraction", only(counted, "L2"), Unit::percent},
          {"l1_fraction", only(counted, "L1"), Unit::percent},
          {"compute_fraction", only(counted, "FLOP"), Unit::percent},
          {"bound", only(counted, "bound"), Unit::none, true},
          {"bound_type", ""},
          {"fraction_of_roof", "", Unit::percent},
          {"flops", "", Unit::flops},
          {"flop_per_s", "", Unit::flops_per_second},
          {"type", ""},
          {"occupancy", "", Unit::percent},
          {"theoretical_occupancy", "", Unit::percent},
          {"waves", "", Unit::count},
          {"registers", "", Unit::count},
          {"shared_bytes", "", Unit::bytes},
          {"clock_hz", "", Unit::hertz},
          {"remark", ""}};
}

Table kernels_table(const CounterAnalysis& a) {
  Table table{"kernels",
              a.has_counters ? "Kernels against the roofs" : "Kernels by time",
              kernel_columns(a.has_counters),
              {},
              kernels_on_terminal};
  for (const KernelRow& r : a.rows) {
    const diagnose::TypeUse* type = main_type(r);
    const auto flop_per_s =
        r.flops && r.time_s > 0 ? std::optional(*r.flops / r.time_s) : std::optional<double>(std::nullopt);
    table.rows.push_back({text(cut_label(r.label)),
                          text(r.kernel),
                          text(r.shape),
                          text(std::string(name(r.kernel_class))),
                          count(r.launches),
                          time_value(r.time_s),
                          share(r.share),
                          maybe(level_fraction(r, CounterLevel::dram), share),
                          maybe(level_fraction(r, CounterLevel::l2), share),
                          maybe(level_fraction(r, CounterLevel::l1), share),
                          type == nullptr ? null_value() : maybe(type->fraction, share),
                          text(std::string(name(r.bound))),
                          text(r.bound_type),
                          maybe(r.fraction_of_roof, share),
                          maybe(r.flops, flops_value),
                          maybe(flop_per_s, flop_rate_value),
                          type == nullptr ? null_value() : text(type->type),
                          maybe(r.occupancy, share),
                          maybe(r.theoretical_occupancy, share),
                          maybe(r.waves, count),
                          maybe(r.registers, count),
                          maybe(r.shared_bytes, bytes_value),
                          maybe(r.sm_clock_hz, hertz),
                          text(join_remarks(r))});
  }
  return table;
}

/// One line a kernel and level: what the roofline of that level is drawn from.
Table levels_table(const CounterAnalysis& a) {
  Table table{"kernel_levels",
              "The levels of the largest kernels",
              {{"label", "kernel", Unit::none, true},
               {"kernel", ""},
               {"shape", ""},
               {"level", "level", Unit::none, true},
               {"bytes", "bytes", Unit::bytes},
               {"bytes_per_s", "bytes/s", Unit::bytes_per_second},
               {"roof_bytes_per_s", "roof", Unit::bytes_per_second},
               {"flop_per_byte", "FLOP/B", Unit::flop_per_byte},
               {"fraction", "", Unit::percent},
               {"roof_source", ""}},
              {},
              kernels_on_terminal};
  for (const KernelRow& r : a.rows) {
    for (const diagnose::LevelUse& use : r.levels) {
      table.rows.push_back({text(cut_label(r.label)), text(r.kernel), text(r.shape), text(std::string(name(use.level))),
                            bytes_value(use.bytes), maybe(use.bytes_per_s, byte_rate),
                            maybe(use.roof_bytes_per_s, byte_rate), maybe(use.flop_per_byte, intensity),
                            maybe(use.fraction, share),
                            use.roof_bytes_per_s ? text(std::string(name(use.roof_source))) : null_value()});
    }
  }
  return table;
}

Table types_table(const CounterAnalysis& a) {
  const bool any = std::any_of(a.rows.begin(), a.rows.end(), [](const KernelRow& r) { return !r.arithmetic.empty(); });
  if (!any) return {"kernel_arithmetic", "", {}, {}, 0};
  Table table{"kernel_arithmetic",
              "Arithmetic by type",
              {{"label", "kernel", Unit::none, true},
               {"kernel", ""},
               {"shape", ""},
               {"type", "type", Unit::none, true},
               {"flops", "FLOP", Unit::flops},
               {"flop_per_s", "FLOP/s", Unit::flops_per_second},
               {"roof_flop_per_s", "roof", Unit::flops_per_second},
               {"fraction", "", Unit::percent},
               {"roof_source", ""}},
              {},
              kernels_on_terminal};
  for (const KernelRow& r : a.rows) {
    for (const diagnose::TypeUse& use : r.arithmetic) {
      table.rows.push_back({text(cut_label(r.label)), text(r.kernel), text(r.shape), text(use.type),
                            flops_value(use.flops), maybe(use.flop_per_s, flop_rate_value),
                            maybe(use.roof_flop_per_s, flop_rate_value), maybe(use.fraction, share),
                            use.roof_flop_per_s ? text(std::string(name(use.roof_source))) : null_value()});
    }
  }
  return table;
}

Table bounds_table(const CounterAnalysis& a) {
  Table table{"bounds",
              "What bounds the time",
              {{"bound", "bound", Unit::none, true},
               {"time_s", "time", Unit::seconds},
               {"share", "share", Unit::percent},
               {"kernels", "kernels", Unit::count},
               {"launches", "launches", Unit::count}},
              {},
              0};
  for (const diagnose::BoundTotal& b : a.bounds) {
    table.rows.push_back({text(std::string(name(b.bound))), time_value(b.time_s),
                          share(a.time_s > 0 ? b.time_s / a.time_s : 0), count(b.kernels), count(b.launches)});
  }
  return table;
}

/// Each level's point of each kernel, and the roofs of the kernel with the most time.
report::RooflinePlot roofline_of(const CounterAnalysis& a) {
  report::RooflinePlot plot;
  plot.key = "roofline";
  plot.title = "Kernels under the roofs of each level";
  if (a.rows.empty()) return plot;
  for (const diagnose::LevelUse& use : a.rows.front().levels) {
    if (use.roof_bytes_per_s) plot.bandwidths.push_back({std::string(name(use.level)), *use.roof_bytes_per_s, false});
  }
  for (const KernelRow& r : a.rows) {
    for (const diagnose::TypeUse& use : r.arithmetic) {
      const bool known =
          std::any_of(plot.peaks.begin(), plot.peaks.end(), [&](const auto& peak) { return peak.name == use.type; });
      if (use.roof_flop_per_s && !known) plot.peaks.push_back({use.type, *use.roof_flop_per_s, true});
    }
    if (!r.flops || *r.flops <= 0 || r.time_s <= 0) continue;
    for (const diagnose::LevelUse& use : r.levels) {
      if (!use.flop_per_byte || plot.points.size() >= most_plotted) continue;
      plot.points.push_back(
          {cut_label(r.label), std::string(name(use.level)), *use.flop_per_byte, *r.flops / r.time_s, r.share});
    }
  }
  return plot;
}

void say_remarks(const CounterAnalysis& a, Document& doc) {
  for (std::size_t i = 0; i < std::min(kernels_on_terminal, a.rows.size()); ++i) {
    for (const std::string& remark : a.rows[i].remarks) {
      doc.blocks.emplace_back(Paragraph{"notes", cut_label(a.rows[i].label) + ": " + remark, Paragraph::Style::detail});
    }
  }
}

constexpr std::array<const char*, 6> counter_formulas = {
    "fraction of a level = bytes of the level ÷ time ÷ its roof; of arithmetic: FLOP of a type ÷ time ÷ its roof",
    "a roof is taken from the profile (peak a cycle × clock), else from the profiler's own test, else from the data "
    "sheet, whose arithmetic and L1 are lowered to the profiled clock",
    "bound: the roof with the largest fraction, from 60 % on; below it on all roofs: latency",
    "vector FLOP = add + multiply + 2 × fused multiply-add; tensor FLOP as counted, else instructions × FLOP of one",
    "AMD: FLOP = lanes × (add + multiply + transcendental + 2 × fused) and 512 × the matrix counter; bytes of memory "
    "from "
    "its requests of 32, 64 and 128 bytes",
    "a gain is an upper bound: the time above the nearest roof"};

}  // namespace

Document counter_view(const CounterAnswer& answer, bool explain) {
  const CounterAnalysis& a = answer.analysis;
  Document doc;
  doc.schema = "corridor/diagnosis/1";
  const std::string more = answer.files.size() > 1 ? fmt::format(" and {} more", answer.files.size() - 1) : "";
  doc.title = fmt::format("{}{}, counters of kernels{}", answer.files.empty() ? "" : answer.files.front(), more,
                          answer.device ? " on " + answer.device->name : std::string());
  say_verdict(a, doc);
  doc.blocks.emplace_back(counter_verdict(a));
  for (const std::string& caveat : a.caveats) {
    doc.blocks.emplace_back(Paragraph{"warnings", caveat, Paragraph::Style::warning});
  }
  if (a.has_counters) doc.blocks.emplace_back(bounds_table(a));
  if (!a.findings.empty()) doc.blocks.emplace_back(findings_table(a.findings));
  doc.blocks.emplace_back(kernels_table(a));
  if (a.has_counters) {
    doc.blocks.emplace_back(levels_table(a));
    doc.blocks.emplace_back(types_table(a));
    doc.blocks.emplace_back(roofline_of(a));
  }
  doc.blocks.emplace_back(profile_group(answer));
  doc.blocks.emplace_back(import_table("import.dropped", "Left out while reading", answer.import.dropped));
  doc.blocks.emplace_back(import_table("import.repaired", "Mended while reading", answer.import.repaired));
  say_remarks(a, doc);
  append_remarks(doc, answer.notes, {}, explain, {counter_formulas.begin(), counter_formulas.end()});
  return doc;
}

}  // namespace corridor::views
