// SPDX-License-Identifier: Apache-2.0
// Lever: element-wise operations fused into one kernel each (residual + norm, activation). Fewer trips and launches.
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"
#include "corridor/lever/touched.h"

namespace corridor::lever {

LeverResult fusion(const Situation& s) {
  LeverResult result = unavailable("fusion", "fused element-wise kernels", Metric::per_user, "");
  if (s.input.model.plain_parameters) {
    result.note = "--params is one matrix product: fusing changes nothing for it";
    return result;
  }
  const double share = decode_share(s, graph::OpKind::elementwise);
  if (s.input.scenario.fusion && s.input.engine.fused_norms) {
    result.note =
        fmt::format("already fused; what is left of the element-wise operations takes {} of the step", percent(share));
    return result;
  }
  Change change;
  change.scenario = s.input.scenario;
  change.scenario->fusion = true;
  if (!s.input.engine.fused_norms) {
    change.engine = s.input.engine;
    change.engine->fused_norms = true;
  }
  const Result<roofline::Prediction> after = predict_change(s, change, result.metric);
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  result.engine_change = s.input.engine.fused_norms ? "leave out --no-fusion" : "an engine with fused kernels";
  take_gain(s, std::move(change), *after, gain_without(share), result);
  result.cost = "none for the answer; compilation at start-up";
  result.stops_at = "one kernel for each chain of element-wise operations";
  result.note = fmt::format("element-wise operations take {} of the step: without any it would be {}", percent(share),
                            times(gain_without(share)));
  return result;
}

}  // namespace corridor::lever
