// SPDX-License-Identifier: Apache-2.0
// The cases behind a sweep: any point of its axes, asked for or not, can be computed from them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "corridor/app/sweep.h"

namespace corridor::app {

using Coordinates = std::array<double, 2>;

/// Read-only after `open`, so points may be computed on several threads.
class SweepGrid {
 public:
  /// Resolves every combination of names on the axes.
  [[nodiscard]] static Result<SweepGrid> open(const Assets& assets, const PredictRequest& base,
                                              std::vector<SweepAxis> axes);

  [[nodiscard]] SweepPoint compute(const Coordinates& at) const;
  [[nodiscard]] const std::vector<SweepAxis>& axes() const { return axes_; }
  /// The first case with the notes of all, each once, and the assumptions of its prediction.
  [[nodiscard]] PredictAnswer described_case() const;

 private:
  [[nodiscard]] PredictRequest request_at(const Coordinates& at) const;
  [[nodiscard]] std::size_t case_at(const Coordinates& at) const;

  PredictRequest base_;
  std::vector<SweepAxis> axes_;
  std::vector<PredictAnswer> cases_;         ///< by the names of the first axis, then of the second
  std::vector<roofline::ModelFacts> facts_;  ///< of the model of each case
};

}  // namespace corridor::app
