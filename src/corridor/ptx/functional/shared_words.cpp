// SPDX-License-Identifier: Apache-2.0
// Ranges of shared memory in vector code, compiled once for each instruction set.
#include "corridor/ptx/functional/shared_words.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/functional/shared_words.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// Highway must come after it.
#include <hwy/highway.h>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/handlers.h"

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<std::uint32_t, 16>;
constexpr std::size_t row_words = 32;

/// A mark is of this epoch, and not by `warp`: what is left of it without the tag is less than 256 and another number.
template <class V>
HWY_INLINE auto of_others(Words d, V untagged, V warp) {
  return hn::And(hn::Lt(untagged, hn::Set(d, 256)), hn::Ne(untagged, warp));
}

bool read_words(const SharedWords& shared, std::size_t first, std::size_t count, std::uint32_t warp) {
  const Words d;
  const hn::Rebind<std::uint8_t, Words> bytes;
  const auto tag = hn::Set(d, shared.tag), who = hn::Set(d, warp), mine = hn::Set(d, shared.tag | warp);
  const auto several = hn::Set(d, shared.tag | several_readers), atomics = hn::Set(d, own_atomics);
  auto odd = hn::MaskFromVec(hn::Zero(d));
  auto unwritten = hn::Zero(bytes);
  for (std::size_t i = first; i < first + count; i += hn::Lanes(d)) {
    const auto writer = hn::Xor(hn::LoadU(d, shared.writer + i), tag);
    odd = hn::Or(odd, of_others(d, hn::AndNot(atomics, writer), who));
    unwritten = hn::Or(unwritten, hn::Xor(hn::LoadU(bytes, shared.written + i), hn::Set(bytes, 0xF)));
  }
  if (!hn::AllFalse(d, odd) || !hn::AllTrue(bytes, hn::Eq(unwritten, hn::Zero(bytes)))) return false;
  for (std::size_t i = first; i < first + count; i += hn::Lanes(d)) {
    const auto reader = hn::Xor(hn::LoadU(d, shared.reader + i), tag);
    hn::StoreU(hn::IfThenElse(of_others(d, reader, who), several, mine), d, shared.reader + i);
  }
  return true;
}

bool write_words(const SharedWords& shared, std::size_t first, std::size_t count, std::uint32_t warp) {
  const Words d;
  const hn::Rebind<std::uint8_t, Words> bytes;
  const auto tag = hn::Set(d, shared.tag), who = hn::Set(d, warp), mine = hn::Set(d, shared.tag | warp);
  const auto atomics = hn::Set(d, own_atomics);
  auto odd = hn::MaskFromVec(hn::Zero(d));
  for (std::size_t i = first; i < first + count; i += hn::Lanes(d)) {
    const auto writer = hn::Xor(hn::LoadU(d, shared.writer + i), tag);
    const auto reader = hn::Xor(hn::LoadU(d, shared.reader + i), tag);
    odd = hn::Or(odd, hn::Or(of_others(d, hn::AndNot(atomics, writer), who), of_others(d, reader, who)));
  }
  if (!hn::AllFalse(d, odd)) return false;
  for (std::size_t i = first; i < first + count; i += hn::Lanes(d)) {
    hn::StoreU(mine, d, shared.writer + i);
    hn::StoreU(hn::Set(bytes, 0xF), bytes, shared.written + i);
  }
  return true;
}

/// One word for all lanes; the same check.
HWY_INLINE bool read_word(const SharedWords& shared, std::size_t word, std::uint32_t warp) {
  const std::uint32_t w = (shared.writer[word] ^ shared.tag) & ~own_atomics, r = shared.reader[word] ^ shared.tag;
  if (shared.written[word] != 0xF || (w < 256 && w != warp)) return false;
  shared.reader[word] = shared.tag | (r < 256 && r != warp ? several_readers : warp);
  return true;
}

enum class Shape : std::uint8_t { other, row, uniform };

/// Of 32 addresses of 4 bytes each.
template <class T>
HWY_INLINE Shape shape_of(const T* address) {
  const hn::CappedTag<T, 16> d;
  const auto first = hn::Set(d, address[0]), steps = hn::Iota(d, 0);
  auto not_row = hn::Zero(d), not_uniform = hn::Zero(d);
  for (std::size_t i = 0; i < row_words; i += hn::Lanes(d)) {
    const auto here = hn::Sub(hn::LoadU(d, address + i), first);
    const auto row = hn::ShiftLeft<2>(hn::Add(steps, hn::Set(d, static_cast<T>(i))));
    not_uniform = hn::Or(not_uniform, here);
    not_row = hn::Or(not_row, hn::Xor(here, row));
  }
  return hn::AllTrue(d, hn::Eq(not_row, hn::Zero(d)))       ? Shape::row
         : hn::AllTrue(d, hn::Eq(not_uniform, hn::Zero(d))) ? Shape::uniform
                                                            : Shape::other;
}

HWY_INLINE void copy_row(const void* from, void* to) {
  const Words d;
  for (std::size_t i = 0; i < row_words; i += hn::Lanes(d)) {
    hn::StoreU(hn::LoadU(d, static_cast<const std::uint32_t*>(from) + i), d, static_cast<std::uint32_t*>(to) + i);
  }
}

/// Where the row or the one word begins, or null: then load_shared does everything, and says what is wrong.
HWY_INLINE std::uint8_t* checked(const Exec& x, const SharedWords& shared, std::uint64_t start, Shape shape,
                                 bool is_load) {
  const std::size_t length = shape == Shape::row ? 4 * row_words : 4;
  if (shared.size < length || start > shared.size - length || start % 4 != 0) return nullptr;
  if (shared.writer != nullptr) {
    const std::size_t word = start / 4;
    const bool fine = shape == Shape::uniform ? read_word(shared, word, x.warp->index)
                      : is_load               ? read_words(shared, word, row_words, x.warp->index)
                                              : write_words(shared, word, row_words, x.warp->index);
    if (!fine) return nullptr;
  }
  ++x.block->count(x).plain;
  return shared.bytes + start;
}

template <class T>
void load_word(Exec& x, const Op& op) {
  const T* const address = reinterpret_cast<const T*>(x.frame + op.a);
  const Shape shape = shape_of(address);
  if (x.mask != all_lanes || shape == Shape::other) return load_shared(x, op);
  const std::uint64_t start = address[0] + static_cast<std::uint64_t>(op.offset);
  const std::uint8_t* const from = checked(x, x.block->shared_words(), start, shape, true);
  if (from == nullptr) return load_shared(x, op);
  x.wavefronts = 1;
  std::uint32_t* const row = row32(x, op.d);
  if (shape == Shape::row) return copy_row(from, row);
  const Words d;
  const auto value = hn::Set(d, *reinterpret_cast<const std::uint32_t*>(from));
  for (std::size_t i = 0; i < row_words; i += hn::Lanes(d)) hn::Store(value, d, row + i);
}

template <class T>
void store_word(Exec& x, const Op& op) {
  const T* const address = reinterpret_cast<const T*>(x.frame + op.a);
  if (x.mask != all_lanes || shape_of(address) != Shape::row) return store_shared(x, op);
  const std::uint64_t start = address[0] + static_cast<std::uint64_t>(op.offset);
  std::uint8_t* const to = checked(x, x.block->shared_words(), start, Shape::row, false);
  if (to == nullptr) return store_shared(x, op);
  x.wavefronts = 1;
  copy_row(row32(x, op.d), to);
}

SharedKernels shared_kernels_here() {
  return {&read_words,
          &write_words,
          {&load_word<std::uint32_t>, &load_word<std::uint64_t>},
          {&store_word<std::uint32_t>, &store_word<std::uint64_t>}};
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
HWY_EXPORT(shared_kernels_here);
const SharedKernels& shared_kernels() {
  static const SharedKernels kernels = HWY_DYNAMIC_DISPATCH(shared_kernels_here)();
  return kernels;
}
}  // namespace corridor::ptx
#endif  // HWY_ONCE
