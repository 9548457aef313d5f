// SPDX-License-Identifier: Apache-2.0
// mbarrier: barrier objects of 64 bits in shared memory. A phase is complete when no arrival and no byte is missing.
//
// The layout is our own (PTX leaves it open): bits 0–19 arrivals that are missing, 20–39 arrivals of the next phase,
// 40–60 bytes that are missing, 61 the parity of the phase, 62 set by init. A state that mbarrier.arrive returns is the
// object before the arrival. Copies that arrive at an object are carried out when somebody asks for its phase.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/async.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/memory_access.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t object_bytes = 8;
constexpr std::uint32_t most_arrivals = (1U << 20) - 1;
constexpr std::int64_t most_transactions = (1 << 20) - 1;
constexpr std::size_t most_pending_arrivals = 4096;

struct Object {
  bool valid = false, parity = false;
  std::uint32_t pending = 0, expected = 0;
  std::int64_t bytes = 0;  ///< that are missing; below zero when they came before they were expected
};

Object unpacked(std::uint64_t word) {
  Object o;
  o.pending = static_cast<std::uint32_t>(word & most_arrivals);
  o.expected = static_cast<std::uint32_t>((word >> 20) & most_arrivals);
  o.bytes = static_cast<std::int64_t>(word << 3) >> 43;
  o.parity = ((word >> 61) & 1) != 0;
  o.valid = ((word >> 62) & 1) != 0;
  return o;
}

std::uint64_t packed(const Object& o) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(o.bytes) & ((std::uint64_t{1} << 21) - 1);
  return std::uint64_t{o.pending} | (std::uint64_t{o.expected} << 20) | (bytes << 40) |
         (std::uint64_t{o.parity ? 1U : 0U} << 61) | (std::uint64_t{o.valid ? 1U : 0U} << 62);
}

std::uint64_t word_at(Exec& x, std::uint64_t address) {
  std::uint64_t word = 0;
  std::memcpy(&word, x.block->shared().data() + address, object_bytes);
  return word;
}
void put_word(Exec& x, std::uint64_t address, std::uint64_t word) {
  std::memcpy(x.block->shared().data() + address, &word, object_bytes);
}

bool wrong(Exec& x, std::uint32_t lane, std::uint64_t address, const std::string& what) {
  x.block->fault(x, Fault::Kind::trap, lane,
                 fmt::format("the barrier object at shared address 0x{:x} {}", address, what), address,
                 "shared memory");
  return false;
}

/// One lane's change of an object: `change(object)` says what is wrong, or nothing. Then the phase may be complete.
template <class Change>
bool change_object(Exec& x, std::uint32_t lane, std::uint64_t address, bool may_complete, Change&& change) {
  Object o = unpacked(word_at(x, address));
  if (!o.valid) return wrong(x, lane, address, "was not initialised (mbarrier.init), or is invalid");
  const std::string what = change(o);
  if (!what.empty()) return wrong(x, lane, address, what);
  if (o.bytes > most_transactions || o.bytes < -most_transactions) {
    return wrong(x, lane, address, fmt::format("expects {} bytes; a phase can have {}", o.bytes, most_transactions));
  }
  if (o.pending == 0 && o.bytes == 0) {
    if (!may_complete) return wrong(x, lane, address, "completes its phase with an arrival that says .noComplete");
    o.parity = !o.parity;
    o.pending = o.expected;
  }
  put_word(x, address, packed(o));
  x.block->failed_wait = {};
  return true;
}

std::string arrive_once(Object& o, std::uint32_t count, std::uint32_t kind) {
  if (count == 0 || count > o.pending) {
    return fmt::format("has {} arrivals left in its phase, not {}", o.pending, count);
  }
  o.pending -= count;
  if ((kind & arrival::drops) != 0) o.expected -= std::min(o.expected, count);
  return {};
}

bool reach_objects(Exec& x, const Op& op, Touch touch, LaneAddresses& a) {
  lane_kernels().addresses(x.frame + op.a, (op.flags & access::narrow_base) != 0, op.offset, x.mask, object_bytes, a);
  HostLanes host;
  const std::uint16_t flags = touch == Touch::load ? 0 : access::synchronises;
  return reach_shared(x, a, x.mask, object_bytes, touch, flags, host);
}

/// `each(lane, address)` for the lanes that run, in their order, until one is wrong.
template <class Each>
void at_objects(Exec& x, const Op& op, Each&& each) {
  LaneAddresses a;
  if (!reach_objects(x, op, Touch::atomic, a)) return;
  for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!each(lane, a.of[lane])) return;
  }
}

bool arrive_for(Exec& x, const PendingArrival& waiting) {
  for (std::uint32_t left = waiting.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const bool ok = change_object(x, lane, waiting.barrier[lane], true, [](Object& o) { return arrive_once(o, 1, 0); });
    if (!ok) return false;
  }
  return true;
}

/// Carries out what is on its way to a barrier, of all warps. False after a fault.
bool drain(Exec& x, std::uint32_t barrier) {
  for (Warp& warp : x.block->warps()) {
    if (!perform_bulk_copies(x, warp, barrier)) return false;
    std::size_t due = 0;
    for (std::size_t i = 0; i < warp.arrivals.size(); ++i) {
      const PendingArrival& waiting = warp.arrivals[i];
      for (std::uint32_t left = waiting.lanes; left != 0; left &= left - 1) {
        if (waiting.barrier[std::countr_zero(left)] == barrier) due = i + 1;
      }
    }
    for (std::size_t i = 0; i < due; ++i) {
      Exec of_copy = x;  // faults belong to the copy, not to the wait
      of_copy.at = warp.arrivals[i].line_pc;
      of_copy.warp = &warp;
      const bool ok = perform_copies(of_copy, warp, warp.arrivals[i].after) && arrive_for(of_copy, warp.arrivals[i]);
      x.event = of_copy.event;
      if (!ok) return false;
    }
    warp.arrivals.erase(warp.arrivals.begin(), warp.arrivals.begin() + static_cast<std::ptrdiff_t>(due));
  }
  return true;
}

/// Lanes whose phase is complete: the object has moved on from it.
std::uint32_t complete_lanes(Exec& x, const Op& op, const LaneAddresses& a) {
  std::uint32_t out = 0;
  for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const Object o = unpacked(word_at(x, a.of[lane]));
    if (!o.valid) {
      (void)wrong(x, lane, a.of[lane], "was not initialised (mbarrier.init), or is invalid");
      return 0;
    }
    const bool parity =
        (op.flags & wait_parity) != 0 ? (row32(x, op.b)[lane] & 1) != 0 : unpacked(row64(x, op.b)[lane]).parity;
    out |= (o.parity != parity ? 1U : 0U) << lane;
  }
  return out;
}

}  // namespace

bool complete_bytes(Exec& x, std::uint32_t lane, std::uint32_t barrier, std::uint32_t bytes) {
  return change_object(x, lane, barrier, true, [&](Object& o) {
    o.bytes -= bytes;
    return std::string();
  });
}

void mbarrier_init(Exec& x, const Op& op) {
  at_objects(x, op, [&](std::uint32_t lane, std::uint64_t address) {
    Object o;
    o.pending = o.expected = row32(x, op.b)[lane];
    o.valid = true;
    if (o.pending == 0 || o.pending > most_arrivals) {
      return wrong(x, lane, address,
                   fmt::format("cannot count {} arrivals; they go from 1 to {}", o.pending, most_arrivals));
    }
    put_word(x, address, packed(o));
    x.block->failed_wait = {};
    return true;
  });
}

void mbarrier_invalidate(Exec& x, const Op& op) {
  at_objects(x, op, [&](std::uint32_t lane, std::uint64_t address) {
    if (!unpacked(word_at(x, address)).valid) return wrong(x, lane, address, "is invalid already");
    put_word(x, address, 0);
    return true;
  });
}

void mbarrier_arrive(Exec& x, const Op& op) {
  at_objects(x, op, [&](std::uint32_t lane, std::uint64_t address) {
    const std::uint64_t before = word_at(x, address);
    const bool ok =
        change_object(x, lane, address, (op.extra & arrival::completes_nothing) == 0, [&](Object& o) -> std::string {
          if ((op.extra & arrival::expects) != 0) o.bytes += row32(x, op.c)[lane];
          return arrive_once(o, row32(x, op.b)[lane], op.extra);
        });
    row64(x, op.d)[lane] = before;
    return ok;
  });
}

void mbarrier_expect(Exec& x, const Op& op) {
  at_objects(x, op, [&](std::uint32_t lane, std::uint64_t address) {
    return change_object(x, lane, address, true, [&](Object& o) {
      o.bytes += row32(x, op.b)[lane];
      return std::string();
    });
  });
}

void mbarrier_complete(Exec& x, const Op& op) {
  at_objects(x, op, [&](std::uint32_t lane, std::uint64_t address) {
    return complete_bytes(x, lane, static_cast<std::uint32_t>(address), row32(x, op.b)[lane]);
  });
}

void mbarrier_test(Exec& x, const Op& op) {
  LaneAddresses a;
  if (!reach_objects(x, op, Touch::load, a)) return;
  std::uint32_t done = complete_lanes(x, op, a);
  for (std::uint32_t left = x.mask & ~done; left != 0 && x.event == Event::none; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!drain(x, static_cast<std::uint32_t>(a.of[lane]))) return;
  }
  if (x.event != Event::none) return;
  if (done != x.mask) done = complete_lanes(x, op, a);
  set_predicate(x, op.d, done);
  if (done != 0) x.block->order();
  if (done == x.mask) return;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(x.mask & ~done));
  FailedWait& failed = x.block->failed_wait;
  failed = {failed.polls + 1, x.at, lane, x.warp->index, static_cast<std::uint32_t>(a.of[lane])};
  if ((op.flags & wait_blocks) != 0 || failed.polls > 1024) x.event = Event::yield;
}

void mbarrier_pending(Exec& x, const Op& op) {
  for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    row32(x, op.d)[lane] = unpacked(row64(x, op.a)[lane]).pending;
  }
}

void mbarrier_arrive_after_copies(Exec& x, const Op& op) {
  Warp& warp = *x.warp;
  if (warp.arrivals.size() >= most_pending_arrivals) {
    return x.block->fault(x, Fault::Kind::limit, static_cast<std::uint32_t>(std::countr_zero(x.mask)),
                          fmt::format("{} arrivals wait at barrier objects that nobody tests", most_pending_arrivals));
  }
  PendingArrival waiting;
  waiting.after = warp.copies_done + static_cast<std::uint32_t>(warp.copies.size());
  waiting.lanes = x.mask;
  waiting.line_pc = x.at;
  at_objects(x, op, [&](std::uint32_t lane, std::uint64_t address) {
    waiting.barrier[lane] = static_cast<std::uint32_t>(address);
    return (op.extra & arrival::keeps_count) != 0 ||
           change_object(x, lane, address, true, [](Object& o) -> std::string {
             if (o.pending == most_arrivals) return "counts no more arrivals";
             ++o.pending;
             return {};
           });
  });
  if (x.event == Event::none) warp.arrivals.push_back(waiting);
}

bool BlockRun::report_failed_wait(std::uint32_t least_polls) {
  if (failed_wait.polls < least_polls || failed_wait.polls == 0) return false;
  Exec x;
  x.at = failed_wait.pc;
  x.warp = &warps_[failed_wait.warp];
  x.block = this;
  const Object o = unpacked(word_at(x, failed_wait.address));
  fault(
      x, Fault::Kind::deadlock, failed_wait.lane,
      fmt::format("waits at the barrier object at shared address 0x{:x} whose phase never completes: {} of {} arrivals "
                  "and {} bytes are missing",
                  failed_wait.address, o.pending, std::max(o.expected, o.pending), o.bytes));
  return true;
}

}  // namespace corridor::ptx
