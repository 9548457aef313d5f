// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f16, bf16 and their pairs: computed in double, rounded once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/functional/arith_half.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// It must come after.
#include "corridor/ptx/functional/numbers_inl.h"

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

using Word = std::uint32_t;

enum class After : std::uint8_t { nothing, sat, relu };
struct Types {
  using D = Word;
  using A = Word;
  using B = Word;
  using C = Word;
};

template <class H, bool ftz>
HWY_INLINE Word flushed_half(Word h) {
  return ftz && (h & H::exponent) == 0 ? h & 0x8000 : h & 0xFFFF;
}
template <class H, bool ftz>
HWY_INLINE double read(Word h) {
  return static_cast<double>(H::wide(flushed_half<H, ftz>(h)));
}
template <class H, bool ftz, After after>
HWY_INLINE Word write(double v) {
  if constexpr (after == After::sat) v = saturated(v);
  if constexpr (after == After::relu) v = v < 0.0 ? 0.0 : v;
  const Word h = flushed_half<H, ftz>(H::narrow(v));
  if constexpr (after == After::relu) return (h & 0x8000) != 0 ? 0 : h;
  return h;
}

struct Add {
  static HWY_INLINE double of(double a, double b) { return a + b; }
};
struct Sub {
  static HWY_INLINE double of(double a, double b) { return a - b; }
};
struct Mul {
  static HWY_INLINE double of(double a, double b) { return a * b; }
};
struct PowerOfTwo {
  static HWY_INLINE double of(double a) { return __builtin_exp2(a); }
};
struct HyperbolicTangent {
  static HWY_INLINE double of(double a) { return __builtin_tanh(a); }
};

template <class H, class Core, bool ftz, After after>
struct Unary : Types {
  static HWY_INLINE Word of(Word a) { return write<H, ftz, after>(Core::of(read<H, ftz>(a))); }
};
template <class H, class Core, bool ftz, After after>
struct Binary : Types {
  static HWY_INLINE Word of(Word a, Word b) { return write<H, ftz, after>(Core::of(read<H, ftz>(a), read<H, ftz>(b))); }
};
template <class H, bool ftz, After after>
struct Fused : Types {
  static HWY_INLINE Word of(Word a, Word b, Word c) {
    return write<H, ftz, after>(sum_to_odd(read<H, ftz>(a) * read<H, ftz>(b), read<H, ftz>(c)));
  }
};
template <class H, bool ftz, bool negate>
struct SignBit : Types {
  static HWY_INLINE Word of(Word a) {
    const Word h = flushed_half<H, ftz>(a);
    return (h & 0x7FFF) > H::exponent ? 0x7FFF : negate ? h ^ 0x8000 : h & 0x7FFF;
  }
};
template <class H, bool is_max, bool ftz, bool nan, bool xorsign>
struct Extreme : Types {
  static HWY_INLINE Word of(Word a, Word b) {
    Word u = flushed_half<H, ftz>(a), v = flushed_half<H, ftz>(b);
    const Word signs = xorsign ? (u ^ v) & 0x8000 : 0;
    if (xorsign) {
      u &= 0x7FFF;
      v &= 0x7FFF;
    }
    const float x = H::wide(u), y = H::wide(v);
    const Word same = is_max ? u & v : u | v;
    Word r = x == y ? same : (is_max ? x > y : x < y) ? u : v;
    if (nan) {
      r = x != x ? u : y != y ? v : r;
    } else {
      r = x != x ? v : y != y ? u : r;
    }
    return (r & 0x7FFF) > H::exponent ? 0x7FFF : r | signs;
  }
};

// The same on both halves of a word.
template <class F>
struct Both1 : Types {
  static HWY_INLINE Word of(Word a) { return F::of(a & 0xFFFF) | (F::of(a >> 16) << 16); }
};
template <class F>
struct Both2 : Types {
  static HWY_INLINE Word of(Word a, Word b) { return F::of(a & 0xFFFF, b & 0xFFFF) | (F::of(a >> 16, b >> 16) << 16); }
};
template <class F>
struct Both3 : Types {
  static HWY_INLINE Word of(Word a, Word b, Word c) {
    return F::of(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF) | (F::of(a >> 16, b >> 16, c >> 16) << 16);
  }
};
template <class F>
Picked pick_half1(bool packed) {
  return packed ? pick1<Both1<F>>() : pick1<F>();
}
template <class F>
Picked pick_half2(bool packed) {
  return packed ? pick2<Both2<F>>() : pick2<F>();
}
template <class F>
Picked pick_half3(bool packed) {
  return packed ? pick3<Both3<F>>() : pick3<F>();
}

template <class H, class Core>
Picked binary(const Form& form, bool packed) {
  if (form.relu) return {};
  if (form.sat) {
    return form.ftz ? pick_half2<Binary<H, Core, true, After::sat>>(packed)
                    : pick_half2<Binary<H, Core, false, After::sat>>(packed);
  }
  return form.ftz ? pick_half2<Binary<H, Core, true, After::nothing>>(packed)
                  : pick_half2<Binary<H, Core, false, After::nothing>>(packed);
}
template <class H>
Picked fused(const Form& form, bool packed) {
  if (form.has("oob")) return {};
  if (form.relu) {
    return form.ftz ? pick_half3<Fused<H, true, After::relu>>(packed)
                    : pick_half3<Fused<H, false, After::relu>>(packed);
  }
  if (form.sat) {
    return form.ftz ? pick_half3<Fused<H, true, After::sat>>(packed) : pick_half3<Fused<H, false, After::sat>>(packed);
  }
  return form.ftz ? pick_half3<Fused<H, true, After::nothing>>(packed)
                  : pick_half3<Fused<H, false, After::nothing>>(packed);
}
template <class H, bool is_max, bool ftz>
Picked extreme(const Form& form, bool packed) {
  if (form.xorsign) {
    return form.nan ? pick_half2<Extreme<H, is_max, ftz, true, true>>(packed)
                    : pick_half2<Extreme<H, is_max, ftz, false, true>>(packed);
  }
  return form.nan ? pick_half2<Extreme<H, is_max, ftz, true, false>>(packed)
                  : pick_half2<Extreme<H, is_max, ftz, false, false>>(packed);
}

/// setp and set of pairs: the low halves and the high ones. flags: the comparison; offset: what is written for "true".
template <class H>
HWY_INLINE bool half_holds(Compare compare, Word a, Word b) {
  const float x = H::wide(a), y = H::wide(b);
  const bool ordered = x == x && y == y;
  switch (compare) {
    case Compare::eq:
      return x == y;
    case Compare::ne:
      return ordered && x != y;
    case Compare::lt:
      return x < y;
    case Compare::le:
      return x <= y;
    case Compare::gt:
      return x > y;
    case Compare::ge:
      return x >= y;
    case Compare::equ:
      return !ordered || x == y;
    case Compare::neu:
      return !ordered || x != y;
    case Compare::ltu:
      return !ordered || x < y;
    case Compare::leu:
      return !ordered || x <= y;
    case Compare::gtu:
      return !ordered || x > y;
    case Compare::geu:
      return !ordered || x >= y;
    case Compare::num:
      return ordered;
    default:
      return !ordered;
  }
}
template <class H, bool ftz, bool row>
void compare_pairs(Exec& x, const Op& op) {
  const Word* const a = row32(x, op.a);
  const Word* const b = row32(x, op.b);
  const auto compare = static_cast<Compare>(op.flags);
  Word low = 0, high = 0;
  for (Word lane = 0; lane < 32; ++lane) {
    const bool l = half_holds<H>(compare, flushed_half<H, ftz>(a[lane]), flushed_half<H, ftz>(b[lane]));
    const bool h = half_holds<H>(compare, flushed_half<H, ftz>(a[lane] >> 16), flushed_half<H, ftz>(b[lane] >> 16));
    low |= static_cast<Word>(l) << lane;
    high |= static_cast<Word>(h) << lane;
  }
  if (!row) {
    set_predicate(x, op.d, low);
    return set_predicate(x, op.extra, high);
  }
  const auto yes = static_cast<Word>(op.offset);
  for (Word lane = 0; lane < 32; ++lane) {
    if (((x.mask >> lane) & 1) == 0) continue;
    row32(x, op.d)[lane] = (((low >> lane) & 1) != 0 ? yes : 0) | (((high >> lane) & 1) != 0 ? yes << 16 : 0);
  }
}
template <class H>
Picked compare_two(const Form& form) {
  if (form.combine != Combine::none) return {};
  Picked picked{nullptr,      Width::pred, Width::row32,
                Width::row32, Width::none, static_cast<std::uint16_t>(form.compare)};
  if (form.is("setp")) {
    picked.run = form.ftz ? &compare_pairs<H, true, false> : &compare_pairs<H, false, false>;
    return picked;
  }
  picked.d = Width::row32;
  picked.run = form.ftz ? &compare_pairs<H, true, true> : &compare_pairs<H, false, true>;
  return picked;
}

template <class H>
Picked pick_format(const Form& form, bool packed) {
  if (form.is("add")) return binary<H, Add>(form, packed);
  if (form.is("sub")) return binary<H, Sub>(form, packed);
  if (form.is("mul")) return binary<H, Mul>(form, packed);
  if (form.is("fma")) return fused<H>(form, packed);
  if (form.is("neg")) {
    return form.ftz ? pick_half1<SignBit<H, true, true>>(packed) : pick_half1<SignBit<H, false, true>>(packed);
  }
  if (form.is("abs")) {
    return form.ftz ? pick_half1<SignBit<H, true, false>>(packed) : pick_half1<SignBit<H, false, false>>(packed);
  }
  if (form.is("min")) {
    return form.ftz ? extreme<H, false, true>(form, packed) : extreme<H, false, false>(form, packed);
  }
  if (form.is("max")) {
    return form.ftz ? extreme<H, true, true>(form, packed) : extreme<H, true, false>(form, packed);
  }
  if (form.is("ex2")) {
    return form.ftz ? pick_half1<Unary<H, PowerOfTwo, true, After::nothing>>(packed)
                    : pick_half1<Unary<H, PowerOfTwo, false, After::nothing>>(packed);
  }
  if (form.is("tanh")) return pick_half1<Unary<H, HyperbolicTangent, false, After::nothing>>(packed);
  if (packed && (form.is("setp") || form.is("set"))) return compare_two<H>(form);
  return {};
}

Picked pick_half_here(const Form& form) {
  if (form.type_count > 1 && !form.is("set")) return {};
  switch (form.type()) {
    case Type::f16:
      return pick_format<F16>(form, false);
    case Type::f16x2:
      return pick_format<F16>(form, true);
    case Type::bf16:
      return pick_format<BF16>(form, false);
    case Type::bf16x2:
      return pick_format<BF16>(form, true);
    default:
      return {};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
HWY_EXPORT(pick_half_here);
Picked pick_half(const Form& form) {
  return HWY_DYNAMIC_DISPATCH(pick_half_here)(form);
}
}  // namespace corridor::ptx
#endif  // HWY_ONCE
