// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor diagnose`: a case, what was observed, and pasted text → the verdict with its evidence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/app/metrics_case.h"
#include "corridor/app/predict.h"
#include "corridor/app/result_ladder.h"
#include "corridor/app/run_files.h"
#include "corridor/diagnose/diagnosis.h"
#include "corridor/lever/lever.h"

namespace corridor::app {

struct DiagnoseRequest {
  PredictRequest base;
  diagnose::Observation seen;
  std::vector<RunFile> texts;             ///< pasted commands, printed results, logs
  std::vector<RunFile> results;           ///< saved by benchmark clients
  std::vector<RunFile> metrics;           ///< Prometheus pages: one, or two of a server; the same of its GPUs
  std::optional<double> metrics_seconds;  ///< between two pages of a server

  [[nodiscard]] bool has_files() const { return !texts.empty() || !results.empty() || !metrics.empty(); }
};

struct DiagnoseAnswer {
  std::optional<PredictAnswer> predicted;  ///< empty when two rates were all
  std::optional<diagnose::Diagnosis> diagnosis;
  std::optional<diagnose::RateDiagnosis> rates;  ///< two rates and a device alone
  std::optional<profile::ServerMetrics> metrics;
  /// Without a model or a device: what the metrics alone tell. Then there is neither diagnosis nor rates.
  std::optional<MetricsVerdict> metrics_alone;
  std::optional<ResultLadder> ladder;  ///< several results of one model
  hardware::Device device;
  diagnose::Observation seen;
  std::vector<lever::LeverResult> levers;  ///< ranked; empty when the case does not fit
  std::vector<std::string> fits_with;      ///< does_not_fit: changes after which it fits, with their flags
  std::vector<std::string> understood, ignored, remarks;
};

/// What the files of a request told, with the case they fill.
struct GatheredRun {
  PredictRequest base;  ///< flags first, then the files
  diagnose::Observation seen;
  std::vector<profile::ResultBlock> results;
  std::optional<profile::ServerMetrics> metrics;
  std::optional<double> max_sequences;
  bool asks_for_concurrency = false;
  bool understood_nothing = false;
  std::vector<std::string> understood, ignored, remarks;
};

/// Reads all files of the request. Fails when one cannot be read at all, or names a model of another machine.
[[nodiscard]] Result<GatheredRun> gather_run(const Assets& assets, const DiagnoseRequest& request);

[[nodiscard]] Result<DiagnoseAnswer> diagnose(const Assets& assets, const DiagnoseRequest& request);

}  // namespace corridor::app
