// SPDX-License-Identifier: Apache-2.0
// Measured runs made ready for fitting: each row with its case, so that constants can be changed and the row timed
// anew.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/profile/points/measured_point.h"
#include "corridor/roofline/predict.h"

namespace corridor::fit {

/// A model in one weight format, with its facts, shared by many rows.
struct LoadedModel {
  model::ModelSpec model;
  roofline::ModelFacts facts;
};

/// One row of a table of runs and what is predicted for it.
struct RunPoint {
  profile::MeasuredPoint point;
  std::shared_ptr<const LoadedModel> model;
  std::shared_ptr<const hardware::Device> device;
  std::shared_ptr<const roofline::KernelConstants> constants;
  std::string engine;  ///< id of the profile
  graph::Scenario scenario;
};

/// Seconds, whatever the row's metric is: a rate is turned over with the row's own tokens.
struct RunTimes {
  double observed = 0, predicted = 0, limit = 0, low = 0, high = 0;
  bool saturated = false;
  /// Signed error of the prediction as a ratio of times.
  [[nodiscard]] double error() const { return predicted / observed - 1; }
};

struct RunTable {
  std::vector<RunPoint> points;
  std::vector<std::string> left_out;  ///< "ID: why"
};

/// Reads a table and resolves every row's names. A row whose names are not known is left out and named.
[[nodiscard]] Result<RunTable> load_runs(const Assets& assets, const std::string& path);

/// Times a row with `engine` in place of its own profile's constants.
[[nodiscard]] Result<RunTimes> time_run(const RunPoint& run, const roofline::EngineProfile& engine);

}  // namespace corridor::fit
