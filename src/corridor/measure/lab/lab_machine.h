// SPDX-License-Identifier: Apache-2.0
// What the experiments know of this machine before they run: its processor as a Device whose ladder was measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/measure/clock.h"
#include "corridor/measure/estimator.h"
#include "corridor/measure/machine_facts.h"
#include "corridor/measure/worker_team.h"

namespace corridor::measure {

/// One rung, nearest the cores first. Bandwidth is of all threads in use together.
struct LabLevel {
  std::string name;           ///< "L1", "L2", "L3", "main memory"
  units::Bytes one_instance;  ///< capacity of one cache, or of the memory
  units::Bytes capacity;      ///< of all of them
  units::BytesPerSecond bandwidth;
  units::Seconds latency;  ///< from load to use
};

/// What the experiments on a GPU know beside the ladder.
struct LabGpu {
  int ordinal = 0, sm_count = 0, max_threads_per_sm = 0, max_blocks_per_sm = 0;
  units::Bytes l2;                               ///< as its driver tells
  units::Bytes shared_per_sm, shared_per_block;  ///< the most that a block may ask for
  units::Bytes memory_free;
  units::Seconds graph_node;  ///< one kernel of a replayed graph; zero when graphs cannot be used
};

struct LabMachine {
  MachineFacts facts;
  hardware::Device device;  ///< what `--device local` is here, or the processor when that is a GPU
  int threads = 1;
  std::vector<LabLevel> ladder;  ///< the last one is main memory; never empty
  units::FlopsPerSecond fp32;    ///< multiply-adds in registers, all threads
  units::Hertz clock;            ///< of one core while it runs a chain of additions
  units::Seconds dispatch;       ///< an empty task to all threads and back
  units::BytesPerSecond update;  ///< main memory, each value read and written back in place; both counted
  std::optional<LabGpu> gpu;     ///< empty when the experiments run on the processor
  units::Bytes most_memory;      ///< an experiment's largest array at most; zero: no limit but the free memory
  std::vector<std::string> notes;

  /// What the experiments run on: the GPU, or the processor.
  [[nodiscard]] const std::string& name() const { return gpu ? device.name : facts.cpu_name; }
  /// The level of that name ("L1"); null when it was not found.
  [[nodiscard]] const LabLevel* find(std::string_view level) const;
  [[nodiscard]] const LabLevel& main_memory() const { return ladder.back(); }
  [[nodiscard]] units::BytesPerSecond bandwidth() const { return ladder.back().bandwidth; }
  /// FLOP a byte at which memory and arithmetic take the same time, fp32.
  [[nodiscard]] double ridge() const { return fp32 / bandwidth() * units::Bytes{1} / units::Flops{1}; }
  /// The nearest level in which a working set of `bytes` of one thread stays; main memory when none.
  [[nodiscard]] const LabLevel& level_for(units::Bytes bytes) const;
  /// Bytes that no cache holds: twice the last-level cache, at least 64 MiB, at most a third of the free memory and
  /// `most_memory`.
  [[nodiscard]] std::size_t beyond_caches() const;
};

/// Looks at this machine as `--device local` does, then measures bandwidth and latency of each level, the arithmetic
/// peak, the dispatch of a task and the clock, as medians on `threads` bound threads (0: all that this process may
/// use), which is how the experiments are timed. About four seconds. With `most_memory` the arrays are smaller, and
/// numbers of main memory may be those of a cache.
[[nodiscard]] Result<LabMachine> look_for_lab(const Assets& assets, const Clock& clock, int threads,
                                              units::Bytes most_memory = {});

/// One core's clock from a chain of dependent additions, one a cycle.
[[nodiscard]] Result<units::Hertz> measure_clock(const Clock& clock);

/// The time of an empty task on all threads of a team.
[[nodiscard]] Result<Samples> measure_dispatch(WorkerTeam& team, const Clock& clock, units::Seconds budget);

}  // namespace corridor::measure
