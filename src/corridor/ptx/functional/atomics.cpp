// SPDX-License-Identifier: Apache-2.0
// atom and red: one lane after the other, in the order block, warp, lane.
#include <bit>
#include <cstring>

#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/memory_access.h"
#include "corridor/ptx/functional/small_floats.h"

namespace corridor::ptx {
namespace {

/// atom.add.f32 flushes subnormal numbers in global memory, not in shared memory.
std::uint32_t add_floats(std::uint32_t a, std::uint32_t b, bool flush) {
  const float sum = flushed_if(std::bit_cast<float>(a), flush) + flushed_if(std::bit_cast<float>(b), flush);
  return sum != sum ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(flushed_if(sum, flush));
}

std::uint32_t add_pairs(std::uint32_t a, std::uint32_t b, std::uint32_t (*add)(std::uint32_t, std::uint32_t)) {
  return add(a & 0xFFFF, b & 0xFFFF) | (add(a >> 16, b >> 16) << 16);
}

std::uint64_t sum_of(Type type, std::uint64_t old, std::uint64_t b, bool global) {
  const auto low = static_cast<std::uint32_t>(old), with = static_cast<std::uint32_t>(b);
  const LaneKernels& kernels = lane_kernels();
  switch (type) {
    case Type::f32:
      return add_floats(low, with, global);
    case Type::f64: {
      const double sum = std::bit_cast<double>(old) + std::bit_cast<double>(b);
      return sum != sum ? 0x7FF8000000000000ULL : std::bit_cast<std::uint64_t>(sum);
    }
    case Type::f16:
      return kernels.add_f16(low, with);
    case Type::bf16:
      return kernels.add_bf16(low, with);
    case Type::f16x2:
      return add_pairs(low, with, kernels.add_f16);
    case Type::bf16x2:
      return add_pairs(low, with, kernels.add_bf16);
    default:
      return old + b;
  }
}

bool is_less(Type type, std::uint64_t a, std::uint64_t b) {
  switch (type) {
    case Type::s32:
      return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    case Type::s64:
      return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
    default:
      return a < b;
  }
}

/// The smaller or larger of two halves: a number rather than NaN, -0 below +0.
std::uint32_t extreme_half(Type type, std::uint32_t a, std::uint32_t b, bool is_max) {
  const auto wide = [&](std::uint32_t h) {
    return type == Type::f16 || type == Type::f16x2 ? lane_kernels().f16_to_float(h) : std::bit_cast<float>(h << 16);
  };
  const float u = wide(a), v = wide(b);
  if (u != u || v != v) return u == u ? a : v == v ? b : 0x7FFF;
  const bool a_first = u == v ? (a & 0x8000) != 0 : u < v;
  return a_first != is_max ? a : b;
}

std::uint64_t extreme_of(Type type, std::uint64_t old, std::uint64_t b, bool is_max) {
  const auto u = static_cast<std::uint32_t>(old), v = static_cast<std::uint32_t>(b);
  switch (type) {
    case Type::f16:
    case Type::bf16:
      return extreme_half(type, u & 0xFFFF, v & 0xFFFF, is_max);
    case Type::f16x2:
    case Type::bf16x2:
      return extreme_half(type, u & 0xFFFF, v & 0xFFFF, is_max) | (extreme_half(type, u >> 16, v >> 16, is_max) << 16);
    default:
      return (is_max ? is_less(type, old, b) : is_less(type, b, old)) ? b : old;
  }
}

std::uint64_t updated(AtomicKind kind, Type type, std::uint64_t old, std::uint64_t b, std::uint64_t c, bool global) {
  switch (kind) {
    case AtomicKind::add:
      return sum_of(type, old, b, global);
    case AtomicKind::minimum:
      return extreme_of(type, old, b, false);
    case AtomicKind::maximum:
      return extreme_of(type, old, b, true);
    case AtomicKind::conjunction:
      return old & b;
    case AtomicKind::disjunction:
      return old | b;
    case AtomicKind::exclusive:
      return old ^ b;
    case AtomicKind::exchange:
      return b;
    case AtomicKind::swap:
      return old == b ? c : old;
    case AtomicKind::increment:
      return old >= b ? 0 : old + 1;
    case AtomicKind::decrement:
      return old == 0 || old > b ? b : old - 1;
  }
  return old;
}

/// Of one lane: all elements of a vector.
std::uint32_t bytes_of_atomic(const Op& op) {
  return std::uint32_t{op.bytes} * op.count;
}

void update(Exec& x, const Op& op, const HostLanes& host, const LaneAddresses& a, std::uint32_t lanes, bool global) {
  const auto kind = static_cast<AtomicKind>(op.extra & 0xFF);
  const auto type = static_cast<Type>(op.extra >> 8);
  const bool wide = (op.flags & access::wide_rows) != 0;
  const std::uint64_t keep = op.bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * op.bytes)) - 1;
  const auto read = [&](std::uint32_t slot, std::uint32_t lane) {
    return (wide ? row64(x, slot)[lane] : row32(x, slot)[lane]) & keep;
  };
  const std::uint32_t* const vector = x.block->program().slots.data() + (op.count == 1 ? 0 : op.c);
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::uint8_t* const p = lane_pointer(host, a, lane, bytes_of_atomic(op));
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const std::uint32_t slot_b = op.count == 1 ? op.b : vector[i],
                          slot_d = op.count == 1 ? op.d : vector[op.count + i];
      std::uint64_t old = 0;
      std::memcpy(&old, p + std::size_t{i} * op.bytes, op.bytes);
      const std::uint64_t c = kind == AtomicKind::swap ? read(op.c, lane) : 0;
      const std::uint64_t next = updated(kind, type, old, read(slot_b, lane), c, global);
      std::memcpy(p + std::size_t{i} * op.bytes, &next, op.bytes);
      if (wide) {
        row64(x, slot_d)[lane] = old;
      } else {
        row32(x, slot_d)[lane] = static_cast<std::uint32_t>(old);
      }
    }
  }
}

void addresses_of(const Exec& x, const Op& op, LaneAddresses& out) {
  lane_kernels().addresses(x.frame + op.a, (op.flags & access::narrow_base) != 0, op.offset, x.mask,
                           bytes_of_atomic(op), out);
}

void in_global(Exec& x, const Op& op, const LaneAddresses& a, std::uint32_t lanes) {
  HostLanes host;
  if (reach_global(x, a, lanes, bytes_of_atomic(op), Touch::atomic, op.flags, host))
    update(x, op, host, a, lanes, true);
}

void in_shared(Exec& x, const Op& op, const LaneAddresses& a, std::uint32_t lanes) {
  HostLanes host;
  const std::uint16_t plain = op.flags & static_cast<std::uint16_t>(~access::synchronises);
  if (reach_shared(x, a, lanes, bytes_of_atomic(op), Touch::atomic, plain, host)) update(x, op, host, a, lanes, false);
}

}  // namespace

void atomic_global(Exec& x, const Op& op) {
  LaneAddresses a;
  addresses_of(x, op, a);
  in_global(x, op, a, x.mask);
  if ((op.flags & access::synchronises) != 0) x.block->order();
}

void atomic_shared(Exec& x, const Op& op) {
  LaneAddresses a;
  addresses_of(x, op, a);
  in_shared(x, op, a, x.mask);
  if ((op.flags & access::synchronises) != 0) x.block->order();
}

void atomic_generic(Exec& x, const Op& op) {
  LaneAddresses all;
  addresses_of(x, op, all);
  std::uint32_t shared = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const bool inside = all.of[lane] >= shared_window && all.of[lane] < local_window;
    shared |= (inside ? 1U : 0U) << lane;
  }
  LaneAddresses a;
  if ((x.mask & shared) != 0) {
    lane_kernels().addresses(all.of, false, -static_cast<std::int64_t>(shared_window), x.mask & shared,
                             bytes_of_atomic(op), a);
    in_shared(x, op, a, x.mask & shared);
  }
  if ((x.mask & ~shared) != 0 && x.event == Event::none) {
    lane_kernels().addresses(all.of, false, 0, x.mask & ~shared, bytes_of_atomic(op), a);
    in_global(x, op, a, x.mask & ~shared);
  }
  if ((op.flags & access::synchronises) != 0) x.block->order();
}

}  // namespace corridor::ptx
