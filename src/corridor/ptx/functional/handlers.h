// SPDX-License-Identifier: Apache-2.0
// Handlers of instructions that are more than arithmetic, and the flags their ops carry.
#pragma once

#include "corridor/ptx/functional/op.h"

namespace corridor::ptx {

/// Of memory accesses.
namespace access {
inline constexpr std::uint16_t narrow_base = 1;    ///< the address register has 32 bits
inline constexpr std::uint16_t sign = 2;           ///< narrow values are sign-extended
inline constexpr std::uint16_t wide_rows = 4;      ///< data registers have 64 bits
inline constexpr std::uint16_t skips_l1 = 8;       ///< .cg, .cv, volatile, relaxed
inline constexpr std::uint16_t synchronises = 16;  ///< volatile, acquire, release
inline constexpr std::uint16_t uncounted = 32;     ///< constants and parameters of functions
}  // namespace access

void load_global(Exec& x, const Op& op);
void load_shared(Exec& x, const Op& op);
void load_local(Exec& x, const Op& op);
void load_generic(Exec& x, const Op& op);
void load_parameter(Exec& x, const Op& op);  ///< of a kernel, at a fixed place
void store_global(Exec& x, const Op& op);
void store_shared(Exec& x, const Op& op);
void store_local(Exec& x, const Op& op);
void store_generic(Exec& x, const Op& op);
void prefetch(Exec& x, const Op& op);
void to_generic(Exec& x, const Op& op);  ///< op.offset: the window
void from_generic(Exec& x, const Op& op);
void is_space(Exec& x, const Op& op);

/// Atomics: op.extra packs AtomicKind, Type (of launch's Type) and whether there is a result.
enum class AtomicKind : std::uint8_t {
  add,
  minimum,
  maximum,
  conjunction,
  disjunction,
  exclusive,
  exchange,
  swap,
  increment,
  decrement
};
void atomic_global(Exec& x, const Op& op);
void atomic_shared(Exec& x, const Op& op);
void atomic_generic(Exec& x, const Op& op);

void branch(Exec& x, const Op& op);  ///< d: target, b: where the lanes meet again
void branch_indexed(Exec& x, const Op& op);
void leave_kernel(Exec& x, const Op& op);
void return_or_leave(Exec& x, const Op& op);
void end_of_function(Exec& x, const Op& op);
void call_function(Exec& x, const Op& op);
void trap(Exec& x, const Op& op);
void not_executed(Exec& x, const Op& op);
void nothing(Exec& x, const Op& op);
void fence(Exec& x, const Op& op);
void give_way(Exec& x, const Op& op);  ///< nanosleep
void read_clock(Exec& x, const Op& op);
void pack(Exec& x, const Op& op);
void unpack(Exec& x, const Op& op);
void move_part(Exec& x, const Op& op);

void barrier_wait(Exec& x, const Op& op);
void barrier_arrive(Exec& x, const Op& op);
void barrier_reduce(Exec& x, const Op& op);
void warp_barrier(Exec& x, const Op& op);
void vote(Exec& x, const Op& op);
void shuffle(Exec& x, const Op& op);
void match(Exec& x, const Op& op);
void reduce_lanes(Exec& x, const Op& op);
void active_mask(Exec& x, const Op& op);
void elect(Exec& x, const Op& op);

/// False and an event when lanes that `members` names are elsewhere: the instruction runs again when they are there.
bool gather_lanes(Exec& x, std::uint32_t members);

void run_rounded_rz(Exec& x, const Op& op);
void run_rounded_rm(Exec& x, const Op& op);
void run_rounded_rp(Exec& x, const Op& op);

}  // namespace corridor::ptx
