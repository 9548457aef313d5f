// SPDX-License-Identifier: Apache-2.0
// Lever: FlashAttention, which keeps the scores on the chip. It helps where queries × keys are many: in the prompt.
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"
#include "corridor/lever/touched.h"

namespace corridor::lever {
namespace {

LeverResult without_change(const Situation& s, LeverResult result) {
  if (s.input.model.plain_parameters) {
    result.note = "--params has no attention";
  } else {
    result.note = fmt::format("already on; attention takes {} of a decode step and {} of the prompt",
                              percent(decode_share(s, graph::OpKind::attention_decode)),
                              percent(prefill_share(s, graph::OpKind::attention_prefill)));
  }
  return result;
}

}  // namespace

LeverResult flash_attention(const Situation& s) {
  LeverResult result = unavailable("flash_attention", "FlashAttention", Metric::per_user, "");
  if (s.input.scenario.flash_attention || s.input.model.plain_parameters) return without_change(s, std::move(result));
  Change change;
  change.scenario = s.input.scenario;
  change.scenario->flash_attention = true;
  const Result<roofline::Prediction> after = predict_change(s, change, Metric::first_token);
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  const double decode_gain = s.now.decode.expected.mid / after->decode.expected.mid;
  const double prompt_gain = s.now.prefill.expected.mid / after->prefill.expected.mid;
  const double decode_part = decode_share(s, graph::OpKind::attention_decode);
  const double prompt_part = prefill_share(s, graph::OpKind::attention_prefill);
  if (prompt_gain > decode_gain) result.metric = Metric::first_token;
  take_gain(s, std::move(change), *after, gain_without(prompt_gain > decode_gain ? prompt_part : decode_part), result);
  result.engine_change = "leave out --no-flash-attention";
  result.cost = "none: the result is the same up to rounding";
  result.stops_at = "when the arithmetic of attention itself is the time";
  result.note =
      fmt::format("attention takes {} of the prompt and {} of a decode step: {} for the prompt, {} for decode",
                  percent(prompt_part), percent(decode_part), times(prompt_gain), times(decode_gain));
  return result;
}

}  // namespace corridor::lever
