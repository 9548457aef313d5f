// SPDX-License-Identifier: Apache-2.0
// Lever: capture the kernels of a step in a graph, so that the host launches it once.
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"

namespace corridor::lever {

LeverResult graphs(const Situation& s) {
  LeverResult result = unavailable("graphs", "graph capture", Metric::per_user, "");
  const roofline::DecodePrediction& now = s.now.decode;
  const double share = now.budget.launch / now.expected.mid;
  if (s.now.graphs) {
    result.note = fmt::format("already on; launches and kernel floors still take {} of the step", percent(share));
    return result;
  }
  Change change;
  change.scenario = s.input.scenario;
  change.scenario->graphs = true;
  if (!s.input.engine.graphs_default) {
    change.engine = s.input.engine;
    change.engine->graphs_default = true;
  }
  const Result<roofline::Prediction> after = predict_change(s, change, result.metric);
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  result.engine_change = s.input.engine.graphs_default ? "leave out --no-graphs (engines: no --enforce-eager)"
                                                       : "an engine that captures graphs";
  // Collectives are launched as well: their eager part goes too.
  const double touched = share + now.budget.communication / now.expected.mid;
  take_gain(s, std::move(change), *after, gain_without(touched), result);
  result.cost = "some memory for each captured batch size and seconds at start-up";
  result.stops_at = "at batches whose kernels run longer than their launch takes";
  result.note = fmt::format("launches take {} of the step: without any it would be {}", percent(share),
                            times(gain_without(share)));
  return result;
}

}  // namespace corridor::lever
