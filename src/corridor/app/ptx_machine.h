// SPDX-License-Identifier: Apache-2.0
// A device of the catalogue as the simulated GPU sees it: what its file states, else what its compute capability tells,
// else an assumption that is listed.
#pragma once

#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/hardware/device.h"
#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/timing/machine.h"
#include "corridor/ptx/timing/occupancy.h"

namespace corridor::app {

struct PtxMachine {
  ptx::Machine machine;
  std::vector<std::string> assumed;  ///< each a short sentence: "512 clocks to DRAM, as on cc 8.6"; empty: all stated
};

/// Fails for devices that run no PTX (not NVIDIA, CPUs) and where the number of SMs, the clock or the bandwidth can
/// neither be read nor derived, naming what is missing.
[[nodiscard]] Result<PtxMachine> ptx_machine(const hardware::Device& device);

/// What a running kernel needs to know. L1 is the pool less the shared memory that the resident blocks make the driver
/// set aside, which it does in a few fixed sizes.
[[nodiscard]] ptx::RunDevice run_device(const ptx::Machine& machine, const ptx::BlockNeeds& needs,
                                        const ptx::Occupancy& occupancy);

}  // namespace corridor::app
