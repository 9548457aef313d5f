// SPDX-License-Identifier: Apache-2.0
// Rows for what is known, null in JSON for what is not.
#include "corridor/views/run_view.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/diagnose_view.h"
#include "corridor/views/fields.h"
#include "corridor/views/trace_view.h"

namespace corridor::views {
namespace {

using profile::GpuActivity;
using profile::MetricSpread;
using profile::ServerMetrics;
using report::Document;
using report::Field;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using report::Value;

Value metric_value(const std::optional<double>& x, Unit unit) {
  if (!x) return null_value();
  return unit == Unit::count || unit == Unit::tokens ? whole_or_not(*x, unit) : Value{*x, unit};
}

/// A field that a terminal shows only when it is known.
Field known_field(std::string key, const char* label, const std::optional<double>& x, Unit unit,
                  std::string note = "") {
  return {std::move(key), x ? label : "", metric_value(x, unit), x ? std::move(note) : ""};
}

FieldGroup load_group(const ServerMetrics& m, const hardware::Device* device) {
  FieldGroup group{m.server.empty() ? "What the metrics tell" : "What the metrics of " + m.server + " tell", {}};
  auto& f = group.fields;
  f.push_back({"metrics.server", "", m.server.empty() ? null_value() : text(m.server), ""});
  f.push_back(known_field("metrics.seconds", "time between the pages", m.seconds, Unit::seconds));
  f.push_back(known_field("metrics.running", "requests running", m.running, Unit::count));
  f.push_back(known_field("metrics.waiting", "requests waiting", m.waiting, Unit::count));
  f.push_back(known_field("metrics.kv_usage", "KV cache in use", m.kv_usage, Unit::percent));
  f.push_back(known_field("metrics.kv_pool_tokens", "KV cache holds", m.kv_pool_tokens, Unit::tokens));
  f.push_back(known_field("metrics.decode_kv_tokens", "cached tokens being decoded", m.decode_kv_tokens, Unit::tokens));
  f.push_back(known_field("metrics.generation_tok_s", "generated", m.generation_tok_s, Unit::tokens_per_second));
  f.push_back(known_field("metrics.prompt_tok_s", "prompts", m.prompt_tok_s, Unit::tokens_per_second));
  f.push_back(known_field("metrics.request_per_s", "requests a second", m.request_per_s, Unit::none));
  f.push_back(known_field("metrics.steps_per_s", "steps a second", m.steps_per_s, Unit::none));
  f.push_back(known_field("metrics.preemptions", "preemptions", m.preemptions, Unit::count));
  f.push_back(
      known_field("metrics.prefix_hit_rate", "prompt tokens from the prefix cache", m.prefix_hit_rate, Unit::percent));
  f.push_back(known_field("metrics.accept_length", "tokens a round of speculation", m.accept_length, Unit::none));
  f.push_back(known_field("metrics.acceptance", "draft tokens kept", m.acceptance, Unit::percent));
  const auto share_of_peak = [&](const std::optional<double>& bytes_per_s) -> std::string {
    if (!device || !device->memory_bandwidth || !bytes_per_s) return "estimated by the engine, one GPU";
    return fmt::format("estimated by the engine, one GPU: {:.0f} % of the data sheet",
                       *bytes_per_s / device->memory_bandwidth->value.value() * 100);
  };
  f.push_back(known_field("metrics.read_bytes_per_s", "reads", m.read_bytes_per_s, Unit::bytes_per_second,
                          share_of_peak(m.read_bytes_per_s)));
  f.push_back(known_field("metrics.write_bytes_per_s", "writes", m.write_bytes_per_s, Unit::bytes_per_second));
  f.push_back(known_field("metrics.flop_per_s", "arithmetic", m.flop_per_s, Unit::flops_per_second));
  return group;
}

struct NamedSpread {
  const char* name;
  MetricSpread ServerMetrics::*spread;
  Unit unit;
};
constexpr std::array<NamedSpread, 11> metric_spreads{{{"time to first token", &ServerMetrics::ttft_s, Unit::seconds},
                                                      {"time per output token", &ServerMetrics::tpot_s, Unit::seconds},
                                                      {"gap between chunks", &ServerMetrics::itl_s, Unit::seconds},
                                                      {"wait in the queue", &ServerMetrics::queue_s, Unit::seconds},
                                                      {"prefill", &ServerMetrics::prefill_s, Unit::seconds},
                                                      {"decode", &ServerMetrics::decode_s, Unit::seconds},
                                                      {"decode step", &ServerMetrics::decode_step_s, Unit::seconds},
                                                      {"whole request", &ServerMetrics::e2e_s, Unit::seconds},
                                                      {"prompt", &ServerMetrics::input_tokens, Unit::tokens},
                                                      {"answer", &ServerMetrics::output_tokens, Unit::tokens},
                                                      {"one step", &ServerMetrics::step_tokens, Unit::tokens}}};

Table spreads_table(const ServerMetrics& m) {
  Table table{"metrics.spreads",
              "Over requests, gaps and steps",
              {{"what", "", Unit::none, true},
               {"unit", "", Unit::none},
               {"count", "count", Unit::count},
               {"mean", "mean", Unit::none},
               {"p50", "50 %", Unit::none},
               {"p90", "90 %", Unit::none},
               {"p99", "99 %", Unit::none}},
              {},
              0};
  for (const NamedSpread& one : metric_spreads) {
    const MetricSpread& spread = m.*one.spread;
    if (!spread.stated()) continue;
    const bool time = one.unit == Unit::seconds;
    const auto cell = [&](const std::optional<double>& x) { return x ? Value{*x, one.unit} : null_value(); };
    table.rows.push_back({text(one.name), text(time ? "s" : "tokens"), count(spread.count), cell(spread.mean),
                          cell(spread.p50), cell(spread.p90), cell(spread.p99)});
  }
  table.columns[0].label = "quantity";
  return table;
}

Table gpus_table(const ServerMetrics& m) {
  Table table{"metrics.gpus",
              "GPUs, as DCGM tells: shares of the sampled time",
              {{"gpu", "GPU", Unit::none, true},
               {"name", "", Unit::none, true},
               {"dram_active", "memory", Unit::percent},
               {"tensor_active", "tensor", Unit::percent},
               {"sm_active", "SM", Unit::percent},
               {"sm_occupancy", "occupancy", Unit::percent},
               {"graphics_active", "", Unit::percent},
               {"utilization", "meter", Unit::percent},
               {"power_w", "power", Unit::watts},
               {"sm_clock_hz", "clock", Unit::hertz},
               {"memory_used_bytes", "", Unit::bytes}},
              {},
              16};
  for (const GpuActivity& g : m.gpus) {
    table.rows.push_back({text(g.gpu), text(g.name), metric_value(g.dram_active, Unit::percent),
                          metric_value(g.tensor_active, Unit::percent), metric_value(g.sm_active, Unit::percent),
                          metric_value(g.sm_occupancy, Unit::percent), metric_value(g.graphics_active, Unit::percent),
                          metric_value(g.utilization, Unit::percent), metric_value(g.power_w, Unit::watts),
                          metric_value(g.sm_clock_hz, Unit::hertz), metric_value(g.memory_used_bytes, Unit::bytes)});
  }
  return table;
}

void append_lines(const char* key, const std::vector<std::string>& lines, Document& doc) {
  for (const std::string& line : lines) doc.blocks.emplace_back(Paragraph{key, line, Paragraph::Style::detail});
}

/// The same block under "measured.": two verdicts stand in one document.
void move_under_measured(report::Block& block) {
  const auto move = [](std::string& key) {
    for (const char* shared : {"verdict.", "compared.", "observed."}) {
      if (key.starts_with(shared)) key.insert(0, "measured.");
    }
  };
  if (auto* group = std::get_if<FieldGroup>(&block)) {
    for (Field& field : group->fields) move(field.key);
  } else if (auto* paragraph = std::get_if<Paragraph>(&block)) {
    move(paragraph->key);
    // The trace's verdict leads; this one follows as a sentence.
    if (paragraph->style == Paragraph::Style::verdict) paragraph->style = Paragraph::Style::plain;
  }
}

}  // namespace

void add_metrics(const ServerMetrics& m, const hardware::Device* device, Document& doc) {
  if (!m.server.empty()) {
    doc.blocks.emplace_back(load_group(m, device));
    doc.blocks.emplace_back(spreads_table(m));
  }
  if (!m.gpus.empty()) doc.blocks.emplace_back(gpus_table(m));
}

void add_ladder(const app::ResultLadder& ladder, Document& doc) {
  Table table{"results",
              "The results side by side: shares of one device's peaks",
              {{"test", "test", Unit::none, true},
               {"line", "", Unit::count},
               {"depth", "", Unit::tokens},
               {"context", "", Unit::tokens},
               {"sequences", "", Unit::count},
               {"tok_s", "tok/s", Unit::tokens_per_second},
               {"step_s", "step", Unit::seconds},
               {"weights_bytes", "", Unit::bytes},
               {"kv_bytes", "", Unit::bytes},
               {"activations_bytes", "", Unit::bytes},
               {"mbu_weights", "MBU weights", Unit::percent},
               {"mbu_weights_kv", "+ KV", Unit::percent},
               {"mbu", "+ activations", Unit::percent},
               {"mfu", "MFU", Unit::percent}},
              {},
              24};
  for (const app::LadderRow& r : ladder.rows) {
    const auto bytes = [&](double x) { return r.prompt ? null_value() : value(units::Bytes{x}); };
    table.rows.push_back({text(r.test), count(static_cast<double>(r.line)), tokens(r.depth), tokens(r.context),
                          count(r.sequences), tokens_per_second(r.tok_s), value(units::Seconds{r.step_s}),
                          bytes(r.weights_bytes), bytes(r.kv_bytes), bytes(r.activation_bytes),
                          metric_value(r.mbu_weights, Unit::percent), metric_value(r.mbu_weights_kv, Unit::percent),
                          metric_value(r.mbu, Unit::percent), metric_value(r.mfu, Unit::percent)});
  }
  doc.blocks.emplace_back(std::move(table));
  if (!ladder.sentence.empty())
    doc.blocks.emplace_back(Paragraph{"results_text", ladder.sentence, Paragraph::Style::plain});
  append_lines("notes", ladder.notes, doc);
}

Document metrics_document(const app::DiagnoseAnswer& a) {
  const app::MetricsVerdict& v = *a.metrics_alone;
  const ServerMetrics& m = *a.metrics;
  Document doc;
  doc.schema = "corridor/diagnosis/1";
  doc.title = fmt::format("Metrics of {}{}", m.server.empty() ? "GPUs" : m.server,
                          a.device.name.empty() ? "" : " on " + a.device.name);
  doc.blocks.emplace_back(Paragraph{"verdict.text", v.sentence.empty() ? "The metrics alone tell no wall." : v.sentence,
                                    Paragraph::Style::verdict});
  if (!v.remedy.empty())
    doc.blocks.emplace_back(Paragraph{"verdict.text", "What to do: " + v.remedy + ".", Paragraph::Style::plain});
  FieldGroup group{"Verdict", {}};
  group.fields.push_back(
      {"verdict.status", v.status.empty() ? "" : "status", v.status.empty() ? null_value() : text(v.status), ""});
  group.fields.push_back({"verdict.wall", v.wall.empty() ? "" : "wall", text(v.wall.empty() ? "unknown" : v.wall), ""});
  group.fields.push_back({"verdict.sentence", "", text(v.sentence), ""});
  group.fields.push_back({"verdict.remedy", "", text(v.remedy), ""});
  doc.blocks.emplace_back(std::move(group));
  add_metrics(m, a.device.name.empty() ? nullptr : &a.device, doc);
  append_lines("understood", a.understood, doc);
  append_lines("ignored", a.ignored, doc);
  append_lines("notes", a.remarks, doc);
  return doc;
}

Document run_view(const app::RunAnswer& a, bool explain) {
  Document doc = trace_view(a.trace, explain);
  if (a.measured) {
    Document measured = a.measured->metrics_alone ? metrics_document(*a.measured) : diagnose_view(*a.measured);
    doc.blocks.emplace_back(
        Paragraph{"measured.title", "The observed speed: " + measured.title, Paragraph::Style::plain});
    for (report::Block& block : measured.blocks) {
      move_under_measured(block);
      doc.blocks.push_back(std::move(block));
    }
  }
  append_lines("understood", a.understood, doc);
  append_lines("ignored", a.ignored, doc);
  append_lines("notes", a.remarks, doc);
  return doc;
}

}  // namespace corridor::views
