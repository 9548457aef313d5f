// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies and the barrier objects (mbarrier) that they arrive at; a private part of functional.
#pragma once

#include <cstdint>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/op.h"

namespace corridor::ptx {

/// An address operand besides Op::a, as four entries of the program's list of slots.
struct AddressDetail {
  std::uint32_t slot = 0, offset_low = 0, offset_high = 0, narrow = 0;
  [[nodiscard]] std::int64_t offset() const {
    return static_cast<std::int64_t>(offset_low | (std::uint64_t{offset_high} << 32));
  }
};
inline constexpr std::uint32_t address_detail_words = 4;
[[nodiscard]] inline AddressDetail address_detail(const std::uint32_t* words) {
  return {words[0], words[1], words[2], words[3]};
}

// cp.async (async.cpp). Op::extra: source address, slot of the source's size.
void copy_later(Exec& x, const Op& op);
void commit_group(Exec& x, const Op& op);
void wait_groups(Exec& x, const Op& op);  ///< op.extra: groups that may stay open; no_place: wait for all copies
/// Carries out the copies of a warp until `until` of them are done since it started. False after a fault.
bool perform_copies(Exec& x, Warp& warp, std::uint32_t until);

// cp.async.bulk (bulk_copy.cpp). Op::a: destination, Op::extra: source address, barrier address, slot of the size.
void bulk_to_shared(Exec& x, const Op& op);
void bulk_from_shared(Exec& x, const Op& op);  ///< to shared memory, from shared memory, with a barrier
void bulk_to_global(Exec& x, const Op& op);
/// Carries out the bulk copies of a warp that arrive at a barrier. False after a fault.
bool perform_bulk_copies(Exec& x, Warp& warp, std::uint32_t barrier);

/// How an arrival differs from the plain one: bits of Op::extra.
namespace arrival {
inline constexpr std::uint32_t drops = 1, completes_nothing = 2, expects = 4, keeps_count = 8;
}  // namespace arrival

// mbarrier (mbarrier.cpp). Op::a: the object, Op::d: the state before, Op::b: count, Op::c: bytes.
void mbarrier_init(Exec& x, const Op& op);
void mbarrier_invalidate(Exec& x, const Op& op);
void mbarrier_arrive(Exec& x, const Op& op);
void mbarrier_expect(Exec& x, const Op& op);
void mbarrier_complete(Exec& x, const Op& op);
void mbarrier_test(Exec& x, const Op& op);  ///< flags: wait_parity, wait_blocks
void mbarrier_pending(Exec& x, const Op& op);
void mbarrier_arrive_after_copies(Exec& x, const Op& op);
inline constexpr std::uint16_t wait_parity = 0x100, wait_blocks = 0x200;
/// `bytes` of a bulk copy have come: the barrier's phase may be complete. False after a fault.
bool complete_bytes(Exec& x, std::uint32_t lane, std::uint32_t barrier, std::uint32_t bytes);

}  // namespace corridor::ptx
