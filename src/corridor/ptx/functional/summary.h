// SPDX-License-Identifier: Apache-2.0
// From what was counted an instruction at a time to the counters of a run.
#pragma once

#include <span>
#include <vector>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/launch.h"

namespace corridor::ptx {

/// Fills counters and lines of `result` (blocks_run is set). `caches` may be null.
void summarise(const LaunchState& launch, std::span<const Tally> tallies, const CacheCounters* caches,
               RunResult& result);
/// A sample stands for the whole grid: multiplies the counts of what blocks do by themselves. Of the caches only bounds
/// are left; `touched`: distinct sectors that the sample touched.
void scale(RunResult& result, double factor, std::uint64_t touched);
/// The same kind at the same line is one fault with a count.
void add_faults(std::vector<Fault>& to, std::vector<Fault>& from);

}  // namespace corridor::ptx
