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

/// Roofs that hold for one SM are those of the SM with most blocks. Low: everything overlaps, every load hits as the
/// mean sector does, a warp waits for nothing else. High: the longest roof and the wait of latency one after the other,
/// whole waves, every load alone unless `loads_per_wait` says more, every instruction waiting for the one before.
struct Placement {
  std::vector<Roof> roofs;       ///< longest first
  std::string bound;             ///< name of the longest; "launch" when the floor of a small kernel is longer
  double low_s = 0, high_s = 0;  ///< low: all roofs overlap; high: latency is not hidden beyond what warps allow
  double launch_s = 0;           ///< part of both
  std::uint64_t waves = 0;       ///< of blocks over the device
  double last_wave_share = 0;    ///< of the device that the last wave fills
  Occupancy occupancy;
  double flop_per_s = 0, fraction_of_roof = 0;  ///< at low_s; the longest roof's share of it, the rest is launch
};

/// Never fails: what the counters do not hold (caches that were not modelled) has no roof. `loads_per_wait`: loads a
/// warp has under way when it first waits for one (loads_per_wait() of the code); 0: not known.
[[nodiscard]] Placement place(const Counters& counters, const BlockNeeds& needs, const Occupancy& occupancy,
                              const Machine& machine, double loads_per_wait = 0);

}  // namespace corridor::ptx
