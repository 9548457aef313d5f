// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor predict`: words from a user → model, device, scenario with stated defaults → Prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/roofline/predict.h"

namespace corridor::app {

/// What the user said, as said; empty means not said.
struct PredictRequest {
  std::string model;
  std::string params;  ///< "70B" for a plain dense model
  std::string device;
  std::optional<std::int64_t> devices, tp, pp, ep, dp;
  std::string weights, kv, math, engine, routing;
  std::optional<double> batch, concurrency;
  std::optional<std::int64_t> context, input, output;
  std::string spec_draft;
  std::optional<std::int64_t> spec_tokens;
  std::optional<double> spec_acceptance, spec_tokens_per_round;
  bool no_graphs = false, no_flash_attention = false, no_fusion = false;
};

/// A value the user did not give, and why it was chosen.
struct DefaultUsed {
  std::string name, value, why;
};

/// Everything a view needs; the prediction and what it was made from.
struct PredictAnswer {
  model::ModelSpec model;
  std::optional<model::ModelSpec> draft;
  hardware::Device device;
  graph::Scenario scenario;
  roofline::EngineProfile engine;
  roofline::KernelConstants constants;
  roofline::Prediction prediction;
  std::string weights_name;  ///< "bf16", "fp8", "mxfp4 + bf16"
  std::vector<DefaultUsed> defaults;
  std::vector<std::string> notes;  ///< how names were understood; inputs without effect
};

/// Every failure is one line: what, where (the flag), what to do.
[[nodiscard]] Result<PredictAnswer> predict(const Assets& assets, const PredictRequest& request);

}  // namespace corridor::app
