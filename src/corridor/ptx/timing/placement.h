// SPDX-License-Identifier: Apache-2.0
// Where a kernel's counters put it on a machine: a roof each for issue, pipes, L1, L2 and DRAM, and time as a range.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "corridor/ptx/functional/counters.h"
#include "corridor/ptx/timing/machine.h"
#include "corridor/ptx/timing/occupancy.h"

namespace corridor::ptx {

/// The least time one resource needs for the whole kernel.
struct Roof {
  std::string name;  ///< "DRAM bandwidth", "issue slots", "FP32 pipe", "latency"
  double time_s = 0;
  double work = 0;  ///< bytes, FLOPs, warp instructions …
  std::string unit;
  double intensity_flop_per_byte = 0;  ///< of memory roofs
};

struct Placement {
  std::vector<Roof> roofs;       ///< longest first
  std::string bound;             ///< name of the longest
  double low_s = 0, high_s = 0;  ///< low: all roofs overlap; high: latency is not hidden beyond what warps allow
  double launch_s = 0;           ///< part of both
  std::uint64_t waves = 0;       ///< of blocks over the device
  double last_wave_share = 0;    ///< of the device that the last wave fills
  Occupancy occupancy;
  double flop_per_s = 0, fraction_of_roof = 0;  ///< at low_s
};

[[nodiscard]] Placement place(const Counters& counters, const BlockNeeds& needs, const Occupancy& occupancy,
                              const Machine& machine);

}  // namespace corridor::ptx
