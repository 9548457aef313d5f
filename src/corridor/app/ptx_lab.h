// SPDX-License-Identifier: Apache-2.0
// The laws of a GPU on the simulated one (`corridor lab --on sim`): counts by the simulator held against closed forms.
// Nothing here is a clock's reading: times, where there are any, are the timing model's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "corridor/app/ptx_machine.h"
#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/hardware/device.h"
#include "corridor/measure/lab/experiment.h"

namespace corridor::app {

struct PtxExperiment {
  std::string_view name, sentence;
};

/// In the order in which the laws build on each other; names that the lab of the processor shares mean the same law.
[[nodiscard]] const std::vector<PtxExperiment>& ptx_experiments();

struct PtxLabAnswer {
  hardware::Device device;
  PtxMachine machine;
  measure::LabResult result;
};

/// Runs one experiment on the simulated `device` (empty: h100-sxm). Fails on an unknown name and on a device that
/// cannot be simulated. Takes up to about a second.
[[nodiscard]] Result<PtxLabAnswer> run_ptx_lab(const Assets& assets, const std::string& name,
                                               const std::string& device);

}  // namespace corridor::app
