// SPDX-License-Identifier: Apache-2.0
// What a step costs by class, from the model: for replayed graphs, whose kernels do not tell their shapes.
#pragma once

#include <array>

#include "corridor/diagnose/trace/step_annotation.h"
#include "corridor/diagnose/trace/trace_analysis.h"

namespace corridor::diagnose {

struct ClassWork {
  double flops = 0, bytes = 0;
  std::string type;  ///< arithmetic of the class in this model: "bf16"
};

/// Work of one step on one device by class. `kv`: "" = the model's 16 bit.
[[nodiscard]] std::array<ClassWork, kernel_class_count> work_of_step(const model::ModelSpec& model,
                                                                     const StepTokens& step, double tp,
                                                                     const std::string& kv,
                                                                     const hardware::Device* device);

}  // namespace corridor::diagnose
