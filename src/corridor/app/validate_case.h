// SPDX-License-Identifier: Apache-2.0
// One row of measurements → the prediction of the same number, through the same stages as `corridor predict`.
#pragma once

#include <optional>
#include <string>

#include "corridor/app/validate_names.h"
#include "corridor/base/result.h"
#include "corridor/profile/points/measured_point.h"

namespace corridor::app {

/// How a method of speculation guesses (data/validation/speculation_methods.csv).
struct GuessMethod {
  double draft_share = 0;  ///< weights one guess reads ÷ weights of the target
  double draft_tokens = 5;
};

/// What the names of a row stand for. Operations and bandwidths need no model and no engine.
struct PointCase {
  const PointDevice* device = nullptr;
  const PointModel* model = nullptr;
  const PointEngine* engine = nullptr;
  GuessMethod guess;
};

/// The row's own metric in SI units; for a rate `low` is the slowest and `limit` the fastest.
struct PointPrediction {
  double low = 0, mid = 0, high = 0, limit = 0;
  double roofline = 0;      ///< the pure limit as a prediction: `limit`, but for operations that a cache may hold
  double one_constant = 0;  ///< 0.6 · bandwidth for decode, MFU 0.45 for prompts, 0.30 for products
  bool saturated = false;   ///< fewer sequences run at once than were asked for: the KV cache holds no more
  bool fits = true;
};

/// True when a larger number is faster.
[[nodiscard]] bool is_rate(profile::PointMetric metric);

/// May run on several threads at once. A failure's `what` has no numbers of the row in it.
[[nodiscard]] Result<PointPrediction> predict_point(const profile::MeasuredPoint& point, const PointCase& names);

}  // namespace corridor::app
