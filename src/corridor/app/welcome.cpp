// SPDX-License-Identifier: Apache-2.0
// Predicts six small cases on one device; engine and constants are loaded once.
#include "corridor/app/welcome.h"

#include <optional>
#include <utility>

#include "corridor/app/scenario_builder.h"
#include "corridor/model/readers.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

constexpr const char* sizes[] = {"1B", "8B", "70B"};

/// Defaults of `predict` for one plain model on the answer's device; the engine is loaded by the first case.
Result<WelcomeCase> predict_case(const Assets& assets, const PredictRequest& request, PredictAnswer& answer) {
  const Result<double> parameters = units::parse_count(request.params);
  if (!parameters) return tl::unexpected(parameters.error());
  Result<model::ModelSpec> model = model::plain_dense_model(*parameters);
  if (!model) return tl::unexpected(model.error());
  answer.model = std::move(*model);
  ScenarioBuilder builder(request, answer);
  if (Result<int> ok = builder.build(); !ok) return tl::unexpected(ok.error());
  if (answer.engine.id != answer.scenario.engine) {
    Result<roofline::EngineProfile> engine = roofline::load_engine(assets, answer.scenario.engine);
    if (!engine) return tl::unexpected(engine.error());
    answer.engine = std::move(*engine);
  }
  Result<roofline::Prediction> prediction =
      roofline::predict({answer.model, answer.device, answer.scenario, answer.engine, answer.constants});
  if (!prediction) return tl::unexpected(prediction.error());
  return WelcomeCase{request.params, answer.weights_name, std::move(*prediction)};
}

}  // namespace

Result<WelcomeAnswer> welcome(const Assets& assets, measure::LocalMachine machine) {
  WelcomeAnswer out;
  PredictAnswer answer;
  answer.device = machine.device;
  Result<roofline::KernelConstants> constants = roofline::ConstantFiles(assets).constants(answer.device);
  if (!constants) return tl::unexpected(constants.error());
  answer.constants = std::move(*constants);
  // The 4-bit format people use in the device's default engine.
  const char* four_bit = answer.device.default_engine == "llama.cpp" ? "q4_k_m" : "int4";
  for (const char* size : sizes) {
    for (const char* weights : {"bf16", four_bit}) {
      PredictRequest request;
      request.params = size;
      request.weights = weights;
      Result<WelcomeCase> one = predict_case(assets, request, answer);
      if (!one) return tl::unexpected(one.error());
      out.cases.push_back(std::move(*one));
    }
  }
  out.engine = answer.engine.id;
  out.machine = std::move(machine);
  return out;
}

Result<WelcomeAnswer> welcome(const Assets& assets) {
  Result<measure::LocalMachine> machine = measure::look_at_this_machine(assets);
  if (!machine) return tl::unexpected(machine.error());
  return welcome(assets, std::move(*machine));
}

}  // namespace corridor::app
