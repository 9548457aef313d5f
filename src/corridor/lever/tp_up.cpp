// SPDX-License-Identifier: Apache-2.0
// Lever: more tensor parallel ranks. Each device reads its part of the weights; the ranks must exchange every layer.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/layout.h"
#include "corridor/lever/registry.h"

namespace corridor::lever {
namespace {

constexpr std::int64_t most_factor = 8;  // the next step is a few times more devices, not a hundred

/// The next larger number of ranks the model can be cut into.
std::optional<graph::Parallelism> next_layout(const Situation& s) {
  const graph::Parallelism& present = s.input.scenario.parallelism;
  for (std::int64_t factor = 2; factor <= most_factor; ++factor) {
    if (auto layout = with_ranks(s, present.tp * factor, present.dp)) return layout;
  }
  return std::nullopt;
}

}  // namespace

LeverResult tp_up(const Situation& s) {
  LeverResult result = unavailable("tp_up", "more tp ranks", Metric::per_user, "");
  const graph::Parallelism& present = s.input.scenario.parallelism;
  const std::optional<graph::Parallelism> layout = next_layout(s);
  const hardware::Device& device = s.input.device;
  if (!device.link.bandwidth_per_direction && !device.pcie.bandwidth_per_direction) {
    result.note = "no link between devices of this kind is known";
    return result;
  }
  if (!layout) {
    result.note = fmt::format("the heads of {} cannot be cut into more than {} ranks", s.input.model.name, present.tp);
    return result;
  }
  Change change;
  change.scenario = s.input.scenario;
  change.scenario->parallelism = *layout;
  const Result<roofline::Prediction> after = predict_change(s, change, result.metric);
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  const double bound = bound_with_overhead(s, change, *after, result.metric);
  take_gain(s, std::move(change), *after, bound, result);
  const double factor = static_cast<double>(layout->devices()) / static_cast<double>(present.devices());
  result.change = layout_flags(s, *layout);
  result.cost = fmt::format("{} devices instead of {}: {} tokens a second for each device", layout->devices(),
                            present.devices(), times(result.gain.mid / factor));
  result.stops_at = "where transfers and overhead, which do not shrink, are most of the step";
  result.note = fmt::format("transfers then take {} of the step and overhead {}",
                            percent(communication_share(after->decode)), percent(after->decode.shares.overhead));
  const double node = device.link.devices_in_node ? device.link.devices_in_node->value : 8;
  if (static_cast<double>(layout->tp) > node)
    result.note += fmt::format("; more than the {:.0f} devices of a node", node);
  if (!device.link.bandwidth_per_direction) result.note += "; there is no direct link between these devices";
  result.note += fit_clause(s, *after);
  return result;
}

}  // namespace corridor::lever
