// SPDX-License-Identifier: Apache-2.0
// cp.async: copies from global to shared memory that happen when the kernel waits for them, not before, so that a
// missing wait shows as old data.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/memory_access.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {
namespace {

constexpr std::size_t most_pending = 4096;

/// Places in the list of slots that op.extra points to.
enum Detail : std::uint32_t { source_slot, source_offset_low, source_offset_high, source_narrow, size_slot };

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

void copy_later(Exec& x, const Op& op) {
  const std::uint32_t* const detail = x.block->program().slots.data() + op.extra;
  if (x.warp->copies.size() >= most_pending) {
    return x.block->fault(x, Fault::Kind::limit, static_cast<std::uint32_t>(std::countr_zero(x.mask)),
                          fmt::format("{} copies wait to be waited for; add cp.async.wait_group", most_pending));
  }
  LaneAddresses to, from;
  lane_kernels().addresses(x.frame + op.a, (op.flags & access::narrow_base) != 0, op.offset, x.mask, op.bytes, to);
  const auto offset =
      static_cast<std::int64_t>(detail[source_offset_low] | (std::uint64_t{detail[source_offset_high]} << 32));
  lane_kernels().addresses(x.frame + detail[source_slot], detail[source_narrow] != 0, offset, x.mask, op.bytes, from);
  PendingCopy copy;
  copy.lanes = x.mask;
  copy.bytes = op.bytes;
  copy.line_pc = x.at;
  copy.group = x.warp->committed;
  std::uint32_t reading = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t size = detail[size_slot] == 0 ? op.bytes : row32(x, detail[size_slot])[lane];
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

/// op.extra: groups that may stay open; no_place: wait for all copies, committed or not.
void wait_groups(Exec& x, const Op& op) {
  auto& copies = x.warp->copies;
  const std::uint32_t committed = x.warp->committed;
  std::size_t done = 0;
  while (done < copies.size() && x.event == Event::none) {
    const bool due = op.extra == no_place || (committed > op.extra && copies[done].group < committed - op.extra);
    if (!due) break;
    perform(x, copies[done]);
    ++done;
  }
  copies.erase(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(done));
}

}  // namespace

bool Decoder::async(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  if (!form.is("cp") || !form.has("async")) return false;
  if (form.has("bulk") || form.has("mbarrier")) return refuse("copies that arrive at an mbarrier are not executed");
  if (form.has("commit_group")) {
    op.run = &commit_group;
    return true;
  }
  if (form.has("wait_all")) {
    op.run = &wait_groups;
    op.extra = no_place;
    return true;
  }
  if (form.has("wait_group")) {
    if (operands.size() != 1 || operands[0].kind != Operand::Kind::integer) return refuse("a number is expected");
    op.run = &wait_groups;
    op.extra = static_cast<std::uint32_t>(std::min<std::uint64_t>(operands[0].bits, 1U << 20));
    return true;
  }
  if (operands.size() < 3 || operands[2].kind != Operand::Kind::integer) return refuse("operands are missing");
  const std::uint64_t bytes = operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16) return refuse("a copy has 4, 8 or 16 bytes");
  Op from;
  if (!address(operands[0], op) || !address(operands[1], from)) return false;
  std::uint32_t size = 0;
  if (operands.size() > 3 && operands[3].kind != Operand::Kind::discard) {
    if (operands[3].kind == Operand::Kind::reg && register_width(operands[3].index) != Width::row32) {
      return refuse("a copy with this operand is not executed");
    }
    if (!source(operands[3], Width::row32, Type::u32, size)) return false;
  }
  op.run = &copy_later;
  op.bytes = static_cast<std::uint8_t>(bytes);
  if (form.has("cg")) op.flags |= access::skips_l1;
  op.extra = static_cast<std::uint32_t>(state_.slots.size());
  const auto offset = static_cast<std::uint64_t>(from.offset);
  for (const std::uint32_t v : {from.a, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32),
                                std::uint32_t{(from.flags & access::narrow_base) != 0}, size}) {
    state_.slots.push_back(v);
  }
  return true;
}

}  // namespace corridor::ptx
