// SPDX-License-Identifier: Apache-2.0
// Turns a PredictRequest into a Scenario: ranges checked, defaults chosen and written down, inputs without effect
// named.
#pragma once

#include "corridor/app/predict.h"

namespace corridor::app {

/// Works on the answer's model and device; writes its scenario, defaults, notes and (with --weights) the model's
/// formats.
class ScenarioBuilder {
 public:
  ScenarioBuilder(const PredictRequest& request, PredictAnswer& answer)
      : ScenarioBuilder(request, answer.model, answer.device, answer.scenario) {
    formatted_model_ = &answer.model;
    weights_name_ = &answer.weights_name;
    defaults_ = &answer.defaults;
    notes_ = &answer.notes;
  }
  /// For many scenarios of one case: `model` already has the formats of the request (see format_weights), and nothing
  /// is written down but the scenario.
  ScenarioBuilder(const PredictRequest& request, const model::ModelSpec& model, const hardware::Device& device,
                  graph::Scenario& scenario)
      : request_(request), model_(model), device_(device), scenario_(scenario) {}
  [[nodiscard]] Result<int> build();

 private:
  [[nodiscard]] Result<int> choose_precision();
  [[nodiscard]] Result<int> choose_layout();
  [[nodiscard]] Result<int> choose_load();
  [[nodiscard]] Result<int> choose_lengths();
  [[nodiscard]] Result<int> choose_speculation();
  [[nodiscard]] Result<int> choose_routing();
  void choose_engine();
  void name_inputs_without_effect();
  void used_default(const char* name, std::string value, const char* why);
  void note(std::string text);

  const PredictRequest& request_;
  const model::ModelSpec& model_;
  const hardware::Device& device_;
  graph::Scenario& scenario_;
  model::ModelSpec* formatted_model_ = nullptr;  ///< the same model, when its formats are still to be chosen
  std::string* weights_name_ = nullptr;
  std::vector<DefaultUsed>* defaults_ = nullptr;
  std::vector<std::string>* notes_ = nullptr;
};

/// Gives the model the asked weight format ("" = leaves its own). An unknown name fails with the list of known ones.
[[nodiscard]] Result<int> format_weights(model::ModelSpec& model, const std::string& weights);

/// "bf16", "mxfp4 + bf16": the formats the model's matrices are stored in.
[[nodiscard]] std::string stored_formats(const model::ModelSpec& model);

}  // namespace corridor::app
