// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk of one dimension: a thread copies a run of bytes between global and shared memory. Into shared memory
// it happens when somebody asks for the phase of its barrier object, so that a missing wait shows as old data; to
// global memory it happens at once. The copies bypass L1 and are counted as requests of 512 bytes.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/async.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/memory_access.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t piece_bytes = 16;
constexpr std::size_t most_pending = 4096;

struct Run {
  std::uint64_t address = 0;
  bool is_global = false;
};

/// Checks and counts up to 32 pieces from `at` on; the place of the first one on this machine, or null after a fault.
std::uint8_t* reach_run(Exec& x, std::uint64_t at, std::uint32_t pieces, bool is_global, Touch touch) {
  LaneAddresses a;
  HostLanes host;
  alignas(64) std::uint64_t address[32];
  for (std::uint32_t i = 0; i < 32; ++i) address[i] = at + std::uint64_t{i} * piece_bytes;
  const std::uint32_t lanes = pieces == 32 ? all_lanes : (1U << pieces) - 1;
  lane_kernels().addresses(address, false, 0, lanes, piece_bytes, a);
  const bool reached = is_global ? reach_global(x, a, lanes, piece_bytes, touch, access::skips_l1, host)
                                 : reach_shared(x, a, lanes, piece_bytes, touch, 0, host);
  if (!reached) return nullptr;
  return host.base != nullptr ? host.base : host.of[0];
}

bool copy_run(Exec& x, Run to, Run from, std::uint32_t bytes) {
  while (bytes > 0) {
    const std::uint32_t part = std::min(bytes, 32 * piece_bytes);
    const std::uint32_t pieces = part / piece_bytes;
    const std::uint8_t* const source = reach_run(x, from.address, pieces, from.is_global, Touch::load);
    if (source == nullptr) return false;
    std::uint8_t* const target = reach_run(x, to.address, pieces, to.is_global, Touch::store);
    if (target == nullptr) return false;
    std::memmove(target, source, part);
    to.address += part;
    from.address += part;
    bytes -= part;
  }
  return true;
}

/// Addresses and size of the copies that the lanes of a warp start.
struct Operands {
  LaneAddresses to, from, barrier;
  const std::uint32_t* bytes = nullptr;
};

void read_operands(const Exec& x, const Op& op, Operands& out) {
  const std::uint32_t* const detail = x.block->program().slots.data() + op.extra;
  const AddressDetail from = address_detail(detail), barrier = address_detail(detail + address_detail_words);
  const LaneKernels& kernels = lane_kernels();
  kernels.addresses(x.frame + op.a, (op.flags & access::narrow_base) != 0, op.offset, x.mask, piece_bytes, out.to);
  kernels.addresses(x.frame + from.slot, from.narrow != 0, from.offset(), x.mask, piece_bytes, out.from);
  kernels.addresses(x.frame + barrier.slot, barrier.narrow != 0, barrier.offset(), x.mask, 8, out.barrier);
  out.bytes = row32(x, detail[std::size_t{2} * address_detail_words]);
}

bool is_size(Exec& x, std::uint32_t lane, std::uint32_t bytes) {
  if (bytes % piece_bytes == 0) return true;
  x.block->fault(x, Fault::Kind::misaligned, lane,
                 fmt::format("a bulk copy of {} bytes: the size must be a multiple of {}", bytes, piece_bytes));
  return false;
}

void start_copies(Exec& x, const Op& op, bool from_global) {
  Operands operands;
  read_operands(x, op, operands);
  HostLanes host;
  if (!reach_shared(x, operands.barrier, x.mask, 8, Touch::atomic, access::synchronises, host)) return;
  for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!is_size(x, lane, operands.bytes[lane])) return;
    if (x.warp->bulk_copies.size() >= most_pending) {
      return x.block->fault(x, Fault::Kind::limit, lane,
                            fmt::format("{} bulk copies arrive at barrier objects that nobody tests", most_pending));
    }
    x.warp->bulk_copies.push_back({operands.from.of[lane], operands.to.of[lane],
                                   static_cast<std::uint32_t>(operands.barrier.of[lane]), operands.bytes[lane], x.at,
                                   lane, from_global});
  }
}

}  // namespace

void bulk_to_shared(Exec& x, const Op& op) {
  start_copies(x, op, true);
}

void bulk_from_shared(Exec& x, const Op& op) {
  start_copies(x, op, false);
}

void bulk_to_global(Exec& x, const Op& op) {
  Operands operands;
  read_operands(x, op, operands);
  for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (!is_size(x, lane, operands.bytes[lane])) return;
    if (!copy_run(x, {operands.to.of[lane], true}, {operands.from.of[lane], false}, operands.bytes[lane])) return;
  }
}

bool perform_bulk_copies(Exec& x, Warp& warp, std::uint32_t barrier) {
  auto& copies = warp.bulk_copies;
  for (std::size_t i = 0; i < copies.size();) {
    if (copies[i].barrier != barrier) {
      ++i;
      continue;
    }
    const BulkCopy copy = copies[i];
    copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i));
    Exec of_copy = x;  // faults and counts belong to the copy, not to the wait
    of_copy.at = copy.line_pc;
    of_copy.warp = &warp;
    const bool ok = copy_run(of_copy, {copy.target, false}, {copy.source, copy.from_global}, copy.bytes) &&
                    complete_bytes(of_copy, copy.lane, barrier, copy.bytes);
    x.event = of_copy.event;
    if (!ok) return false;
  }
  return true;
}

}  // namespace corridor::ptx
