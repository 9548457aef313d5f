// SPDX-License-Identifier: Apache-2.0
// Lever: replicas instead of tensor parallelism on the same devices. No transfers; every replica reads all weights.
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/layout.h"
#include "corridor/lever/registry.h"
#include "corridor/units/text.h"

namespace corridor::lever {
namespace {

/// The fastest layout of the same devices with fewer ranks and more replicas.
struct Best {
  std::optional<graph::Parallelism> layout;
  double tokens_per_s = 0;
  Change change;
  roofline::Prediction after;
  std::string refused;  ///< why the last one left out was left out
};

Best best_layout(const Situation& s) {
  const graph::Scenario& scenario = s.input.scenario;
  const graph::Parallelism& present = scenario.parallelism;
  Best best;
  for (std::int64_t tp = 1; tp < present.tp; ++tp) {
    const std::int64_t dp = present.dp * (present.tp / tp);
    const std::optional<graph::Parallelism> layout = present.tp % tp == 0 ? with_ranks(s, tp, dp) : std::nullopt;
    if (!layout) continue;
    if (scenario.sequences < static_cast<double>(dp)) {
      best.refused = fmt::format("{:.0f} sequence{} cannot feed {} replicas", scenario.sequences,
                                 scenario.sequences == 1 ? "" : "s", dp);
      continue;
    }
    Change change;
    change.scenario = scenario;
    change.scenario->parallelism = *layout;
    Result<roofline::Prediction> after = predict_change(s, change, Metric::all_users);
    if (!after) {
      best.refused = after.error().line();
    } else if (!after->memory.fits) {
      best.refused = fmt::format("a replica on {} devices is {} short on each", tp * present.pp,
                                 units::print(after->memory.shortfall));
    } else if (const double rate = metric_value(*after, *change.scenario, Metric::all_users);
               rate > best.tokens_per_s) {
      best = {layout, rate, std::move(change), std::move(*after), best.refused};
    }
  }
  return best;
}

}  // namespace

LeverResult replicas(const Situation& s) {
  LeverResult result = unavailable("replicas", "replicas instead of tp", Metric::all_users, "");
  if (s.input.scenario.parallelism.tp <= 1) {
    result.note = "each replica stands on one tensor parallel rank already";
    return result;
  }
  Best best = best_layout(s);
  if (!best.layout) {
    result.note = best.refused.empty() ? "no other layout of these devices is possible" : best.refused;
    return result;
  }
  const double bound = bound_with_overhead(s, best.change, best.after, result.metric);
  take_gain(s, std::move(best.change), best.after, bound, result);
  const auto token = [](const roofline::DecodePrediction& d) {
    return units::print(units::Seconds{d.tpot_s(d.expected.mid)});
  };
  result.change = layout_flags(s, *best.layout);
  result.cost = fmt::format("each user: {} a token instead of {}; weights are held {} times", token(best.after.decode),
                            token(s.now.decode), best.layout->dp);
  result.stops_at = "where each replica's share of the sequences is too small to hide its weights";
  result.note = fmt::format("transfers take {} of the step now; each replica then serves {:.0f} of the sequences",
                            percent(communication_share(s.now.decode)), best.after.decode.sequences);
  return result;
}

}  // namespace corridor::lever
