// SPDX-License-Identifier: Apache-2.0
// What a run of a kernel counted, under the names Nsight Compute gives the same quantities.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "corridor/ptx/isa/op_info.h"
#include "corridor/ptx/memory/hierarchy.h"

namespace corridor::ptx {

/// Of one kind of access.
struct AccessCounters {
  std::uint64_t requests = 0, sectors = 0, wavefronts = 0, ideal_wavefronts = 0,
                bytes = 0;  ///< bytes: what lanes asked for
};

struct Counters {
  std::uint64_t blocks = 0, warps = 0;
  std::uint64_t warp_instructions = 0;           ///< smsp__inst_executed.sum
  std::uint64_t thread_instructions = 0;         ///< smsp__thread_inst_executed.sum
  std::uint64_t thread_instructions_on = 0;      ///< smsp__thread_inst_executed_pred_on.sum
  std::array<std::uint64_t, 33> active_lanes{};  ///< warp instructions by the number of lanes that were active
  double issue_slots = 0;                        ///< estimated machine instructions of all warps
  std::array<std::uint64_t, 16> by_pipe{};       ///< warp instructions, indexed by Pipe
  std::array<std::uint64_t, 40> fadd{}, fmul{},
      ffma{};                                    ///< thread operations, indexed by Type (packed ones count twice)
  std::array<std::uint64_t, 40> tensor_flops{};  ///< by Type of the sources
  std::uint64_t special = 0;                     ///< thread operations of the special-function unit
  std::uint64_t branches = 0, divergent_branches = 0;
  std::uint64_t barriers = 0, shuffles = 0, votes = 0;  ///< warp instructions
  AccessCounters global_load, global_store, global_atomic, local_load, local_store, shared_load, shared_store,
      shared_atomic;
  CacheCounters cache;                          ///< zero when caches were not modelled
  [[nodiscard]] double flops(Type type) const;  ///< adds + products + 2 × fma, vector pipes only
  [[nodiscard]] double flops() const;           ///< all types, tensor included
  void add(const Counters& other);
};

/// The same for one line of the PTX.
struct LineCounters {
  std::uint32_t line = 0;
  SourceLine source;
  std::uint64_t warp_instructions = 0, thread_instructions_on = 0, sectors = 0, wavefronts = 0, conflicts = 0;
  double flops = 0;
};

/// A counter with the name it has in Nsight Compute.
struct NamedCounter {
  std::string_view name;  ///< "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
  double value = 0;
  std::string_view unit;  ///< "inst", "sector", "byte" …
};
[[nodiscard]] std::vector<NamedCounter> named(const Counters& counters);

}  // namespace corridor::ptx
