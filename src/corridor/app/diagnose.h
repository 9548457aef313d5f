// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor diagnose`: a case, what was observed, and pasted text → the verdict with its evidence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/diagnose/diagnosis.h"
#include "corridor/lever/lever.h"

namespace corridor::app {

struct DiagnoseRequest {
  PredictRequest base;
  diagnose::Observation seen;
  std::string text;         ///< pasted; empty = none
  bool text_given = false;  ///< a text was given, even an empty one
};

struct DiagnoseAnswer {
  std::optional<PredictAnswer> predicted;  ///< empty when two rates were all
  std::optional<diagnose::Diagnosis> diagnosis;
  std::optional<diagnose::RateDiagnosis> rates;  ///< two rates and a device alone
  hardware::Device device;
  diagnose::Observation seen;
  std::vector<lever::LeverResult> levers;  ///< ranked; empty when the case does not fit
  std::vector<std::string> fits_with;      ///< does_not_fit: changes after which it fits, with their flags
  std::vector<std::string> understood, ignored, remarks;
};

[[nodiscard]] Result<DiagnoseAnswer> diagnose(const Assets& assets, const DiagnoseRequest& request);

}  // namespace corridor::app
