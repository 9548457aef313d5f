// SPDX-License-Identifier: Apache-2.0
// What all levers share: predict the changed case, the metric, the interval of a gain and its bound by physics.
#pragma once

#include <string>

#include "corridor/lever/lever.h"

namespace corridor::lever {

/// Predicts the changed case: memory and decode, and the prompt when the metric needs it (it costs most of the time).
[[nodiscard]] Result<roofline::Prediction> predict_change(const Situation& situation, const Change& change,
                                                          Metric metric);

/// Expected tokens a second, or seconds for the time to first token.
[[nodiscard]] double metric_value(const roofline::Prediction& prediction, const graph::Scenario& scenario,
                                  Metric metric);

/// Seconds that physics asks of one decode step on one device: the largest of bytes ÷ bandwidth (weights with the
/// expected union of experts, and KV), FLOPs ÷ peak and link bytes ÷ link rate.
[[nodiscard]] units::Seconds roof_time(const roofline::Prediction& prediction, const hardware::Device& device);

/// How many times faster the metric would be if both cases ran at their roofs.
[[nodiscard]] double roof_ratio(const Situation& situation, const Change& change, const roofline::Prediction& after,
                                Metric metric);

/// The bound where the overhead of a token falls as well: a ratio of sums lies between the ratios of its parts, so no
/// gain exceeds the larger of the roof ratio and the overhead ratio.
[[nodiscard]] double bound_with_overhead(const Situation& situation, const Change& change,
                                         const roofline::Prediction& after, Metric metric);

/// 1 ÷ (1 − share): the gain when a part of the time vanishes.
[[nodiscard]] double gain_without(double share);

/// A result with its identity filled in that does not apply (yet).
[[nodiscard]] LeverResult unavailable(std::string id, std::string name, Metric metric, std::string note);

/// Fills applies, gain, max_gain, wall_after, before, after and `changed`. `bound` is raised to the predicted gain,
/// never the gain lowered to it, so that predicting again gives what was promised.
void take_gain(const Situation& situation, Change change, const roofline::Prediction& after, double bound,
               LeverResult& result);

/// "1.13×"
[[nodiscard]] std::string times(double ratio);
/// "23 %"
[[nodiscard]] std::string percent(double share);
/// Weights ÷ (weights + KV) of one step on one device, 0 when nothing is read.
[[nodiscard]] double weight_share(const roofline::DecodePrediction& decode);
[[nodiscard]] double kv_share(const roofline::DecodePrediction& decode);
/// " (and then it fits)", " (but it still does not fit …)" or "".
[[nodiscard]] std::string fit_clause(const Situation& situation, const roofline::Prediction& after);

}  // namespace corridor::lever
