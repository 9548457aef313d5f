// SPDX-License-Identifier: Apache-2.0
// Turns every kind of observed speed into a time that a prediction also has.
#include "corridor/diagnose/comparison.h"

#include <algorithm>

namespace corridor::diagnose {
namespace {

using roofline::Prediction;
using units::Seconds;

roofline::StepTotals scaled(roofline::StepTotals totals, double factor) {
  totals.flops *= factor;
  totals.weights *= factor;
  totals.experts *= factor;
  totals.kv *= factor;
  totals.activations *= factor;
  return totals;
}

/// One token of one user in a decode step.
Comparison of_decode(const Prediction& p, Seconds observed) {
  const double tokens = p.decode.tokens_per_sequence;
  Comparison c;
  c.what = "time per output token";
  c.observed = observed;
  c.limit = p.decode.limit / tokens;
  c.limit_memory = p.decode.limit_memory / tokens;
  c.expected = {p.decode.expected.low / tokens, p.decode.expected.mid / tokens, p.decode.expected.high / tokens};
  c.budget = p.decode.budget;
  c.budget *= 1 / tokens;
  c.per_device = scaled(p.decode.per_device, 1 / tokens);
  return c;
}

Comparison of_prefill(const Prediction& p, Seconds observed, double overhead_s) {
  Comparison c;
  c.what = "time to first token";
  c.observed = observed;
  c.limit = p.prefill.limit;
  c.limit_memory = p.prefill.limit_memory;
  c.expected = p.prefill.expected;
  c.budget = p.prefill.budget;
  if (overhead_s > 0) {  // a rate of prompt tokens leaves out what a request pays before it reaches the engine
    const Seconds overhead{std::min(overhead_s, c.budget.host.value())};
    c.budget.host -= overhead;
    c.expected = {std::max(c.limit, c.expected.low - overhead), std::max(c.limit, c.expected.mid - overhead),
                  std::max(c.limit, c.expected.high - overhead)};
  }
  c.per_device = p.prefill.totals;
  return c;
}

/// Time of a whole answer divided by its tokens: what a throughput over many requests measures.
Comparison of_answer(const Prediction& p, const graph::Scenario& scenario, Seconds observed, bool with_prompt) {
  Comparison c = of_decode(p, observed);
  if (!with_prompt) return c;
  c.what = "time of an answer per output token";
  const double tokens = static_cast<double>(scenario.output);
  const double decode_share = (tokens - 1) / tokens;
  const auto both = [&](Seconds decode, Seconds first) { return decode * decode_share + first / tokens; };
  c.limit = both(c.limit, p.prefill.limit);
  c.limit_memory = both(c.limit_memory, p.prefill.limit_memory);
  c.expected = {both(c.expected.low, p.prefill.expected.low), both(c.expected.mid, p.prefill.expected.mid),
                both(c.expected.high, p.prefill.expected.high)};
  c.budget *= decode_share;
  roofline::Budget first = p.prefill.budget;
  first *= 1 / tokens;
  c.budget += first;
  return c;
}

}  // namespace

std::optional<Comparison> compare(const roofline::PredictInput& input, const Prediction& p, const Observation& seen) {
  const graph::Scenario& scenario = input.scenario;
  const double users = p.decode.sequences * static_cast<double>(scenario.parallelism.dp);
  if (seen.tpot_s) return of_decode(p, Seconds{*seen.tpot_s});
  if (seen.tok_s_per_user) return of_decode(p, Seconds{1 / *seen.tok_s_per_user});
  if (seen.output_tok_s || seen.total_tok_s) {
    const double in = static_cast<double>(scenario.input);
    const double out = static_cast<double>(scenario.output);
    const double output_tok_s = seen.output_tok_s ? *seen.output_tok_s : *seen.total_tok_s * out / (in + out);
    // One user's rate as tools print it is decode alone; a throughput over many users holds their prompts too.
    const bool with_prompt = seen.lengths_given && (users > 1 || seen.total_tok_s.has_value());
    return of_answer(p, scenario, Seconds{users / output_tok_s}, with_prompt);
  }
  if (seen.ttft_s) return of_prefill(p, Seconds{*seen.ttft_s}, 0);
  if (seen.prefill_tok_s) {
    const double tokens = p.prefill.prompts * static_cast<double>(scenario.input);
    return of_prefill(p, Seconds{tokens / *seen.prefill_tok_s}, input.engine.request_overhead_s);
  }
  return std::nullopt;
}

std::optional<Comparison> compare_changed(const DiagnoseInput& input, const roofline::PredictInput& changed) {
  const Result<Prediction> prediction = roofline::predict(changed);
  if (!prediction) return std::nullopt;
  return compare(changed, *prediction, input.seen);
}

}  // namespace corridor::diagnose
