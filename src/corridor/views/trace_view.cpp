// SPDX-License-Identifier: Apache-2.0
// A recorded run as a Document.
#include "corridor/views/trace_view.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"
#include "corridor/views/findings_table.h"
#include "corridor/views/import_table.h"
#include "corridor/views/trace_comparison_view.h"

namespace corridor::views {
namespace {

using app::TraceAnswer;
using diagnose::Finding;
using diagnose::TraceAnalysis;
using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using units::print;

constexpr std::size_t shapes_on_terminal = 12;
constexpr std::size_t longest_name = 40;      // bytes of a kernel's name for people
constexpr std::size_t most_looked_at = 4096;  // bytes of a name that may be made of template arguments

report::Value seconds(double s) {
  return {s, Unit::seconds};
}
report::Value rate(double x) {
  return {x, Unit::bytes_per_second};
}
report::Value flop_rate(double x) {
  return {x, Unit::flops_per_second};
}

/// At most `longest_name` bytes, not cut inside a character.
std::string cut_name(std::string_view name) {
  if (name.size() <= longest_name) return std::string(name);
  std::size_t cut = longest_name - 1;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0U) == 0x80U) --cut;
  return std::string(name.substr(0, cut)) + "…";
}

/// "void at::native::(anonymous namespace)::kernel<4, f(float)>(int)" → "kernel": what stands before the arguments,
/// without its name spaces. "aten::mm" and names that are no symbols stay whole.
std::string short_name(const std::string& name) {
  std::string text = name.substr(0, most_looked_at);
  if (text.find('<') == std::string::npos && text.find('(') == std::string::npos) return cut_name(text);
  for (const std::string_view noise : {"void ", "(anonymous namespace)::"}) {
    for (std::size_t at = text.find(noise); at != std::string::npos; at = text.find(noise))
      text.erase(at, noise.size());
  }
  std::string head = text.substr(0, text.find_first_of("<("));
  if (head.find(' ') != std::string::npos || head.empty()) return cut_name(text);  // "Memset (Device)"
  const std::size_t colons = head.rfind("::");
  if (colons != std::string::npos && colons + 2 < head.size()) head.erase(0, colons + 2);
  return cut_name(head);
}

std::string gain_words(const Finding& f) {
  std::string out = print(units::Seconds{f.gain_s});
  if (f.gain_tok_s) out += fmt::format(", {} tok/s", units::print_number(*f.gain_tok_s));
  return out;
}

void add_verdict(const TraceAnswer& a, Document& doc) {
  const auto say = [&](std::string sentence, Paragraph::Style style) {
    doc.blocks.emplace_back(Paragraph{"verdict.text", std::move(sentence), style});
  };
  const TraceAnalysis& t = a.analysis;
  say(t.sentence + ".", Paragraph::Style::verdict);
  if (!t.findings.empty()) {
    const Finding& f = t.findings.front();
    say(fmt::format("Largest loss: {} ({}). Cause: {}.", f.title, f.evidence, f.cause), Paragraph::Style::plain);
    say(fmt::format("Next change: {}. It gains at most {}.", f.lever, gain_words(f)), Paragraph::Style::plain);
  }
  if (!a.ranks.empty()) {
    const auto [least, most] = std::minmax_element(
        a.ranks.begin(), a.ranks.end(), [](const auto& x, const auto& y) { return x.own_work_s() < y.own_work_s(); });
    say(fmt::format("Of {} files this one has the most GPU work of its own, {} where the least has {}: the others wait "
                    "for it.",
                    a.ranks.size(), units::print(units::Seconds{most->own_work_s()}),
                    units::print(units::Seconds{least->own_work_s()})),
        Paragraph::Style::plain);
  }
}

FieldGroup verdict_group(const TraceAnswer& a) {
  const TraceAnalysis& t = a.analysis;
  FieldGroup group{"Verdict", {}};
  auto& f = group.fields;
  f.push_back({"verdict.wall", "wall", text(std::string(name(t.wall))), ""});
  f.push_back({"verdict.wall_share", "its share of the time", share(t.wall_share), ""});
  f.push_back({"verdict.sentence", "", text(t.sentence), ""});
  return group;
}

FieldGroup trace_group(const TraceAnswer& a) {
  const TraceAnalysis& t = a.analysis;
  const auto whole = [](const std::optional<int>& x) { return x ? count(*x) : null_value(); };
  const auto maybe_text = [](const std::string& x) { return x.empty() ? null_value() : text(x); };
  FieldGroup group{"The trace", {}};
  auto& f = group.fields;
  f.push_back({"trace.file", "file", text(a.file), ""});
  f.push_back({"trace.format", "format", text(a.format), a.producer});
  f.push_back({"trace.rank", a.rank ? "rank" : "", whole(a.rank), ""});
  f.push_back({"trace.world_size", a.world_size ? "ranks in the run" : "", whole(a.world_size), ""});
  f.push_back({"trace.device_name", "", maybe_text(a.traced_device), ""});
  f.push_back({"device.id", "roofs of", a.device ? text(a.device->id) : null_value(), ""});
  f.push_back({"model.name", "model", maybe_text(a.model), ""});
  f.push_back({"trace.gpu", "GPU", count(t.device), fmt::format("of {} with work in the trace", t.devices)});
  f.push_back({"trace.gpus", "", count(static_cast<double>(t.devices)), ""});
  f.push_back({"trace.span_s", "first to last GPU work", seconds(t.span_s), ""});
  f.push_back({"trace.gpu_busy_s", "GPU busy", seconds(t.gpu_busy_s), ""});
  f.push_back({"trace.busy_fraction", "busy share", share(t.busy_fraction()), ""});
  f.push_back({"trace.largest_gap_s", "longest gap", seconds(t.idle.largest_gap_s), ""});
  f.push_back({"trace.kernel_time_s", "", seconds(t.kernel_time_s), ""});
  f.push_back({"trace.kernels", "kernels", count(t.kernels), ""});
  f.push_back({"trace.launches", "launches", count(t.launches), ""});
  return group;
}

report::StackedBar time_bar(const TraceAnalysis& t) {
  return {"trace.time_s",
          "Where the time goes",
          Unit::seconds,
          {{"busy", "GPU busy", t.gpu_busy_s},
           {"host_wait", "host had not launched", t.idle.host_wait_s},
           {"launch_gap", "launched, not begun", t.idle.launch_gap_s},
           {"synchronisation", "host waited for the GPU", t.idle.synchronisation_s},
           {"data_wait", "behind a copy", t.idle.data_wait_s}},
          std::nullopt};
}

Table classes_table(const TraceAnalysis& t) {
  Table table{"classes",
              "GPU time by class",
              {{"class", "class", Unit::none, true},
               {"count", "executions", Unit::count},
               {"total_s", "time", Unit::seconds},
               {"share", "share", Unit::percent},
               {"bytes_per_s", "bytes/s", Unit::bytes_per_second},
               {"flop_per_s", "FLOP/s", Unit::flops_per_second}},
              {},
              0};
  for (const diagnose::ClassTotal& c : t.classes) {
    const auto per_s = [](const std::optional<double>& x, double s) {
      return x && s > 0 ? std::optional(*x / s) : std::nullopt;
    };
    table.rows.push_back({text(std::string(name(c.kernel_class))), count(c.count), seconds(c.total_s),
                          share(t.kernel_time_s > 0 ? c.total_s / t.kernel_time_s : 0),
                          maybe(per_s(c.bytes, c.bytes_time_s), rate),
                          maybe(per_s(c.flops, c.flops_time_s), flop_rate)});
  }
  return table;
}

Table shapes_table(const TraceAnalysis& t) {
  Table table{"shapes",
              "Operations and shapes by time",
              {{"label", "operation and shape", Unit::none, true},
               {"operation", "", Unit::none},
               {"shape", "", Unit::none},
               {"kernel", "", Unit::none},
               {"class", "", Unit::none},
               {"explained", "", Unit::none},
               {"count", "", Unit::count},
               {"total_s", "time", Unit::seconds},
               {"share", "", Unit::percent},
               {"flops", "", Unit::flops},
               {"bytes", "", Unit::bytes},
               {"bytes_per_s", "bytes/s", Unit::bytes_per_second},
               {"flop_per_s", "FLOP/s", Unit::flops_per_second},
               {"fraction_of_roof", "of roof", Unit::percent},
               {"bound", "bound", Unit::none, true},
               {"remark", "", Unit::none}},
              {},
              shapes_on_terminal};
  for (const diagnose::ShapeRow& r : t.shapes) {
    const std::string label = short_name(r.operation) + (r.shape.empty() ? "" : " " + r.shape);
    table.rows.push_back({text(label), text(r.operation), text(r.shape), text(r.kernel),
                          text(std::string(name(r.kernel_class))), text(std::string(name(r.explained))), count(r.count),
                          seconds(r.total_s), share(t.kernel_time_s > 0 ? r.total_s / t.kernel_time_s : 0),
                          maybe(r.flops,
                                [](double x) {
                                  return report::Value{x, Unit::flops};
                                }),
                          maybe(r.bytes,
                                [](double x) {
                                  return report::Value{x, Unit::bytes};
                                }),
                          maybe(r.bytes_per_s(), rate), maybe(r.flop_per_s(), flop_rate),
                          maybe(r.fraction_of_roof, share), text(std::string(name(r.bound))), text(r.remark)});
  }
  return table;
}

/// Remarks of the rows that the terminal shows.
void add_remarks(const TraceAnalysis& t, Document& doc) {
  for (std::size_t i = 0; i < std::min(shapes_on_terminal, t.shapes.size()); ++i) {
    const diagnose::ShapeRow& r = t.shapes[i];
    if (r.remark.empty()) continue;
    const std::string shape = r.shape.empty() ? "" : " " + r.shape;
    doc.blocks.emplace_back(
        Paragraph{"notes", short_name(r.operation) + shape + ": " + r.remark, Paragraph::Style::detail});
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Medians over the steps that did GPU work; no fields when none did.
FieldGroup step_group(const TraceAnalysis& t) {
  FieldGroup group{"Steps", {}};
  std::vector<double> spans, busy, kernels, launches;
  for (const diagnose::StepRow& s : t.steps) {
    if (s.kernels <= 0) continue;
    spans.push_back(s.span_s);
    busy.push_back(s.busy_s);
    kernels.push_back(s.kernels);
    launches.push_back(s.launches);
  }
  if (spans.empty()) return group;
  auto& f = group.fields;
  f.push_back({"step.count", "with GPU work", count(static_cast<double>(spans.size())), ""});
  f.push_back({"step.median_span_s", "median time on the GPU", seconds(median(spans)), ""});
  f.push_back({"step.median_busy_s", "median busy", seconds(median(busy)), ""});
  f.push_back({"step.longest_span_s", "longest", seconds(*std::max_element(spans.begin(), spans.end())), ""});
  f.push_back({"step.median_kernels", "median kernels", count(median(kernels)), ""});
  f.push_back({"step.median_launches", "median launches", count(median(launches)), ""});
  return group;
}

Table steps_table(const TraceAnalysis& t) {
  Table table{"steps",
              "",
              {{"name", ""},
               {"start_s", "", Unit::seconds},
               {"span_s", "", Unit::seconds},
               {"busy_s", "", Unit::seconds},
               {"host_s", "", Unit::seconds},
               {"kernels", "", Unit::count},
               {"launches", "", Unit::count},
               {"prefill_tokens", "", Unit::tokens},
               {"decode_sequences", "", Unit::count},
               {"kv_tokens", "", Unit::tokens}},
              {},
              0};
  for (const diagnose::StepRow& s : t.steps) {
    table.rows.push_back({text(s.name), seconds(s.start_s), seconds(s.span_s), seconds(s.busy_s), seconds(s.host_s),
                          count(s.kernels), count(s.launches), maybe(s.prefill_tokens, tokens),
                          maybe(s.decode_sequences, count), maybe(s.kv_tokens, tokens)});
  }
  return table;
}

/// Nothing without meters.
void add_meters(const TraceAnalysis& t, Document& doc) {
  if (!t.meters) return;
  Table table{"meters",
              "The chip's own meters, of their peak",
              {{"meter", "meter", Unit::none, true},
               {"busy_mean", "mean while busy", Unit::percent},
               {"span_mean", "mean", Unit::percent},
               {"highest", "highest", Unit::percent}},
              {},
              0};
  for (const diagnose::MeterReading& m : t.meters->readings) {
    table.rows.push_back({text(m.name), maybe(m.busy_mean, share), share(m.span_mean), share(m.highest)});
  }
  doc.blocks.emplace_back(std::move(table));
  FieldGroup group{"", {}};
  group.fields.push_back({"meter.samples", "samples", count(t.meters->samples), ""});
  group.fields.push_back({"meter.coverage", "busy time they cover", share(t.meters->coverage), ""});
  doc.blocks.emplace_back(std::move(group));
}

FieldGroup coverage_group(const diagnose::Coverage& c) {
  FieldGroup group{"What explains the GPU time", {}};
  auto& f = group.fields;
  f.push_back({"coverage.operator", "shapes of operations", share(c.by_operator), ""});
  f.push_back({"coverage.annotation", "annotations and the model", share(c.by_annotation), ""});
  f.push_back({"coverage.name", "the kernel's name alone", share(c.by_name), "class only, no bytes"});
  f.push_back({"coverage.none", "nothing", share(c.none), ""});
  return group;
}

Table ranks_table(const TraceAnswer& a) {
  Table table{"ranks",
              "The files of the run",
              {{"file", "file", Unit::none, true},
               {"rank", "rank", Unit::count},
               {"span_s", "span", Unit::seconds},
               {"gpu_busy_s", "busy", Unit::seconds},
               {"collective_s", "collectives", Unit::seconds},
               {"own_work_s", "own work", Unit::seconds},
               {"kernels", "", Unit::count},
               {"launches", "", Unit::count},
               {"sentence", "", Unit::none}},
              {},
              0};
  for (const app::TraceRank& r : a.ranks) {
    table.rows.push_back({text(r.file), r.rank ? count(*r.rank) : null_value(), seconds(r.span_s),
                          seconds(r.gpu_busy_s), seconds(r.collective_s), seconds(r.own_work_s()), count(r.kernels),
                          count(r.launches), text(r.sentence)});
  }
  return table;
}

constexpr std::array<const char*, 7> formulas = {
    "GPU busy = union of the intervals of all GPU work of the device, overlaps counted once",
    "span = last GPU end − first GPU start; busy share = GPU busy ÷ span",
    "idle time is judged by the launch of the work that ends it: not yet launched = the host is late (behind a "
    "waiting call: synchronisation); launched before the GPU ran dry = launch gap, or data wait directly behind a copy",
    "product: FLOP = 2·m·n·k, bytes = both inputs and the output once; passes: inputs and outputs once",
    "attention: FLOP = 2·heads·(d_qk + d_v) for each visible pair of query and key; a causal query sees the keys up to "
    "its own place",
    "fraction of roof = max(bytes ÷ bandwidth, FLOP ÷ dense peak) ÷ time, with the data sheet's peaks",
    "a gain is an upper bound: the lost time of the finding, never more than the time it touches"};

}  // namespace

Document trace_view(const TraceAnswer& a, bool explain, const app::TraceComparison* comparison) {
  const TraceAnalysis& t = a.analysis;
  Document doc;
  doc.schema = "corridor/diagnosis/1";
  doc.title = fmt::format("{}, a recorded run{}", a.file,
                          a.device ? " on " + a.device->name : std::string(" on a device that is not known"));
  add_verdict(a, doc);
  if (comparison != nullptr) {
    doc.blocks.emplace_back(Paragraph{"verdict.text", comparison->sentence + ".", Paragraph::Style::plain});
  }
  doc.blocks.emplace_back(verdict_group(a));
  for (const std::string& caveat : t.caveats) {
    doc.blocks.emplace_back(Paragraph{"warnings", caveat, Paragraph::Style::warning});
  }
  if (comparison != nullptr) add_comparison(*comparison, doc);
  doc.blocks.emplace_back(time_bar(t));
  if (!t.findings.empty()) doc.blocks.emplace_back(findings_table(t.findings));
  add_meters(t, doc);
  doc.blocks.emplace_back(classes_table(t));
  doc.blocks.emplace_back(shapes_table(t));
  doc.blocks.emplace_back(step_group(t));
  doc.blocks.emplace_back(steps_table(t));
  if (!a.ranks.empty()) doc.blocks.emplace_back(ranks_table(a));
  doc.blocks.emplace_back(coverage_group(t.coverage));
  doc.blocks.emplace_back(trace_group(a));
  doc.blocks.emplace_back(import_table("import.dropped", "Left out while reading", a.import.dropped));
  doc.blocks.emplace_back(import_table("import.repaired", "Mended while reading", a.import.repaired));
  add_remarks(t, doc);
  append_remarks(doc, a.notes, {}, explain, {formulas.begin(), formulas.end()});
  return doc;
}

}  // namespace corridor::views
