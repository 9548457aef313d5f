// SPDX-License-Identifier: Apache-2.0
// For tests: a model, a device and a scenario from the built-in data, with one call to predict.
#pragma once

#include <string>

#include "corridor/hardware/catalogue.h"
#include "corridor/model/readers.h"
#include "corridor/roofline/predict.h"

namespace corridor::roofline {

struct TestCase {
  model::ModelSpec model;
  hardware::Device device;
  graph::Scenario scenario;
  EngineProfile engine;
  KernelConstants constants;

  static const Assets& assets() {
    static const Assets all = Assets::open().value();
    return all;
  }
  static ConstantFiles& constant_files() {
    static ConstantFiles all(assets());
    return all;
  }
  static TestCase of(model::ModelSpec model, const std::string& device, const std::string& engine) {
    TestCase test;
    test.model = std::move(model);
    test.device = hardware::find_device(assets(), device).value().device;
    test.engine = load_engine(assets(), engine).value();
    test.constants = constant_files().constants(test.device).value();
    return test;
  }
  static TestCase plain(double parameters, const std::string& weights, const std::string& device) {
    const model::ModelSpec model = model::plain_dense_model(parameters).value();
    return of(model::with_weight_format(model, model::find_weight_format(weights).value()), device, "vllm");
  }
  static TestCase built_in(const std::string& id, const std::string& device, const std::string& engine = "vllm") {
    return of(model::find_model(assets(), id).value().model, device, engine);
  }

  [[nodiscard]] Result<Prediction> try_predict() const {
    return roofline::predict({model, device, scenario, engine, constants, nullptr});
  }
  [[nodiscard]] Prediction predict() const { return try_predict().value(); }
};

}  // namespace corridor::roofline
