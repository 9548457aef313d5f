// SPDX-License-Identifier: Apache-2.0
// From the metrics of a server and its GPUs to a case, an observation, and what they tell by themselves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/app/trace_case.h"
#include "corridor/diagnose/observation.h"
#include "corridor/profile/metrics/server_metrics.h"

namespace corridor::app {

/// Reads all pages: at most two of one server and two of its GPUs, in order of time. `seconds`: between the two.
[[nodiscard]] Result<profile::ServerMetrics> read_metrics(const std::vector<TraceFile>& pages,
                                                          std::optional<double> seconds);

/// Fills what is empty in `request` and `seen` from the metrics, and says how.
void take_metrics(const Assets& assets, const profile::ServerMetrics& metrics, PredictRequest& request,
                  diagnose::Observation& seen, std::vector<std::string>& remarks);

/// What the metrics tell without a prediction to compare with.
struct MetricsVerdict {
  std::string status;  ///< "queueing", "load_limited"; empty when the metrics alone cannot tell
  std::string wall;    ///< from GPU activities; empty when they do not tell
  std::string sentence, remedy;
};
[[nodiscard]] MetricsVerdict judge_metrics(const profile::ServerMetrics& metrics);

/// What the memory's activity says and what it cannot, in one sentence; empty without that counter.
[[nodiscard]] std::string dram_sentence(const profile::ServerMetrics& metrics);

}  // namespace corridor::app
