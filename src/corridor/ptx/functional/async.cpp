// SPDX-License-Identifier: Apache-2.0
// cp.async: copies from global to shared memory that happen when the kernel waits for them, not before, so that a
// missing wait shows as old data.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/async.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/memory_access.h"

namespace corridor::ptx {
namespace {

constexpr std::size_t most_pending = 4096;

void perform(Exec& x, const PendingCopy& copy) {
  LaneAddresses to;
  alignas(64) std::uint64_t target[32];
  for (int lane = 0; lane < 32; ++lane) target[lane] = copy.target[lane];
  lane_kernels().addresses(target, false, 0, copy.lanes, copy.bytes, to);
  HostLanes host;
  const std::uint32_t at = x.at;
  x.at = copy.line_pc;  // faults and counts belong to the copy, not to the wait
  const bool reached = reach_shared(x, to, copy.lanes, copy.bytes, Touch::store, 0, host);
  x.at = at;
  if (!reached) return;
  const DeviceMemory::State& memory = *x.block->launch().memory;
  for (std::uint32_t left = copy.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::uint8_t* const out = x.block->shared().data() + copy.target[lane];
    std::memset(out, 0, copy.bytes);
    const Allocation* const a = copy.source_bytes[lane] > 0 ? memory.find(copy.source[lane]) : nullptr;
    if (a != nullptr) std::memcpy(out, a->data.get() + (copy.source[lane] - a->address), copy.source_bytes[lane]);
  }
}

}  // namespace

void copy_later(Exec& x, const Op& op) {
  const std::uint32_t* const detail = x.block->program().slots.data() + op.extra;
  if (x.warp->copies.size() >= most_pending) {
    return x.block->fault(x, Fault::Kind::limit, static_cast<std::uint32_t>(std::countr_zero(x.mask)),
                          fmt::format("{} copies wait to be waited for; add cp.async.wait_group", most_pending));
  }
  LaneAddresses to, from;
  lane_kernels().addresses(x.frame + op.a, (op.flags & access::narrow_base) != 0, op.offset, x.mask, op.bytes, to);
  const AddressDetail source = address_detail(detail);
  const std::uint32_t size_slot = detail[address_detail_words];
  lane_kernels().addresses(x.frame + source.slot, source.narrow != 0, source.offset(), x.mask, op.bytes, from);
  PendingCopy copy;
  copy.lanes = x.mask;
  copy.bytes = op.bytes;
  copy.line_pc = x.at;
  copy.group = x.warp->committed;
  std::uint32_t reading = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t size = size_slot == 0 ? op.bytes : row32(x, size_slot)[lane];
    copy.source[lane] = from.of[lane];
    copy.target[lane] = static_cast<std::uint32_t>(std::min<std::uint64_t>(to.of[lane], 0xFFFFFFF0));
    copy.source_bytes[lane] = std::min<std::uint32_t>(size, op.bytes);
    if (copy.source_bytes[lane] != 0 && ((x.mask >> lane) & 1) != 0) reading |= 1U << lane;
  }
  if (reading != 0) {
    HostLanes host;
    lane_kernels().addresses(from.of, false, 0, reading, op.bytes, from);
    if (!reach_global(x, from, reading, op.bytes, Touch::load, op.flags & access::skips_l1, host)) return;
  }
  x.warp->copies.push_back(copy);
}

void commit_group(Exec& x, const Op& /*op*/) {
  ++x.warp->committed;
}

bool perform_copies(Exec& x, Warp& warp, std::uint32_t until) {
  auto& copies = warp.copies;
  Exec of_copy = x;
  of_copy.warp = &warp;
  std::size_t done = 0;
  while (warp.copies_done < until && done < copies.size() && of_copy.event == Event::none) {
    perform(of_copy, copies[done]);
    ++done;
    ++warp.copies_done;
  }
  copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(done));
  x.event = of_copy.event;
  x.wavefronts = of_copy.wavefronts;
  return x.event == Event::none;
}

void wait_groups(Exec& x, const Op& op) {
  const auto& copies = x.warp->copies;
  const std::uint32_t committed = x.warp->committed;
  std::uint32_t due = 0;
  while (due < copies.size() &&
         (op.extra == no_place || (committed > op.extra && copies[due].group < committed - op.extra))) {
    ++due;
  }
  (void)perform_copies(x, *x.warp, x.warp->copies_done + due);
}

}  // namespace corridor::ptx
