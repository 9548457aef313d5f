// SPDX-License-Identifier: Apache-2.0
// cvt to pairs of halves (the first operand becomes the high half) and to tf32.
#include "corridor/ptx/functional/form.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/functional/convert_packed.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// It must come after.
#include "corridor/ptx/functional/numbers_inl.h"

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

using Word = std::uint32_t;

struct Words {
  using D = Word;
  using A = Word;
  using B = Word;
};

template <bool bf16, Round round, bool relu, bool finite>
struct Pair : Words {
  static HWY_INLINE Word one(Word a) {
    double v = static_cast<double>(bits_as<float>(a));
    if constexpr (relu) v = v < 0.0 ? 0.0 : v;
    Word h = bf16 ? bf16_of<round>(v) : f16_of<round>(v);
    if constexpr (relu) h = (h & 0x8000) != 0 ? 0 : h;
    constexpr Word infinite = bf16 ? 0x7F80 : 0x7C00;
    return finite && (h & 0x7FFF) == infinite ? (h & 0x8000) | (infinite - 1) : h;
  }
  static HWY_INLINE Word of(Word a, Word b) { return (one(a) << 16) | one(b); }
};

template <bool bf16>
Picked pick_pair(const Form& form) {
  const bool cut = form.round == Round::rz;
  if (form.round != Round::rn && !cut) return {};
  if (form.satfinite) return form.relu || cut ? Picked{} : pick2<Pair<bf16, Round::rn, false, true>>();
  if (form.relu) return cut ? pick2<Pair<bf16, Round::rz, true, false>>() : pick2<Pair<bf16, Round::rn, true, false>>();
  return cut ? pick2<Pair<bf16, Round::rz, false, false>>() : pick2<Pair<bf16, Round::rn, false, false>>();
}

template <Round round, bool relu>
struct ToTf32 : Words {
  static HWY_INLINE Word of(Word a) {
    const Word magnitude = a & 0x7FFFFFFF, sign = a & 0x80000000;
    if (magnitude > 0x7F800000) return 0x7FFFFFFF;
    if (relu && sign != 0) return 0;
    if (magnitude == 0x7F800000) return a;
    Word r = magnitude;
    if (round == Round::rna) r += 0x1000;
    if (round == Round::rn) r += 0xFFF + ((magnitude >> 13) & 1);
    return sign | (r & 0xFFFFE000);
  }
};
Picked pick_tf32(const Form& form) {
  if (form.satfinite) return {};
  switch (form.round) {
    case Round::rna:
      return form.relu ? Picked{} : pick1<ToTf32<Round::rna, false>>();
    case Round::rn:
      return form.relu ? pick1<ToTf32<Round::rn, true>>() : pick1<ToTf32<Round::rn, false>>();
    case Round::rz:
      return form.relu ? pick1<ToTf32<Round::rz, true>>() : pick1<ToTf32<Round::rz, false>>();
    default:
      return {};
  }
}

Picked pick_packed_convert_here(const Form& form) {
  if (form.type_count != 2 || form.types[1] != Type::f32) return {};
  if (form.types[0] == Type::tf32) return pick_tf32(form);
  if (form.types[0] == Type::f16x2) return pick_pair<false>(form);
  if (form.types[0] == Type::bf16x2) return pick_pair<true>(form);
  return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
HWY_EXPORT(pick_packed_convert_here);
Picked pick_packed_convert(const Form& form) {
  return HWY_DYNAMIC_DISPATCH(pick_packed_convert_here)(form);
}
}  // namespace corridor::ptx
#endif  // HWY_ONCE
