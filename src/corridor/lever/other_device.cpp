// SPDX-License-Identifier: Apache-2.0
// Lever: another device of the same maker. Only the part of the time that bytes take scales with bandwidth.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"

namespace corridor::lever {
namespace {

constexpr std::size_t named = 3;
constexpr double noticeable = 1.01;  // smaller ratios are below what any prediction can tell

/// A choice with its prediction.
struct Candidate {
  const DeviceChoice* choice = nullptr;
  Change change;
  roofline::Prediction after;
  double ratio = 1;
};

std::vector<Candidate> faster_devices(const Situation& s, std::string& refused) {
  std::vector<Candidate> found;
  const double present = metric_value(s.now, s.input.scenario, Metric::all_users);
  for (const DeviceChoice& choice : *s.choices) {
    if (choice.device.id == s.input.device.id) continue;
    Change change;
    change.device = choice.device;
    change.constants = choice.constants;
    Result<roofline::Prediction> after = predict_change(s, change, Metric::all_users);
    if (!after) {
      refused = after.error().line();
      continue;
    }
    if (s.now.memory.fits && !after->memory.fits) continue;
    const double ratio = metric_value(*after, s.input.scenario, Metric::all_users) / present;
    if (ratio > noticeable) found.push_back({&choice, std::move(change), std::move(*after), ratio});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.ratio > b.ratio; });
  return found;
}

}  // namespace

LeverResult other_device(const Situation& s) {
  LeverResult result = unavailable("other_device", "another device", Metric::all_users, "");
  const std::string scales = fmt::format("{} of the step scales with bandwidth and {} with arithmetic",
                                         percent(s.now.decode.shares.memory), percent(s.now.decode.shares.compute));
  if (s.choices == nullptr || s.choices->empty()) {
    result.note = scales + "; no other device of this maker was looked at";
    return result;
  }
  std::string refused;
  std::vector<Candidate> found = faster_devices(s, refused);
  if (found.empty()) {
    result.note = scales + "; no device of this maker in the catalogue is faster here" +
                  (refused.empty() ? "" : " (" + refused + ")");
    return result;
  }
  result.note = scales;
  for (std::size_t i = 0; i < std::min(named, found.size()); ++i) {
    result.note += fmt::format("{}{} {}", i == 0 ? ": " : ", ", found[i].choice->device.id, times(found[i].ratio));
  }
  Candidate& best = found.front();
  const double bound = bound_with_overhead(s, best.change, best.after, result.metric);
  const hardware::Device& device = best.choice->device;
  result.change = "--device " + device.id;
  result.cost = "another machine";
  result.stops_at = fmt::format("the {} of the step that overhead and transfers take do not scale with the chip",
                                percent(s.now.decode.shares.overhead + s.now.decode.shares.interconnect));
  take_gain(s, std::move(best.change), best.after, bound, result);
  result.note += fit_clause(s, best.after);
  return result;
}

}  // namespace corridor::lever
