// SPDX-License-Identifier: Apache-2.0
// Lever: fewer tensor parallel ranks. Fewer transfers, and devices become free; each device reads more weights.
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/layout.h"
#include "corridor/lever/registry.h"
#include "corridor/units/text.h"

namespace corridor::lever {
namespace {

std::optional<graph::Parallelism> next_layout(const Situation& s) {
  const graph::Parallelism& present = s.input.scenario.parallelism;
  for (std::int64_t tp = present.tp / 2; tp >= 1; --tp) {
    if (present.tp % tp != 0) continue;
    if (auto layout = with_ranks(s, tp, present.dp)) return layout;
  }
  return std::nullopt;
}

}  // namespace

LeverResult tp_down(const Situation& s) {
  LeverResult result = unavailable("tp_down", "fewer tp ranks", Metric::per_user, "");
  const graph::Parallelism& present = s.input.scenario.parallelism;
  if (present.tp <= 1) {
    result.note = "the model is not cut by tensor parallelism";
    return result;
  }
  const std::optional<graph::Parallelism> layout = next_layout(s);
  if (!layout) {
    result.note = fmt::format("no smaller cut than {} ranks is possible", present.tp);
    return result;
  }
  Change change;
  change.scenario = s.input.scenario;
  change.scenario->parallelism = *layout;
  const Result<roofline::Prediction> after = predict_change(s, change, result.metric);
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  if (!after->memory.fits) {
    result.note = fmt::format("does not fit on tp {}: {} short on each device", layout->tp,
                              units::print(after->memory.shortfall));
    return result;
  }
  const double bound = bound_with_overhead(s, change, *after, result.metric);
  take_gain(s, std::move(change), *after, bound, result);
  result.change = layout_flags(s, *layout);
  result.cost = fmt::format("less memory for the KV cache: {:.0f} requests instead of {:.0f}",
                            after->memory.max_requests, s.now.memory.max_requests);
  result.stops_at = "where reading the weights is most of the step again";
  result.note = fmt::format("transfers take {} of the step now and {} then; {} devices become free",
                            percent(communication_share(s.now.decode)), percent(communication_share(after->decode)),
                            present.devices() - layout->devices());
  return result;
}

}  // namespace corridor::lever
