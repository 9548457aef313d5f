// SPDX-License-Identifier: Apache-2.0
// --explain: the formulas of a prediction with this case's numbers put in.
#include <fmt/format.h>

#include "corridor/units/text.h"
#include "corridor/views/predict_view.h"

namespace corridor::views {
namespace {

using units::print;

std::string limit_text(const app::PredictAnswer& a) {
  const auto& d = a.prediction.decode;
  const auto& one = d.per_device;
  return fmt::format(
      "limit of a step = max(bytes ÷ bandwidth, Σ FLOPs ÷ peak, link bytes ÷ link rate) on one device = max({}, {}, "
      "{}) = {}. "
      "Bytes there: weights {}, KV {}; bandwidth {}; peak {}. Experts count as k for each token, activations that fit "
      "the last "
      "cache count nothing.",
      print(d.limit_memory), print(d.limit_compute), print(d.limit_link), print(d.limit), print(one.weights),
      print(one.kv), print(a.device.memory_bandwidth->value), print(a.prediction.arithmetic.peak));
}

std::string largest_op_text(const app::PredictAnswer& a) {
  const roofline::OpRow* largest = nullptr;
  for (const roofline::OpRow& row : a.prediction.decode.rows) {
    if (largest == nullptr || row.expected > largest->expected) largest = &row;
  }
  if (largest == nullptr) return "";
  const roofline::OpTime& t = largest->time;
  return fmt::format(
      "expected of an operation = floor + (bytes ÷ reachable bandwidth ⊕ FLOPs ÷ reachable rate). The largest here, {} "
      "× {}: "
      "{} + ({} ⊕ {}) = {} each, {} together.",
      largest->op.repeats, largest->op.name, print(t.floor), print(t.memory), print(t.compute), print(t.expected),
      print(largest->expected));
}

std::string kv_text(const app::PredictAnswer& a) {
  const auto& m = a.prediction.memory;
  return fmt::format(
      "KV cache of one token, all layers = {:.0f} bytes in {}; the pool of {} on one device holds {:.0f} tokens.",
      m.kv_bytes_per_token.value(), a.scenario.kv.name, print(m.kv_pool), m.max_tokens);
}

}  // namespace

std::vector<report::Paragraph> explain_prediction(const app::PredictAnswer& a) {
  const auto& p = a.prediction;
  const auto& d = p.decode;
  std::vector<report::Paragraph> out;
  const auto add = [&](std::string text) {
    if (!text.empty()) out.push_back({"explain", std::move(text), report::Paragraph::Style::plain});
  };
  add(fmt::format("ridge point = dense {} peak ÷ bandwidth = {} ÷ {} = {}.", hardware::name(p.arithmetic.type),
                  print(p.arithmetic.peak), print(a.device.memory_bandwidth->value), print(p.ridge)));
  add(fmt::format("arithmetic intensity = {} ÷ {} = {}: {} the ridge.", print(d.totals.flops), print(d.totals.bytes()),
                  print(d.totals.flops / d.totals.bytes()),
                  d.totals.flops / d.totals.bytes() < p.ridge ? "below" : "above"));
  add(limit_text(a));
  add(largest_op_text(a));
  add(fmt::format(
      "expected step = Σ operations + communication {} + launches {} + host {} = {}; the interval is {:.2f} to {:.2f} "
      "times that, from residuals of {} against measurements{}.",
      print(d.budget.communication), print(d.budget.launch), print(d.budget.host), print(d.expected.mid),
      d.expected.low / d.expected.mid, d.expected.high / d.expected.mid, a.engine.id,
      a.constants.measured ? "" : ", widened because no kernel of this device class was measured"));
  add(fmt::format("tok/s per user = {} tokens ÷ step: limit 1 ÷ {} , expected 1 ÷ {}.",
                  units::print_number(d.tokens_per_sequence), print(units::Seconds{d.tpot_s(d.limit)}),
                  print(units::Seconds{d.tpot_s(d.expected.mid)})));
  if (d.break_even.batch_weights_only) {
    add(fmt::format(
        "break-even batch, weights only: the batch at which its arithmetic takes as long as reading the weights once "
        "= {:.0f}.",
        *d.break_even.batch_weights_only));
  }
  if (p.memory.has_kv) add(kv_text(a));
  return out;
}

}  // namespace corridor::views
