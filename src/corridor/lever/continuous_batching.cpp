// SPDX-License-Identifier: Apache-2.0
// Lever: continuous instead of static batching. A static batch runs until its longest answer is done; slots of shorter
// ones stand empty.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"

namespace corridor::lever {
namespace {

/// Mean length of an answer, and of the longest answer in a batch.
struct Lengths {
  double mean = 1, longest = 1;
};

/// Expected maximum of `batch` draws from the lengths given: Σ over sorted values of P(maximum ≤ value) steps.
Lengths from_sample(std::vector<double> lengths, double batch) {
  std::sort(lengths.begin(), lengths.end());
  const double n = static_cast<double>(lengths.size());
  Lengths out{0, 0};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double below = std::pow(static_cast<double>(i) / n, batch);
    const double upto = std::pow(static_cast<double>(i + 1) / n, batch);
    out.longest += lengths[i] * (upto - below);
    out.mean += lengths[i] / n;
  }
  return out;
}

/// The longest of n answers whose lengths spread like an exponential law is mean × (1 + 1/2 + … + 1/n).
Lengths from_mean(double mean, double batch) {
  constexpr double summed = 1000;  // beyond it the sum is ln n + Euler's constant to four digits
  constexpr double euler = 0.5772156649;
  double harmonic = std::log(batch) + euler;
  if (batch <= summed) {
    harmonic = 0;
    for (double i = 1; i <= batch; ++i) harmonic += 1 / i;
  }
  return {mean, mean * harmonic};
}

}  // namespace

LeverResult continuous_batching(const Situation& s) {
  LeverResult result = unavailable("continuous_batching", "continuous batching", Metric::all_users, "");
  const graph::Scenario& scenario = s.input.scenario;
  const double batch = s.now.decode.sequences;
  if (scenario.load == graph::Load::concurrency) {
    result.note = "a closed loop is batched continuously already";
    return result;
  }
  if (batch < 2) {
    result.note = "one sequence leaves no slot empty";
    return result;
  }
  const double mean_output = static_cast<double>(scenario.output);
  if (s.output_lengths.empty()) {
    const Lengths spread = from_mean(mean_output, std::floor(batch));
    result.max_gain = spread.longest / spread.mean;
    result.note = fmt::format(
        "needs the length distribution (--output-lengths): with an exponential spread (assumed) a static batch of "
        "{:.0f} "
        "keeps {} of its slots busy, so at most {}; {} batches continuously unless told otherwise",
        batch, percent(spread.mean / spread.longest), times(result.max_gain), s.input.engine.id);
    return result;
  }
  const Lengths spread = from_sample(s.output_lengths, batch);
  Change change;
  change.scenario = scenario;
  change.scenario->load = graph::Load::concurrency;
  change.scenario->output = std::max<std::int64_t>(1, std::llround(spread.mean));
  const Result<roofline::Prediction> after = predict_change(s, change, result.metric);
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  // Both answer the same requests: the static batch computes its prompts, then decodes until the longest is done.
  const double step_s = s.now.decode.expected.mid.value();
  const double batch_s =
      s.now.prefill.expected.mid.value() + spread.longest * step_s / s.now.decode.tokens_per_sequence;
  const double all_busy_s = spread.mean * step_s / s.now.decode.tokens_per_sequence;
  const double replicas = static_cast<double>(scenario.parallelism.dp);
  take_gain(s, std::move(change), *after, 1, result);
  result.before = batch * replicas * spread.mean / batch_s;
  const double ratio = result.after / result.before / result.gain.mid;
  result.gain = {result.gain.low * ratio, result.gain.mid * ratio, result.gain.high * ratio};
  result.max_gain = std::max(batch_s / all_busy_s, result.gain.mid);
  result.gain.high = std::min(result.gain.high, result.max_gain);
  result.change = fmt::format("--concurrency {:.0f}", scenario.sequences);
  result.cost = "steps that carry a prompt are longer";
  result.stops_at = "when every slot is busy";
  result.note =
      fmt::format("answers of {:.0f} tokens in the mean and {:.0f} for the longest of {:.0f}: {} of the slots are busy",
                  spread.mean, spread.longest, batch, percent(spread.mean / spread.longest));
  return result;
}

}  // namespace corridor::lever
