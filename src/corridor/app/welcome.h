// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor` alone: this machine, and how fast plain dense models of 1B, 8B and 70B could run on it.
#pragma once

#include <string>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/measure/local_device.h"

namespace corridor::app {

/// One model in one format on this machine, batch 1, weights only.
struct WelcomeCase {
  std::string size;     ///< "8B"
  std::string weights;  ///< "bf16", "q4_k_m"
  roofline::Prediction prediction;
};

struct WelcomeAnswer {
  measure::LocalMachine machine;
  std::string engine;              ///< the device's default
  std::vector<WelcomeCase> cases;  ///< by size, then 16 bit before 4 bit
};

/// Looks at this machine, then predicts. Fails when the machine's memory bandwidth cannot be known.
[[nodiscard]] Result<WelcomeAnswer> welcome(const Assets& assets);

/// The predictions alone, for a machine that has been looked at.
[[nodiscard]] Result<WelcomeAnswer> welcome(const Assets& assets, measure::LocalMachine machine);

}  // namespace corridor::app
