// SPDX-License-Identifier: Apache-2.0
// bar and barrier: sixteen named barriers of a block, with thread counts and reductions.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/handlers.h"

namespace corridor::ptx {
namespace {

constexpr std::uint16_t not_aligned = 1, has_count = 2, negated = 4;

std::uint32_t first_of(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

/// Reads id and thread count; false after a fault.
bool read_barrier(Exec& x, const Op& op, std::uint32_t& id, std::uint32_t& threads) {
  const std::uint32_t lane = first_of(x.mask);
  id = row32(x, op.a)[lane];
  threads = (op.flags & has_count) != 0 ? row32(x, op.b)[lane] : 0;
  if (id < 16 && threads % 32 == 0) return true;
  x.block->fault(x, Fault::Kind::trap, lane,
                 id >= 16 ? fmt::format("there is no barrier {}; they go from 0 to 15", id)
                          : fmt::format("a barrier for {} threads: the count must be a multiple of 32", threads));
  return false;
}

/// Whether the whole warp is here. A warp in pieces may wait at a barrier that is not .aligned, group by group.
bool whole_warp(Exec& x, const Op& op) {
  if ((x.mask & x.warp->alive) == x.warp->alive) return true;
  if (((op.flags & not_aligned) != 0 || x.warp->split) && x.mask == x.active) {
    if (!x.warp->split) {
      x.event = Event::again;
      return false;
    }
    Warp& warp = *x.warp;
    const std::uint32_t id = row32(x, op.a)[first_of(x.mask)];
    std::uint32_t here = 0;
    for (LaneGroup& group : warp.groups) {
      if (group.mask == x.active) {
        group.wait = LaneGroup::Wait::barrier;
        group.barrier = id;
        group.threads = (op.flags & has_count) != 0 ? row32(x, op.b)[first_of(x.mask)] : 0;
        group.pc = x.pc;
      }
      if (group.wait == LaneGroup::Wait::barrier && group.barrier == id) here |= group.mask;
    }
    if ((here & warp.alive) == warp.alive) return true;
    x.event = Event::flow;
    return false;
  }
  x.block->fault(x, Fault::Kind::divergent_barrier, first_of(x.mask),
                 fmt::format("only lanes 0x{:08x} of 0x{:08x} reach this barrier together", x.mask, x.warp->alive));
  return false;
}

}  // namespace

void BlockRun::arrive(Exec& x, std::uint32_t id, std::uint32_t threads, bool waits, int reduction, std::uint32_t values,
                      std::uint32_t slot) {
  Barrier& barrier = barriers_[id];
  barrier.expected = threads / 32;
  ++barrier.arrived;
  const std::uint32_t lanes = x.warp->alive;
  barrier.population += lanes_in(values & lanes);
  barrier.all = barrier.all && (values & lanes) == lanes;
  barrier.any = barrier.any || (values & lanes) != 0;
  if (waits) {
    x.warp->state = Warp::State::barrier;
    x.warp->barrier = id;
    x.warp->barrier_pc = x.at;
    x.warp->barrier_kind = static_cast<std::uint32_t>(reduction);
    x.warp->barrier_slot = slot;
    x.event = Event::wait;
    if (x.warp->split) {
      for (LaneGroup& group : x.warp->groups) {
        if ((group.mask & x.active) != 0 && group.wait == LaneGroup::Wait::none) group.pc = x.pc;
      }
    }
  }
  release_if_complete(id);
}

void BlockRun::release_if_complete(std::uint32_t id) {
  Barrier& barrier = barriers_[id];
  if (barrier.arrived == 0) return;
  const std::uint32_t expected = barrier.expected != 0 ? barrier.expected : live_warps_;
  if (barrier.arrived < expected) return;
  for (Warp& warp : warps_) {
    if (warp.state != Warp::State::barrier || warp.barrier != id) continue;
    warp.state = Warp::State::ready;
    if (warp.barrier_slot != no_place && !warp.groups.empty()) {
      Exec x;
      x.frame = warp.file + warp.calls[warp.groups.back().call].frame;
      x.mask = warp.alive;
      if (warp.barrier_kind == 1) {
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          if (((x.mask >> lane) & 1) != 0) row32(x, warp.barrier_slot)[lane] = barrier.population;
        }
      } else {
        const bool value = warp.barrier_kind == 2 ? barrier.all : barrier.any;
        set_predicate(x, warp.barrier_slot, value ? all_lanes : 0);
      }
    }
    for (LaneGroup& group : warp.groups) {
      if (group.wait == LaneGroup::Wait::barrier && group.barrier == id) group.wait = LaneGroup::Wait::none;
    }
    warp.barrier_slot = no_place;
  }
  barrier = {};
  order();
}

void BlockRun::leave(Warp& warp) {
  if (warp.state == Warp::State::done) return;
  warp.state = Warp::State::done;
  --live_warps_;
  for (std::uint32_t id = 0; id < 16; ++id) {
    if (barriers_[id].expected == 0) release_if_complete(id);
  }
}

void barrier_wait(Exec& x, const Op& op) {
  std::uint32_t id = 0, threads = 0;
  if (!read_barrier(x, op, id, threads) || !whole_warp(x, op)) return;
  x.block->arrive(x, id, threads, true, 0, 0, no_place);
}

void barrier_arrive(Exec& x, const Op& op) {
  std::uint32_t id = 0, threads = 0;
  if (!read_barrier(x, op, id, threads) || !whole_warp(x, op)) return;
  x.block->arrive(x, id, threads, false, 0, 0, no_place);
}

void barrier_reduce(Exec& x, const Op& op) {
  std::uint32_t id = 0, threads = 0;
  if (!read_barrier(x, op, id, threads)) return;
  if ((x.mask & x.warp->alive) != x.warp->alive) {
    return x.block->fault(
        x, Fault::Kind::divergent_barrier, first_of(x.mask),
        fmt::format("only lanes 0x{:08x} of 0x{:08x} reach this barrier together", x.mask, x.warp->alive));
  }
  const std::uint32_t values = predicate(x, op.c) ^ ((op.flags & negated) != 0 ? all_lanes : 0);
  x.block->arrive(x, id, threads, true, op.flags >> 3, values, op.d);
}

}  // namespace corridor::ptx
