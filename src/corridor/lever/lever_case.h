// SPDX-License-Identifier: Apache-2.0
// For tests: a case from the built-in data, its prediction and its levers.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "corridor/lever/lever.h"
#include "corridor/roofline/test_case.h"

namespace corridor::lever {

/// A case that can be ranked, and predicted again after a change.
struct LeverCase {
  roofline::TestCase test;
  std::optional<model::ModelSpec> draft;
  std::vector<double> output_lengths;
  std::optional<double> acceptance;
  std::vector<DeviceChoice> choices;

  [[nodiscard]] roofline::PredictInput input() const {
    return {test.model, test.device, test.scenario, test.engine, test.constants, draft ? &*draft : nullptr};
  }
  [[nodiscard]] roofline::Prediction predict() const { return roofline::predict(input()).value(); }
  [[nodiscard]] std::vector<LeverResult> levers() const {
    const roofline::Prediction now = predict();
    return rank_levers({input(), now, output_lengths, acceptance, &choices});
  }
  [[nodiscard]] LeverResult lever(const std::string& id) const {
    const std::vector<LeverResult> all = levers();
    return *std::find_if(all.begin(), all.end(), [&](const LeverResult& r) { return r.id == id; });
  }
  void add_choice(const std::string& id) {
    const hardware::Device device = hardware::find_device(roofline::TestCase::assets(), id).value().device;
    choices.push_back({device, roofline::TestCase::constant_files().constants(device).value()});
  }
  static LeverCase of(const std::string& model, const std::string& device, double batch = 1) {
    LeverCase c{roofline::TestCase::built_in(model, device), {}, {}, {}, {}};
    c.test.scenario.sequences = batch;
    c.test.scenario.kv = *model::find_weight_format("bf16");
    return c;
  }
};

}  // namespace corridor::lever
