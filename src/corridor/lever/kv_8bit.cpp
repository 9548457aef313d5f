// SPDX-License-Identifier: Apache-2.0
// Lever: an 8-bit KV cache. Half of the bytes a sequence adds, and twice the sequences in the same memory.
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"
#include "corridor/lever/weights.h"

namespace corridor::lever {

LeverResult kv_8bit(const Situation& s) {
  LeverResult result = unavailable("kv_8bit", "8-bit KV cache", Metric::all_users, "");
  const model::WeightFormat format = *model::find_weight_format(uses_gguf(s) ? "q8_0" : "fp8");
  if (!s.now.memory.has_kv) {
    result.note = "--params has no KV cache: name a model to see it";
  } else if (s.input.scenario.kv.bits_per_weight <= format.bits_per_weight) {
    result.note = "the KV cache is already in " + s.input.scenario.kv.name;
  } else if (s.now.memory.kv_bytes_per_token.value() <= 0) {
    result.note = "the model keeps a constant state instead of a KV cache";
  }
  if (!result.note.empty()) return result;
  Change change;
  change.scenario = s.input.scenario;
  change.scenario->kv = format;
  const Result<roofline::Prediction> after = predict_change(s, change, result.metric);
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  const double admitted = after->memory.sequences / s.now.memory.sequences;
  const double roofs = admitted > 1 ? bound_with_overhead(s, change, *after, result.metric)
                                    : roof_ratio(s, change, *after, result.metric);
  take_gain(s, std::move(change), *after, roofs, result);
  result.change = "--kv " + format.name;
  result.cost = "small loss of quality, more at long contexts";
  result.stops_at =
      fmt::format("weights are then {} of the bytes and do not shrink", percent(weight_share(after->decode)));
  result.note = fmt::format("KV is {} of the bytes: an {} gives at most {}", percent(kv_share(s.now.decode)),
                            result.name, times(result.max_gain));
  if (admitted > 1) {
    result.note += fmt::format("; memory then admits {:.0f} sequences instead of {:.0f}", after->memory.sequences,
                               s.now.memory.sequences);
  }
  result.note += fit_clause(s, *after);
  return result;
}

}  // namespace corridor::lever
