// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp do together: shuffles, votes, match, redux, elect.
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/handlers.h"

namespace corridor::ptx {
namespace {

std::uint32_t first_of(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

/// The member mask of a .sync instruction, which all lanes give alike.
std::uint32_t members_at(const Exec& x, std::uint32_t slot) {
  return row32(x, slot)[first_of(x.mask)];
}

void write_row(Exec& x, std::uint32_t slot, const std::uint32_t* value) {
  std::uint32_t* const d = row32(x, slot);
  for (std::uint32_t lane = 0; lane < 32; ++lane) d[lane] = ((x.mask >> lane) & 1) != 0 ? value[lane] : d[lane];
}

}  // namespace

bool gather_lanes(Exec& x, std::uint32_t members) {
  const std::uint32_t missing = members & x.warp->alive & ~x.active;
  if (missing == 0) return true;
  x.event = Event::repeat;
  return false;
}

void warp_barrier(Exec& x, const Op& op) {
  (void)gather_lanes(x, members_at(x, op.a));
}

void active_mask(Exec& x, const Op& op) {
  std::uint32_t value[32];
  for (std::uint32_t& v : value) v = x.mask;
  write_row(x, op.d, value);
}

void vote(Exec& x, const Op& op) {
  const std::uint32_t members = op.extra != 0 ? members_at(x, op.b) : x.mask;
  if (op.extra != 0 && !gather_lanes(x, members)) return;
  const std::uint32_t given = predicate(x, op.a) ^ ((op.flags & 4) != 0 ? all_lanes : 0);
  const std::uint32_t lanes = x.mask & members, yes = given & lanes;
  switch (op.flags & 3) {
    case 0:
      return set_predicate(x, op.d, yes == lanes ? all_lanes : 0);
    case 1:
      return set_predicate(x, op.d, yes != 0 ? all_lanes : 0);
    case 2:
      return set_predicate(x, op.d, yes == 0 || yes == lanes ? all_lanes : 0);
    default:
      break;
  }
  std::uint32_t value[32];
  for (std::uint32_t& v : value) v = yes;
  write_row(x, op.d, value);
}

void shuffle(Exec& x, const Op& op) {
  if (op.offset != 0 && !gather_lanes(x, members_at(x, static_cast<std::uint32_t>(op.offset)))) return;
  const std::uint32_t* const a = row32(x, op.a);
  const std::uint32_t* const b = row32(x, op.b);
  const std::uint32_t* const c = row32(x, op.c);
  std::uint32_t out[32], inside = 0, dead = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t segment = (c[lane] >> 8) & 31, clamp = c[lane] & 31, by = b[lane] & 31;
    const std::uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    std::uint32_t from = lane;
    bool ok = false;
    switch (op.flags) {
      case 0:
        ok = static_cast<std::int32_t>(lane - by) >= static_cast<std::int32_t>(last);
        from = lane - by;
        break;
      case 1:
        ok = lane + by <= last;
        from = lane + by;
        break;
      case 2:
        from = lane ^ by;
        ok = from <= last;
        break;
      default:
        from = first | (by & ~segment);
        ok = from <= last;
    }
    if (!ok) from = lane;
    from &= 31;
    inside |= (ok ? 1U : 0U) << lane;
    const bool runs = ((x.mask >> from) & 1) != 0;
    if (!runs && ((x.mask >> lane) & 1) != 0) dead |= 1U << lane;
    out[lane] = runs ? a[from] : a[lane];  // what a lane that is off holds is undefined
  }
  if (dead != 0 && x.block->checks()) {
    x.block->fault(x, Fault::Kind::dead_lane, first_of(dead),
                   fmt::format("lanes 0x{:08x} take a value from lanes that do not run this shuffle", dead));
  }
  write_row(x, op.d, out);
  set_predicate(x, op.extra, inside);
}

void match(Exec& x, const Op& op) {
  const std::uint32_t members = members_at(x, op.b);
  if (!gather_lanes(x, members)) return;
  const std::uint32_t lanes = x.mask & members;
  const auto value = [&](std::uint32_t lane) -> std::uint64_t {
    return (op.flags & 2) != 0 ? row64(x, op.a)[lane] : row32(x, op.a)[lane];
  };
  std::uint32_t out[32] = {}, all = lanes;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const std::uint32_t lane = first_of(left);
    for (std::uint32_t other = lanes; other != 0; other &= other - 1) {
      const std::uint32_t o = first_of(other);
      if (value(o) == value(lane)) out[lane] |= 1U << o;
    }
    if (out[lane] != lanes) all = 0;
  }
  if ((op.flags & 1) != 0) {
    for (std::uint32_t& v : out) v = all;
    set_predicate(x, op.extra, all != 0 ? all_lanes : 0);
  }
  write_row(x, op.d, out);
}

void reduce_lanes(Exec& x, const Op& op) {
  const std::uint32_t members = members_at(x, op.b);
  if (!gather_lanes(x, members)) return;
  const std::uint32_t lanes = x.mask & members;
  if (lanes == 0) return;
  const std::uint32_t* const a = row32(x, op.a);
  const bool is_signed = op.extra == 1;
  const auto less = [&](std::uint32_t u, std::uint32_t v) {
    return is_signed ? static_cast<std::int32_t>(u) < static_cast<std::int32_t>(v) : u < v;
  };
  std::uint32_t result = a[first_of(lanes)];
  for (std::uint32_t left = lanes & (lanes - 1); left != 0; left &= left - 1) {
    const std::uint32_t v = a[first_of(left)];
    switch (op.flags) {
      case 0:
        result += v;
        break;
      case 1:
        result = less(v, result) ? v : result;
        break;
      case 2:
        result = less(result, v) ? v : result;
        break;
      case 3:
        result &= v;
        break;
      case 4:
        result |= v;
        break;
      default:
        result ^= v;
    }
  }
  std::uint32_t value[32];
  for (std::uint32_t& v : value) v = result;
  write_row(x, op.d, value);
}

void elect(Exec& x, const Op& op) {
  const std::uint32_t members = members_at(x, op.b);
  if (!gather_lanes(x, members)) return;
  const std::uint32_t leader = first_of((members & x.mask) != 0 ? members & x.mask : x.mask);
  std::uint32_t value[32];
  for (std::uint32_t& v : value) v = leader;
  write_row(x, op.d, value);
  set_predicate(x, op.extra, 1U << leader);
}

}  // namespace corridor::ptx
