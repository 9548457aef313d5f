// SPDX-License-Identifier: Apache-2.0
// The answer of `corridor predict` as a Document.
#include "corridor/views/predict_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"
#include "corridor/views/levers_view.h"

namespace corridor::views {
namespace {

using app::PredictAnswer;
using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::StackedBar;
using roofline::Budget;
using roofline::DecodePrediction;
using roofline::MemoryFit;
using roofline::PrefillPrediction;
using roofline::Wall;
using units::print;
using units::print_number;

constexpr std::size_t terminal_operations = 40;
constexpr std::size_t terminal_levers = 5;

/// "tp 4, pp 2"; "one device" when nothing is cut.
std::string layout_text(const graph::Parallelism& p) {
  std::string layout;
  for (const auto& [name, n] : {std::pair{"tp", p.tp}, {"pp", p.pp}, {"ep", p.ep}, {"dp", p.dp}}) {
    if (n > 1) layout += fmt::format("{}{} {}", layout.empty() ? "" : ", ", name, n);
  }
  return layout.empty() ? "one device" : layout;
}

std::string devices_text(const PredictAnswer& a) {
  const graph::Parallelism& p = a.scenario.parallelism;
  std::string text = fmt::format("{} × {}", p.devices(), a.device.name);
  const bool cut = p.tp > 1 || p.pp > 1 || p.ep > 1 || p.dp > 1;
  return cut ? text + " (" + layout_text(p) + ")" : text;
}

double users(const PredictAnswer& a) {
  return a.prediction.decode.sequences * static_cast<double>(a.scenario.parallelism.dp);
}

double per_user(const DecodePrediction& d, units::Seconds step) {
  return 1 / d.tpot_s(step);
}

std::string wall_sentence(Wall wall) {
  switch (wall) {
    case Wall::memory:
      return "Memory wall: most of the time goes into reading bytes from main memory";
    case Wall::compute:
      return "Compute wall: most of the time goes into arithmetic";
    case Wall::overhead:
      return "Overhead wall: most of the time goes into launches and the host, not into the model";
    case Wall::interconnect:
      return "Interconnect wall: most of the time goes into transfers between devices";
  }
  return "";
}

void add_fit_verdict(const PredictAnswer& a, Document& doc) {
  const MemoryFit& m = a.prediction.memory;
  if (m.fits) return;
  std::string text = fmt::format("Does not fit: each device needs {} ({} of it weights) and has {}: {} short.",
                                 print(m.needed()), print(m.weights), print(m.capacity), print(m.shortfall));
  text += m.devices_needed > 0
              ? fmt::format(" {} of these devices hold it ({}). The speeds below assume that it did fit.",
                            m.devices_needed, layout_text(m.layout_needed))
              : " Not even 4,096 of these devices hold it.";
  doc.blocks.push_back(Paragraph{"verdict", text, Paragraph::Style::warning});
}

/// With other requests around, a prompt also waits behind theirs.
std::string under_load(const PredictAnswer& a) {
  const PrefillPrediction& p = a.prediction.prefill;
  if (p.queue.value() <= 0) return "";
  return fmt::format(" With the other requests ahead of it: {} ({} to {}).", print(p.first_token.mid),
                     print(p.first_token.low), print(p.first_token.high));
}

void add_verdict(const PredictAnswer& a, Document& doc) {
  add_fit_verdict(a, doc);
  const DecodePrediction& d = a.prediction.decode;
  const roofline::WallShares& s = d.shares;
  doc.blocks.push_back(Paragraph{
      "verdict",
      fmt::format("{} (memory {:.0f} %, compute {:.0f} %, overhead {:.0f} %, interconnect {:.0f} %).",
                  wall_sentence(d.wall), s.memory * 100, s.compute * 100, s.overhead * 100, s.interconnect * 100),
      Paragraph::Style::verdict});
  doc.blocks.push_back(Paragraph{
      "verdict",
      fmt::format(
          "Physics allows {} tok/s per user ({} a token); a good engine reaches about {} ({} to {}), {} in all.",
          print_number(per_user(d, d.limit)), print(units::Seconds{d.tpot_s(d.limit)}),
          print_number(per_user(d, d.expected.mid)), print_number(per_user(d, d.expected.high)),
          print_number(per_user(d, d.expected.low)),
          report::print(tokens_per_second(users(a) * per_user(d, d.expected.mid)))),
      Paragraph::Style::plain});
  doc.blocks.push_back(
      Paragraph{"verdict",
                fmt::format("First token of {} prompt tokens: limit {}, expected {} ({} to {}), {} wall.",
                            a.scenario.input, print(a.prediction.prefill.limit),
                            print(a.prediction.prefill.expected.mid), print(a.prediction.prefill.expected.low),
                            print(a.prediction.prefill.expected.high), roofline::name(a.prediction.prefill.wall)) +
                    under_load(a),
                Paragraph::Style::plain});
}

FieldGroup model_group(const PredictAnswer& a) {
  const roofline::Prediction& p = a.prediction;
  FieldGroup group{"Case", {}};
  auto& f = group.fields;
  f.push_back({"model.name", "model", text(a.model.name), ""});
  f.push_back({"model.id", "", text(a.model.id), ""});
  f.push_back({"model.source", "", text(a.model.source), ""});
  f.push_back({"model.parameters", "parameters", count(p.parameters), ""});
  f.push_back({"model.active_parameters", p.active_parameters < p.parameters * 0.9 ? "active for one token" : "",
               count(p.active_parameters), ""});
  f.push_back({"model.weight_bytes", "weights, " + a.weights_name, value(p.weight_bytes), ""});
  f.push_back({"model.weights", "", text(a.weights_name), ""});
  f.push_back({"device.id", "device", text(a.device.id), ""});
  f.push_back({"device.name", "", text(a.device.name), ""});
  f.push_back(
      {"device.memory_bandwidth_bytes_per_s", "bandwidth, one device", value(a.device.memory_bandwidth->value), ""});
  f.push_back({"device.compute_type", "", text(std::string(hardware::name(p.arithmetic.type))), ""});
  f.push_back({"device.peak_flop_per_s", "dense " + std::string(hardware::name(p.arithmetic.type)) + " peak",
               value(p.arithmetic.peak), ""});
  f.push_back({"device.ridge_flop_per_byte", "ridge point", value(p.ridge), ""});
  const graph::Parallelism& layout = a.scenario.parallelism;
  f.push_back({"scenario.devices", "", count(static_cast<double>(layout.devices())), ""});
  f.push_back({"scenario.tp", "", count(static_cast<double>(layout.tp)), ""});
  f.push_back({"scenario.pp", "", count(static_cast<double>(layout.pp)), ""});
  f.push_back({"scenario.ep", "", count(static_cast<double>(layout.ep)), ""});
  f.push_back({"scenario.dp", "", count(static_cast<double>(layout.dp)), ""});
  const bool batch = a.scenario.load == graph::Load::batch;
  f.push_back({"scenario.load", "", text(batch ? "batch" : "concurrency"), ""});
  f.push_back({"scenario.sequences", "", count(a.scenario.sequences), ""});
  f.push_back({"scenario.input", "", tokens(static_cast<double>(a.scenario.input)), ""});
  f.push_back({"scenario.output", "", tokens(static_cast<double>(a.scenario.output)), ""});
  f.push_back({"scenario.context", "", tokens(a.scenario.context), ""});
  f.push_back({"scenario.kv", "", text(a.scenario.kv.name), ""});
  f.push_back({"scenario.engine", "", text(a.scenario.engine), ""});
  f.push_back({"scenario.graphs", "", flag(a.prediction.graphs), ""});
  return group;
}

FieldGroup decode_group(const PredictAnswer& a) {
  const DecodePrediction& d = a.prediction.decode;
  const bool rounds = a.scenario.speculation.draft_tokens > 0;
  FieldGroup group{rounds ? "Decode, one round of drafting and verification" : "Decode, one step", {}};
  auto& f = group.fields;
  f.push_back({"decode.sequences", "sequences", count(d.sequences), ""});
  if (rounds)
    f.push_back({"decode.tokens_per_round", "tokens a round", {d.tokens_per_sequence, report::Unit::none}, ""});
  f.push_back({"decode.limit_s", "limit", value(d.limit), ""});
  f.push_back({"decode.expected_s.low", "expected, low", value(d.expected.low), ""});
  f.push_back({"decode.expected_s.mid", "expected", value(d.expected.mid), ""});
  f.push_back({"decode.expected_s.high", "expected, high", value(d.expected.high), ""});
  f.push_back({"decode.limit_parts_s.memory", "", value(d.limit_memory), ""});
  f.push_back({"decode.limit_parts_s.compute", "", value(d.limit_compute), ""});
  f.push_back({"decode.limit_parts_s.link", "", value(d.limit_link), ""});
  f.push_back({"decode.tokens_per_s_per_user.limit", "limit, per user", tokens_per_second(per_user(d, d.limit)), ""});
  f.push_back({"decode.tokens_per_s_per_user.expected", "expected, per user",
               tokens_per_second(per_user(d, d.expected.mid)), ""});
  f.push_back(
      {"decode.tokens_per_s.limit", "limit, all users", tokens_per_second(users(a) * per_user(d, d.limit)), ""});
  f.push_back({"decode.tokens_per_s.expected", "expected, all users",
               tokens_per_second(users(a) * per_user(d, d.expected.mid)), ""});
  if (d.prompt_tokens_per_step > 0) {
    f.push_back({"decode.prompt_tokens_per_step", "prompt tokens mixed in", tokens(d.prompt_tokens_per_step), ""});
  }
  f.push_back({"decode.flops", "arithmetic", value(d.totals.flops), ""});
  f.push_back({"decode.bytes.weights", "weight bytes read", value(d.totals.weights), ""});
  f.push_back(
      {"decode.bytes.experts", d.totals.experts.value() > 0 ? "of which experts" : "", value(d.totals.experts), ""});
  f.push_back({"decode.bytes.kv", "KV bytes", value(d.totals.kv), ""});
  f.push_back({"decode.bytes.activations", "activation bytes", value(d.totals.activations), ""});
  f.push_back({"decode.intensity_flop_per_byte", "arithmetic intensity", value(d.totals.flops / d.totals.bytes()), ""});
  f.push_back({"decode.wall", "wall", text(std::string(roofline::name(d.wall))), ""});
  f.push_back({"decode.break_even_batch", "break-even batch", maybe(d.break_even.batch, count), d.break_even.reason});
  f.push_back({"decode.break_even_batch_weights_only", "break-even, weights only",
               maybe(d.break_even.batch_weights_only, count), ""});
  f.push_back({"decode.break_even_none_from_context", d.break_even.none_from_context ? "none from context" : "",
               maybe(d.break_even.none_from_context, tokens), ""});
  f.push_back({"decode.per_device.flops", "", value(d.per_device.flops), ""});
  f.push_back({"decode.per_device.bytes.weights", "", value(d.per_device.weights), ""});
  f.push_back({"decode.per_device.bytes.kv", "", value(d.per_device.kv), ""});
  f.push_back({"decode.per_device.bytes.activations", "", value(d.per_device.activations), ""});
  return group;
}

StackedBar budget_bar(const std::string& key, const std::string& title, const Budget& b) {
  return {key,
          title,
          report::Unit::seconds,
          {{"weights", "weights", b.weights.value()},
           {"kv", "KV cache", b.kv.value()},
           {"activations", "activations", b.activations.value()},
           {"compute", "compute", b.compute.value()},
           {"launch", "launches", b.launch.value()},
           {"communication", "communication", b.communication.value()},
           {"host", "host", b.host.value()}},
          std::nullopt};
}

FieldGroup shares_group(const std::string& prefix, const roofline::WallShares& s) {
  return {"",
          {{prefix + ".shares.memory", "", share(s.memory), ""},
           {prefix + ".shares.compute", "", share(s.compute), ""},
           {prefix + ".shares.overhead", "", share(s.overhead), ""},
           {prefix + ".shares.interconnect", "", share(s.interconnect), ""}}};
}

FieldGroup prefill_group(const PredictAnswer& a) {
  const PrefillPrediction& p = a.prediction.prefill;
  FieldGroup group{"First token", {}};
  auto& f = group.fields;
  f.push_back({"prefill.prompts", p.prompts > 1 ? "prompts together" : "", count(p.prompts), ""});
  f.push_back({"prefill.chunks", p.chunks > 1 ? "chunks" : "", count(p.chunks), ""});
  f.push_back({"prefill.limit_s", "limit", value(p.limit), ""});
  f.push_back({"prefill.expected_s.low", "expected, low", value(p.expected.low), ""});
  f.push_back({"prefill.expected_s.mid", "expected", value(p.expected.mid), ""});
  f.push_back({"prefill.expected_s.high", "expected, high", value(p.expected.high), ""});
  const bool waits = p.queue.value() > 0;
  f.push_back({"prefill.queue_s", waits ? "mean wait behind other prompts" : "", value(p.queue), ""});
  f.push_back(
      {"prefill.first_token_s.low", waits ? "first token under this load, low" : "", value(p.first_token.low), ""});
  f.push_back({"prefill.first_token_s.mid", waits ? "first token under this load" : "", value(p.first_token.mid), ""});
  f.push_back(
      {"prefill.first_token_s.high", waits ? "first token under this load, high" : "", value(p.first_token.high), ""});
  f.push_back({"prefill.flops", "arithmetic", value(p.totals.flops), ""});
  f.push_back({"prefill.bytes.weights", "", value(p.totals.weights), ""});
  f.push_back({"prefill.bytes.kv", "", value(p.totals.kv), ""});
  f.push_back({"prefill.bytes.activations", "", value(p.totals.activations), ""});
  f.push_back(
      {"prefill.intensity_flop_per_byte", "arithmetic intensity", value(p.totals.flops / p.totals.bytes()), ""});
  f.push_back({"prefill.tokens_per_s.expected", "prompt tokens a second",
               tokens_per_second(p.prompts * static_cast<double>(a.scenario.input) / p.expected.mid.value()), ""});
  f.push_back({"prefill.wall", "wall", text(std::string(roofline::name(p.wall))), ""});
  return group;
}

FieldGroup memory_group(const PredictAnswer& a) {
  const MemoryFit& m = a.prediction.memory;
  const bool counted = m.has_kv && m.capacity_known;
  FieldGroup group{"Memory", {}};
  auto& f = group.fields;
  f.push_back({"memory.fits", m.capacity_known ? "fits" : "", flag(m.fits),
               m.capacity_known ? "" : "not checked: the memory size is not known"});
  f.push_back({"memory.capacity_bytes", "one device holds", m.capacity_known ? value(m.capacity) : null_value(),
               m.capacity_known ? units::print_gib(m.capacity) : "not known"});
  f.push_back({"memory.devices_needed", "devices needed",
               m.devices_needed > 0 ? count(static_cast<double>(m.devices_needed)) : null_value(),
               m.devices_needed > 0 ? ""
               : m.capacity_known   ? "more than 4,096"
                                    : "the memory size is not known"});
  f.push_back({"memory.shortfall_bytes", m.fits ? "" : "short on each device", value(m.shortfall), ""});
  f.push_back({"memory.kv_bytes_per_token", m.has_kv ? "KV cache, one token" : "", value(m.kv_bytes_per_token), ""});
  f.push_back({"memory.state_bytes_per_sequence", m.state_bytes_per_sequence.value() > 0 ? "state, one sequence" : "",
               value(m.state_bytes_per_sequence), ""});
  f.push_back({"memory.kv_pool_bytes", counted ? "KV pool, one device" : "", value(m.kv_pool), ""});
  f.push_back(
      {"memory.max_tokens", counted ? "tokens in the pool" : "", counted ? tokens(m.max_tokens) : null_value(), ""});
  f.push_back({"memory.max_requests", counted ? "requests at these lengths" : "",
               counted ? count(m.max_requests) : null_value(), ""});
  f.push_back({"memory.max_requests_at_max_length",
               m.max_requests_at_max_length ? "requests at the longest context" : "",
               maybe(m.max_requests_at_max_length, count), ""});
  f.push_back({"memory.max_context", counted ? "longest single request" : "",
               counted ? tokens(m.max_context) : null_value(), ""});
  return group;
}

StackedBar memory_bar(const MemoryFit& m) {
  return {"memory.one_device_bytes",
          "Memory of one device",
          report::Unit::bytes,
          {{"weights", "weights", m.weights.value()},
           {"kv", "KV cache of this load", m.kv.value()},
           {"activations", "activations", m.activations.value()},
           {"reserve", "engine reserve", m.reserve.value()}},
          m.capacity_known ? std::optional(m.capacity.value()) : std::nullopt};
}

report::Table operations_table(const std::string& key, const std::string& title,
                               const std::vector<roofline::OpRow>& rows) {
  using report::Unit;
  report::Table table;
  table.key = key;
  table.title = title;
  table.columns = {{"name", "operation", Unit::none, true},
                   {"kind", "", Unit::none, true},
                   {"repeats", "×", Unit::count, false},
                   {"flops", "FLOP", Unit::flops, false},
                   {"bytes", "bytes", Unit::bytes, false},
                   {"limit_s", "limit", Unit::seconds, false},
                   {"expected_s", "expected", Unit::seconds, false},
                   {"bound", "bound", Unit::none, true},
                   {"weight_bytes", "", Unit::bytes, false},
                   {"kv_bytes", "", Unit::bytes, false},
                   {"m", "", Unit::count, false},
                   {"n", "", Unit::count, false},
                   {"k", "", Unit::count, false}};
  for (const roofline::OpRow& row : rows) {
    const graph::Op& op = row.op;
    table.rows.push_back({text(op.name), text(std::string(graph::name(op.kind))), count(op.repeats),
                          value(op.flops * op.repeats), value((op.bytes() + op.payload) * op.repeats), value(row.limit),
                          value(row.expected), text(std::string(roofline::name(row.time.bound))),
                          value(op.weights * op.repeats), value(op.kv * op.repeats), count(op.m), count(op.n),
                          count(op.k)});
  }
  table.terminal_rows = terminal_operations;
  return table;
}

void add_assumptions(const PredictAnswer& a, Document& doc) {
  report::Table defaults;
  defaults.key = "defaults";
  defaults.title = "Not given, so assumed";
  defaults.columns = {{"name", "input", report::Unit::none, true},
                      {"value", "taken as", report::Unit::none, true},
                      {"why", "why", report::Unit::none, true}};
  for (const app::DefaultUsed& used : a.defaults) {
    defaults.rows.push_back({text(used.name), text(used.value), text(used.why)});
  }
  if (!defaults.rows.empty()) doc.blocks.push_back(defaults);
  for (const std::string& note : a.notes) doc.blocks.push_back(Paragraph{"notes", note, Paragraph::Style::detail});
  for (const std::string& note : a.prediction.assumptions) {
    doc.blocks.push_back(Paragraph{"assumptions", note, Paragraph::Style::detail});
  }
  const auto& bandwidth = *a.device.memory_bandwidth;
  doc.blocks.push_back(Paragraph{
      "sources",
      fmt::format("bandwidth: {} ({}, {})", bandwidth.source, hardware::name(bandwidth.basis), bandwidth.date),
      Paragraph::Style::detail});
  if (const auto& peak = a.device.peak(a.prediction.arithmetic.type)) {
    doc.blocks.push_back(
        Paragraph{"sources",
                  fmt::format("{} peak: {} ({}, {}){}", hardware::name(a.prediction.arithmetic.type), peak->source,
                              hardware::name(peak->basis), peak->date, peak->note.empty() ? "" : "; " + peak->note),
                  Paragraph::Style::detail});
  }
  doc.blocks.push_back(
      Paragraph{"sources",
                fmt::format("kernel constants: class \"{}\" (data/kernels); engine: data/engines/{}.toml",
                            a.constants.device_class, a.engine.id),
                Paragraph::Style::detail});
}

}  // namespace

Document predict_view(const PredictAnswer& a, const PredictViewOptions& options) {
  Document doc;
  doc.schema = "corridor/prediction/1";
  doc.title = fmt::format("{}, {}, on {}, {}", a.model.name, a.weights_name, devices_text(a), a.engine.id);
  add_verdict(a, doc);
  doc.blocks.push_back(budget_bar("decode.budget_s", "Where one decode step goes", a.prediction.decode.budget));
  if (options.levers != nullptr) doc.blocks.push_back(levers_table(*options.levers, terminal_levers));
  doc.blocks.push_back(decode_group(a));
  doc.blocks.push_back(shares_group("decode", a.prediction.decode.shares));
  doc.blocks.push_back(prefill_group(a));
  doc.blocks.push_back(shares_group("prefill", a.prediction.prefill.shares));
  doc.blocks.push_back(
      budget_bar("prefill.budget_s", "Where the first token's time goes", a.prediction.prefill.budget));
  doc.blocks.push_back(memory_group(a));
  doc.blocks.push_back(memory_bar(a.prediction.memory));
  doc.blocks.push_back(prediction_roofline(a));
  if (options.operations) {
    doc.blocks.push_back(
        operations_table("decode.ops", "Operations of one decode step, one device", a.prediction.decode.rows));
    doc.blocks.push_back(
        operations_table("prefill.ops", "Operations of the prompt's last step, one device", a.prediction.prefill.rows));
  }
  doc.blocks.push_back(model_group(a));
  if (options.explain) {
    for (Paragraph& paragraph : explain_prediction(a)) doc.blocks.push_back(std::move(paragraph));
  }
  add_assumptions(a, doc);
  return doc;
}

}  // namespace corridor::views
