// SPDX-License-Identifier: Apache-2.0
// A warp while it runs: where its lanes are, and what they wait for.
//
// Lanes that part are kept on a stack and meet again at the immediate post-dominator of the branch. Where that cannot
// go on (a lane waits for another of the same warp) the warp changes for good to groups of lanes with a place each, of
// which the one that is furthest behind runs: independent thread scheduling.
#pragma once

#include <cstdint>
#include <vector>

#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/functional/op.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {

inline constexpr std::uint32_t no_place = 0xFFFFFFFF;

/// Lanes that are at one place. On the stack `meet` is where they wait for the others.
struct LaneGroup {
  std::uint32_t pc = 0, meet = no_place, mask = 0;
  std::uint32_t call = 0;  ///< index into Warp::calls
  enum class Wait : std::uint8_t { none, lanes, barrier };
  Wait wait = Wait::none;
  std::uint32_t barrier = 0;
  std::uint64_t last_run = 0;
  std::uint32_t threads = 0;  ///< the barrier's count; 0: all
};

/// A function that is being executed, and where it goes back to.
struct CallFrame {
  std::uint32_t parent = no_place, return_pc = no_place;
  std::uint32_t function = 0;
  std::uint32_t frame = 0;  ///< offset of its registers
  std::uint32_t local = 0;  ///< offset of its local memory
  std::uint32_t depth = 0;
};

/// A cp.async that has not been waited for.
struct PendingCopy {
  std::uint32_t lanes = 0, bytes = 0, line_pc = 0, group = 0;
  std::uint64_t source[32];
  std::uint32_t target[32], source_bytes[32];
};

/// A cp.async.mbarrier.arrive whose copies may not be done.
struct PendingArrival {
  std::uint32_t after = 0;  ///< copies of the warp that come first, counted from its start
  std::uint32_t lanes = 0, line_pc = 0;
  std::uint32_t barrier[32];  ///< shared addresses
};

/// A cp.async.bulk into shared memory that is on its way.
struct BulkCopy {
  std::uint64_t source = 0, target = 0;
  std::uint32_t barrier = 0, bytes = 0, line_pc = 0, lane = 0;
  bool from_global = true;
};

struct Warp {
  enum class State : std::uint8_t { ready, barrier, done };
  std::uint32_t index = 0;
  State state = State::ready;
  std::uint32_t alive = 0;  ///< lanes that have not left
  bool split = false;       ///< groups instead of a stack
  std::vector<LaneGroup> groups;
  std::vector<CallFrame> calls;
  std::vector<std::uint8_t> registers;
  std::uint8_t* file = nullptr;     ///< aligned start of `registers`
  std::vector<std::uint8_t> local;  ///< lane after lane, local_capacity bytes each
  std::vector<std::uint8_t> local_written;
  std::uint32_t local_capacity = 0;
  std::uint32_t barrier = 0, barrier_pc = 0;
  std::uint32_t barrier_slot = no_place, barrier_kind = 0;  ///< of bar.red: where the result goes
  // Watching for loops that wait.
  std::uint32_t spin_pc = no_place, spin_mask = 0, spin_count = 0, spin_yields = 0;
  std::uint64_t spin_hash = 0;
  std::uint64_t since_change = 0;
  std::uint64_t turns = 0;
  // cp.async
  std::vector<PendingCopy> copies;
  std::uint32_t committed = 0, copies_done = 0;
  std::vector<PendingArrival> arrivals;
  std::vector<BulkCopy> bulk_copies;
  WarpTrace* trace = nullptr;
};

/// From a stack to groups.
void split_warp(Warp& warp);

}  // namespace corridor::ptx
