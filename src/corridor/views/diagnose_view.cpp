// SPDX-License-Identifier: Apache-2.0
// The answer of `corridor diagnose` as a Document.
#include "corridor/views/diagnose_view.h"

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"
#include "corridor/views/levers_view.h"
#include "corridor/views/predict_view.h"
#include "corridor/views/run_view.h"

namespace corridor::views {
namespace {

using app::DiagnoseAnswer;
using diagnose::Comparison;
using diagnose::Diagnosis;
using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::Unit;
using units::print;

constexpr std::size_t levers_on_terminal = 5;

void say(Document& doc, const std::string& key, const std::string& sentence, Paragraph::Style style) {
  if (!sentence.empty()) doc.blocks.push_back(Paragraph{key, sentence, style});
}

/// The largest gain in what was observed: a first token, one user's pace, or the throughput of all.
std::string best_lever(const DiagnoseAnswer& a) {
  const diagnose::Observation& seen = a.seen;
  const bool throughput = seen.output_tok_s || seen.total_tok_s;
  const bool first_token = !throughput && !seen.tpot_s && !seen.tok_s_per_user && (seen.ttft_s || seen.prefill_tok_s);
  for (const lever::LeverResult& lever : a.levers) {
    if (!lever.applies || lever.gain.mid <= 1) continue;
    const bool of_first_token = lever.metric == lever::Metric::first_token;
    const bool only_for_all = lever.id == "batch" || lever.id == "continuous_batching" || lever.id == "replicas";
    if (of_first_token != first_token || (only_for_all && !throughput)) continue;
    return fmt::format("Next change: {} ({}), about {}× in {}, at most {}×.", lever.name, lever::how_to(lever),
                       units::print_number(lever.gain.mid), lever::name(lever.metric),
                       units::print_number(lever.max_gain));
  }
  return "";
}

void add_verdict(const DiagnoseAnswer& a, const Diagnosis& d, Document& doc) {
  say(doc, "verdict.text", d.sentence, Paragraph::Style::verdict);
  if (d.status == diagnose::Status::slow && !d.hypotheses.empty()) {
    const diagnose::Hypothesis& first = d.hypotheses.front();
    say(doc, "verdict.text",
        fmt::format("The model explains {}, {} stay unexplained. {}: {} (+{}). To tell: {}.",
                    print(d.comparison->expected.mid), print(d.unexplained),
                    first.oversized ? "No known cause has this size; the nearest one" : "Best guess", first.cause,
                    print(first.expected), first.how_to_tell),
        Paragraph::Style::plain);
  } else if (!d.remedy.empty()) {
    say(doc, "verdict.text", "What to do: " + d.remedy + ".", Paragraph::Style::plain);
  }
  say(doc, "verdict.text", best_lever(a), Paragraph::Style::plain);
  if (a.seen.meter) say(doc, "verdict.text", diagnose::meter_sentence(*a.seen.meter), Paragraph::Style::plain);
}

FieldGroup verdict_group(const Diagnosis& d) {
  FieldGroup group{"Verdict", {}};
  auto& f = group.fields;
  f.push_back({"verdict.status", "status", text(std::string(diagnose::name(d.status))), ""});
  f.push_back({"verdict.wall", "wall", text(std::string(roofline::name(d.wall))), ""});
  f.push_back({"verdict.sentence", "", text(d.sentence), ""});
  f.push_back({"verdict.remedy", "", text(d.remedy), ""});
  const bool compared = d.comparison.has_value();
  f.push_back({"verdict.fraction_of_limit", compared ? "of what physics allows" : "",
               compared ? share(d.comparison->fraction_of_limit()) : null_value(), ""});
  f.push_back({"verdict.fraction_of_expected", compared ? "of what is expected" : "",
               compared ? share(d.comparison->fraction_of_expected()) : null_value(), ""});
  f.push_back({"verdict.effective_batch", d.effective_batch ? "throughput of a batch of" : "",
               maybe(d.effective_batch, count), ""});
  return group;
}

/// The keys of the comparison without values, for a verdict in which no speed is compared.
FieldGroup no_comparison_group() {
  FieldGroup group;
  for (const char* key :
       {"compared.what", "compared.observed_s", "compared.limit_s", "compared.expected_s.low",
        "compared.expected_s.mid", "compared.expected_s.high", "gap_s.weights", "gap_s.kv", "gap_s.activations",
        "gap_s.compute", "gap_s.launch", "gap_s.communication", "gap_s.host", "gap_s.queue", "gap_s.unexplained"}) {
    group.fields.push_back({key, "", null_value(), ""});
  }
  return group;
}

/// Why a case does not fit, in bytes of one device.
FieldGroup memory_group(const roofline::MemoryFit& m) {
  FieldGroup group{"Memory of one device", {}};
  auto& f = group.fields;
  f.push_back({"memory.needed_bytes", "needed", value(m.needed()), ""});
  f.push_back({"memory.weights_bytes", "weights", value(m.weights), ""});
  f.push_back({"memory.kv_bytes", "KV cache", value(m.kv), ""});
  f.push_back({"memory.activations_bytes", "activations", value(m.activations), ""});
  f.push_back({"memory.reserve_bytes", "reserve", value(m.reserve), "kept by driver and engine"});
  f.push_back({"memory.capacity_bytes", "one device holds", value(m.capacity), units::print_gib(m.capacity)});
  f.push_back({"memory.shortfall_bytes", "short by", value(m.shortfall), ""});
  return group;
}

FieldGroup comparison_group(const Comparison& c) {
  FieldGroup group{"Observed against predicted: " + c.what, {}};
  auto& f = group.fields;
  f.push_back({"compared.what", "", text(c.what), ""});
  f.push_back({"compared.observed_s", "observed", value(c.observed), ""});
  f.push_back({"compared.limit_s", "limit", value(c.limit), ""});
  f.push_back({"compared.expected_s.low", "expected, low", value(c.expected.low), ""});
  f.push_back({"compared.expected_s.mid", "expected", value(c.expected.mid), ""});
  f.push_back({"compared.expected_s.high", "expected, high", value(c.expected.high), ""});
  return group;
}

FieldGroup observed_group(const diagnose::Rates& r) {
  FieldGroup group{"Rates of one device", {}};
  auto& f = group.fields;
  const auto rate = [](double x) { return report::Value{x, Unit::bytes_per_second}; };
  const auto flops = [](double x) { return report::Value{x, Unit::flops_per_second}; };
  const bool any = r.bytes_per_s || r.flop_per_s;  // a line without a number tells a reader nothing
  f.push_back({"observed.bytes_per_s", any ? "bytes a second" : "", maybe(r.bytes_per_s, rate), ""});
  f.push_back({"observed.flop_per_s", any ? "FLOP a second" : "", maybe(r.flop_per_s, flops), ""});
  f.push_back({"observed.mbu_weights", r.mbu_weights ? "MBU, weights alone" : "", maybe(r.mbu_weights, share), ""});
  f.push_back({"observed.mbu_weights_kv", r.mbu_weights_kv ? "MBU, with the KV cache" : "",
               maybe(r.mbu_weights_kv, share), ""});
  f.push_back({"observed.mbu",
               !any            ? ""
               : r.mbu_weights ? "MBU, with activations"
                               : "MBU",
               maybe(r.mbu, share), any ? "of the data sheet's bandwidth" : ""});
  f.push_back({"observed.mfu", any ? "MFU" : "", maybe(r.mfu, share), any ? "of the dense peak" : ""});
  f.push_back({"observed.meter", r.meter ? "meter" : "", maybe(r.meter, share), ""});
  return group;
}

void add_gap(const Diagnosis& d, Document& doc) {
  if (!d.comparison) return;
  const roofline::Budget& b = d.comparison->budget;
  report::StackedBar bar{"gap_s",
                         "Where the observed time goes",
                         Unit::seconds,
                         {{"weights", "weights", b.weights.value()},
                          {"kv", "KV cache", b.kv.value()},
                          {"activations", "activations", b.activations.value()},
                          {"compute", "compute", b.compute.value()},
                          {"launch", "launches", b.launch.value()},
                          {"communication", "communication", b.communication.value()},
                          {"host", "host", b.host.value()},
                          {"queue", "queue", d.queue.value()},
                          {"unexplained", "unexplained", d.unexplained.value()}},
                         std::nullopt};
  doc.blocks.push_back(std::move(bar));
}

void add_hypotheses(const Diagnosis& d, Document& doc) {
  if (d.hypotheses.empty()) return;
  report::Table table;
  table.key = "hypotheses";
  table.title = "What could fill the unexplained time, best fit first";
  table.columns = {{"cause", "cause", Unit::none, true},
                   {"expected_s", "adds", Unit::seconds, false},
                   {"how_to_tell", "how to tell", Unit::none, true},
                   {"wall", "", Unit::none, true}};
  for (const diagnose::Hypothesis& h : d.hypotheses) {
    table.rows.push_back(
        {text(h.cause), value(h.expected), text(h.how_to_tell), text(std::string(roofline::name(h.wall)))});
  }
  doc.blocks.push_back(std::move(table));
}

/// An empty list that is there all the same, so that a reader of the JSON need not ask.
void keep_key(Document& doc, const std::string& key, bool empty) {
  if (empty) doc.blocks.push_back(report::Table{key, "", {}, {}, 0});
}

void add_lists(const DiagnoseAnswer& a, Document& doc) {
  keep_key(doc, "understood", a.understood.empty());
  keep_key(doc, "ignored", a.ignored.empty());
  keep_key(doc, "hypotheses", !a.diagnosis || a.diagnosis->hypotheses.empty());
  keep_key(doc, "levers", a.levers.empty());
  for (const std::string& line : a.understood)
    doc.blocks.push_back(Paragraph{"understood", line, Paragraph::Style::detail});
  for (const std::string& line : a.ignored) doc.blocks.push_back(Paragraph{"ignored", line, Paragraph::Style::detail});
  for (const std::string& line : a.remarks) doc.blocks.push_back(Paragraph{"notes", line, Paragraph::Style::detail});
  if (!a.predicted) return;
  for (const std::string& line : a.predicted->notes)
    doc.blocks.push_back(Paragraph{"notes", line, Paragraph::Style::detail});
  for (const std::string& line : a.predicted->prediction.assumptions) {
    doc.blocks.push_back(Paragraph{"assumptions", line, Paragraph::Style::detail});
  }
  for (const app::DefaultUsed& used : a.predicted->defaults) {
    doc.blocks.push_back(Paragraph{"assumptions", fmt::format("{} taken as {} ({})", used.name, used.value, used.why),
                                   Paragraph::Style::detail});
  }
}

Document rates_document(const DiagnoseAnswer& a) {
  const diagnose::RateDiagnosis& r = *a.rates;
  Document doc;
  doc.schema = "corridor/diagnosis/1";
  doc.title = "Two rates on " + a.device.name;
  say(doc, "verdict.text", r.sentence, Paragraph::Style::verdict);
  for (const std::string& remedy : r.remedies) say(doc, "verdict.remedies", remedy, Paragraph::Style::detail);
  if (a.seen.meter) say(doc, "verdict.text", diagnose::meter_sentence(*a.seen.meter), Paragraph::Style::plain);
  const bool low = r.outcome == diagnose::RateDiagnosis::Outcome::both_low;
  const bool memory = r.outcome == diagnose::RateDiagnosis::Outcome::memory;
  FieldGroup group{"Verdict", {}};
  group.fields.push_back({"verdict.status", "status", text(low ? "slow" : "healthy"), ""});
  group.fields.push_back({"verdict.wall", "wall", text(low ? "overhead" : memory ? "memory" : "compute"), ""});
  group.fields.push_back({"verdict.sentence", "", text(r.sentence), ""});
  group.fields.push_back({"verdict.intensity_flop_per_byte", "arithmetic intensity",
                          value(units::FlopsPerByte{r.intensity_flop_per_byte}), ""});
  group.fields.push_back(
      {"verdict.ridge_flop_per_byte", "ridge point", value(units::FlopsPerByte{r.ridge_flop_per_byte}), ""});
  doc.blocks.push_back(std::move(group));
  doc.blocks.push_back(observed_group(r.rates));
  add_lists(a, doc);
  return doc;
}

}  // namespace

Document diagnose_view(const DiagnoseAnswer& a, bool explain) {
  if (a.metrics_alone) return metrics_document(a);
  if (a.rates) return rates_document(a);
  const Diagnosis& d = *a.diagnosis;
  const app::PredictAnswer& p = *a.predicted;
  Document doc;
  doc.schema = "corridor/diagnosis/1";
  doc.title = fmt::format("{}, {}, on {} × {}, {}", p.model.name, p.weights_name, p.scenario.parallelism.devices(),
                          a.device.name, p.engine.id);
  add_verdict(a, d, doc);
  doc.blocks.push_back(verdict_group(d));
  if (d.status == diagnose::Status::does_not_fit) doc.blocks.push_back(memory_group(p.prediction.memory));
  for (const std::string& change : a.fits_with)
    doc.blocks.push_back(Paragraph{"verdict.fits_with", change, Paragraph::Style::detail});
  doc.blocks.push_back(d.comparison ? comparison_group(*d.comparison) : no_comparison_group());
  add_gap(d, doc);
  doc.blocks.push_back(observed_group(d.rates));
  if (a.ladder) add_ladder(*a.ladder, doc);
  if (a.metrics) add_metrics(*a.metrics, &a.device, doc);
  add_hypotheses(d, doc);
  if (!a.levers.empty()) doc.blocks.push_back(levers_table(a.levers, levers_on_terminal));
  if (explain) {
    for (Paragraph& paragraph : explain_prediction(p)) doc.blocks.push_back(std::move(paragraph));
  }
  add_lists(a, doc);
  return doc;
}

}  // namespace corridor::views
