// SPDX-License-Identifier: Apache-2.0
// Lever: a larger batch, up to the break-even batch or to what memory holds. Weights are read once for all of it.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"
#include "corridor/units/text.h"

namespace corridor::lever {
namespace {

constexpr double most_sequences = 10'000'000;  // what a scenario accepts

/// The next useful batch of one replica, and what sets it.
struct Target {
  double sequences = 0;
  std::string stop;
};

Target target_of(const Situation& s) {
  const roofline::BreakEven& even = s.now.decode.break_even;
  const roofline::MemoryFit& memory = s.now.memory;
  const bool held = memory.has_kv && memory.capacity_known && memory.kv_bytes_per_token.value() > 0;
  Target target{most_sequences, ""};
  if (even.batch) {
    target = {std::ceil(*even.batch),
              fmt::format("batch {:.0f}, the break-even: beyond it arithmetic is the wall", std::ceil(*even.batch))};
  } else if (!held && even.batch_weights_only) {
    target = {std::ceil(*even.batch_weights_only),
              fmt::format("batch {:.0f}, where the arithmetic takes as long as the weights",
                          std::ceil(*even.batch_weights_only))};
  }
  if (held && memory.max_requests < target.sequences) {
    target = {memory.max_requests,
              fmt::format("{:.0f} sequences, which is what the KV memory holds at these lengths", memory.max_requests)};
  }
  return target;
}

}  // namespace

LeverResult batch(const Situation& s) {
  LeverResult result = unavailable("batch", "larger batch", Metric::all_users, "");
  const Target target = target_of(s);
  const double replicas = static_cast<double>(s.input.scenario.parallelism.dp);
  const double present = s.now.decode.sequences;
  result.stops_at = target.stop;
  if (target.sequences >= most_sequences) {
    result.note = "no batch limits it: neither memory nor a break-even is known";
    return result;
  }
  if (target.sequences <= present) {
    result.note = target.sequences < 1
                      ? "memory holds no KV cache beside the weights: make it fit first"
                      : fmt::format("{:.0f} sequences run at once already and more do not help: it stops at {}",
                                    present, target.stop);
    return result;
  }
  Change change;
  change.scenario = s.input.scenario;
  change.scenario->sequences = std::min(most_sequences, target.sequences * replicas);
  Result<roofline::Prediction> after = predict_change(s, change, result.metric);
  // A larger batch also needs larger activations: what is left for the KV cache then decides.
  if (after && s.now.memory.fits && !after->memory.fits && after->memory.max_requests > present) {
    change.scenario->sequences = after->memory.max_requests * replicas;
    result.stops_at = fmt::format("{:.0f} sequences, which is what memory holds beside their activations",
                                  after->memory.max_requests);
    after = predict_change(s, change, result.metric);
  }
  if (after && s.now.memory.fits && !after->memory.fits) {
    result.note = "a larger batch does not fit beside its activations";
    return result;
  }
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  const bool closed = s.input.scenario.load == graph::Load::concurrency;
  result.change = fmt::format("{} {:.0f}", closed ? "--concurrency" : "--batch", change.scenario->sequences);
  const double bound = bound_with_overhead(s, change, *after, result.metric);
  take_gain(s, std::move(change), *after, bound, result);
  const auto token = [](const roofline::DecodePrediction& d) {
    return units::print(units::Seconds{d.tpot_s(d.expected.mid)});
  };
  result.cost =
      fmt::format("each user waits longer: {} a token instead of {}", token(after->decode), token(s.now.decode));
  result.note = fmt::format("the weights, {} of the bytes, are read once for all; each sequence adds its own KV cache",
                            percent(weight_share(s.now.decode)));
  return result;
}

}  // namespace corridor::lever
