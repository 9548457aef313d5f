// SPDX-License-Identifier: Apache-2.0
// The main answer: (model, device, scenario, engine) → limits, expected times, walls, break-even, memory.
//
//   const Prediction p = *predict({model, device, scenario, engine, constants});
//   p.decode.expected.mid      // seconds of one decode step
//   p.memory.devices_needed    // when it does not fit
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/graph/scenario.h"
#include "corridor/hardware/device.h"
#include "corridor/model/model_spec.h"
#include "corridor/roofline/break_even.h"
#include "corridor/roofline/engine_profile.h"
#include "corridor/roofline/kernel_constants.h"
#include "corridor/roofline/memory_fit.h"
#include "corridor/roofline/model_facts.h"
#include "corridor/roofline/step_time.h"

namespace corridor::roofline {

struct PredictInput {
  const model::ModelSpec& model;
  const hardware::Device& device;
  const graph::Scenario& scenario;
  const EngineProfile& engine;
  const KernelConstants& constants;
  const model::ModelSpec* draft = nullptr;  ///< speculative decoding with a draft model
  const ModelFacts* facts = nullptr;        ///< of `model`, when the caller keeps them for many scenarios
  bool rows = true;                         ///< keep the operations (DecodePrediction::rows); no time depends on it
};

/// One decode step (a round, when speculating) of one replica.
struct DecodePrediction {
  double sequences = 0;            ///< running at once on the replica
  double tokens_per_sequence = 1;  ///< new tokens a step yields for each: 1, or the mean of a speculation round
  StepTotals totals;               ///< of the replica, no duplicate counted
  StepTotals per_device;
  units::Seconds limit, limit_memory, limit_compute, limit_link;
  Interval expected;
  Budget budget;  ///< adds up to expected.mid
  WallShares shares;
  Wall wall = Wall::memory;
  BreakEven break_even;
  double prompt_tokens_per_step = 0;  ///< mean, under `concurrency`
  std::vector<OpRow> rows;            ///< of a step without prompt tokens
  [[nodiscard]] double tpot_s(units::Seconds step) const { return step.value() / tokens_per_sequence; }
};

/// From the prompt's arrival at an engine to its first token.
struct PrefillPrediction {
  double prompts = 1;  ///< computed together: the batch, or one under `concurrency`
  double chunks = 1;   ///< steps that all prompts together take
  StepTotals totals;
  units::Seconds limit, limit_memory, limit_compute, limit_link;
  Interval expected;     ///< of one prompt that waits for nobody
  units::Seconds queue;  ///< mean wait behind other prompts: zero but under `concurrency`
  Interval first_token;  ///< queue + expected: the mean time to first token of the load
  Budget budget;         ///< adds up to expected.mid
  WallShares shares;
  Wall wall = Wall::compute;
  std::vector<OpRow> rows;  ///< of the last chunk
};

struct Prediction {
  Arithmetic arithmetic;      ///< of the matrix products
  units::FlopsPerByte ridge;  ///< of that type
  double parameters = 0, active_parameters = 0;
  units::Bytes weight_bytes;  ///< resident, whole model
  MemoryFit memory;
  DecodePrediction decode;
  PrefillPrediction prefill;
  bool graphs = true;
  std::vector<std::string> assumptions;  ///< what had to be assumed, one clause each
};

/// Fails only when the device lacks what no answer can do without (bandwidth, capacity, any peak).
[[nodiscard]] Result<Prediction> predict(const PredictInput& input);

}  // namespace corridor::roofline
