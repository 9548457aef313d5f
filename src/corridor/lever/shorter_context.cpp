// SPDX-License-Identifier: Apache-2.0
// Lever: a shorter prompt, as an example half of it; and what a cached prefix of the same length would save.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"

namespace corridor::lever {

LeverResult shorter_context(const Situation& s) {
  LeverResult result = unavailable("shorter_context", "half of the prompt", Metric::per_user, "");
  const graph::Scenario& scenario = s.input.scenario;
  const std::int64_t dropped = scenario.input / 2;
  if (dropped < 1) {
    result.note = "the prompt has one token";
    return result;
  }
  Change change;
  change.scenario = scenario;
  change.scenario->input = scenario.input - dropped;
  change.scenario->context = std::max(1.0, scenario.context - static_cast<double>(dropped));
  const Result<roofline::Prediction> after = predict_change(s, change, Metric::first_token);
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  const double first_s = s.now.prefill.expected.mid.value();
  const double half_s = after->prefill.expected.mid.value();
  const double decode_gain = s.now.decode.expected.mid / after->decode.expected.mid;
  if (first_s / half_s > decode_gain) result.metric = Metric::first_token;
  const double bound = bound_with_overhead(s, change, *after, result.metric);
  result.change = fmt::format("--input {} --context {:.0f}", change.scenario->input, change.scenario->context);
  take_gain(s, std::move(change), *after, bound, result);
  result.cost =
      "fewer tokens for the model to work with; a prefix cache costs only memory, when requests share a prefix";
  result.stops_at = "when overhead, which does not depend on the length, is most of the time";
  // With the prefix cached its computation falls away, but the rest still attends to it: the whole less the first part,
  // and never less than the rest alone.
  const double rest_s = std::max(first_s - half_s + s.input.engine.request_overhead_s, half_s);
  result.note = fmt::format(
      "KV is {} of a step's bytes: decode {}, first token {}; a cached prefix of {} tokens gives {} "
      "for the first token and nothing for decode",
      percent(kv_share(s.now.decode)), times(decode_gain), times(first_s / half_s), dropped,
      times(std::max(1.0, first_s / rest_s)));
  return result;
}

}  // namespace corridor::lever
