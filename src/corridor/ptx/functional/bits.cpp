// SPDX-License-Identifier: Apache-2.0
// Bits and bytes: logic, shifts, fields, counts, permutes, and the short dot products dp4a and dp2a.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/functional/bits.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// It must come after.
#include "corridor/ptx/functional/lanes_inl.h"

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;

template <class DT, class AT = DT, class BT = AT, class CT = BT>
struct Types {
  using D = DT;
  using A = AT;
  using B = BT;
  using C = CT;
};

template <class T>
struct And : Types<T> {
  static HWY_INLINE T of(T a, T b) { return static_cast<T>(a & b); }
};
template <class T>
struct Or : Types<T> {
  static HWY_INLINE T of(T a, T b) { return static_cast<T>(a | b); }
};
template <class T>
struct Xor : Types<T> {
  static HWY_INLINE T of(T a, T b) { return static_cast<T>(a ^ b); }
};
template <class T>
struct Not : Types<T> {
  static HWY_INLINE T of(T a) { return static_cast<T>(~a); }
};
template <class T>
struct LogicalNot : Types<T> {
  static HWY_INLINE T of(T a) { return a == 0 ? T{1} : T{0}; }
};
template <class T>
struct Move : Types<T> {
  static HWY_INLINE T of(T a) { return a; }
};
/// Shift amounts beyond the width clamp: zero, or the sign.
template <class T>
struct ShiftLeft : Types<T, T, U32> {
  static HWY_INLINE T of(T a, U32 n) {
    constexpr U32 bits = 8 * sizeof(T);
    return n >= bits ? T{0} : static_cast<T>(a << (n & (bits - 1)));
  }
};
template <class T>
struct ShiftRight : Types<T, T, U32> {
  static HWY_INLINE T of(T a, U32 n) {
    constexpr U32 bits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (n >= bits ? bits - 1 : n));
    return n >= bits ? T{0} : static_cast<T>(a >> (n & (bits - 1)));
  }
};
template <bool left, bool wraps>
struct Funnel : Types<U32> {
  static HWY_INLINE U32 of(U32 a, U32 b, U32 c) {
    const U32 n = wraps ? c & 31 : c > 32 ? 32 : c;
    const U64 both = (U64{b} << 32) | a;
    return left ? static_cast<U32>((both << n) >> 32) : static_cast<U32>(both >> n);
  }
};
template <class T>
struct ExtractField : Types<T, T, U32, U32> {
  static HWY_INLINE T of(T a, U32 b, U32 c) {
    constexpr U32 bits = 8 * sizeof(T);
    const U32 at = b & 0xFF, length = c & 0xFF;
    using U = std::make_unsigned_t<T>;
    if (length == 0) return 0;
    const U32 top = at + length - 1 < bits - 1 ? at + length - 1 : bits - 1;
    const bool sign = std::is_signed_v<T> && ((static_cast<U>(a) >> top) & 1) != 0;
    const U fill = sign ? ~U{0} : U{0};
    const U low = at >= bits ? fill : static_cast<U>(static_cast<U>(a) >> at);
    const U kept = length >= bits ? ~U{0} : static_cast<U>((U{1} << length) - 1);
    // What lies beyond the top of the word is the sign too.
    const U32 valid = at >= bits ? 0 : bits - at;
    const U real = valid >= bits ? ~U{0} : static_cast<U>((U{1} << valid) - 1);
    const U inside = kept & real;
    return static_cast<T>((low & inside) | (fill & static_cast<U>(~inside)));
  }
};
/// bfi d, a, b, c, d: the field of `a` goes into `b`; the length lies in row op.extra.
template <class T>
void insert_field(Exec& x, const Op& op) {
  constexpr U32 bits = 8 * sizeof(T);
  const auto* const a = reinterpret_cast<const T*>(x.frame + op.a);
  const auto* const b = reinterpret_cast<const T*>(x.frame + op.b);
  const U32* const at_row = row32(x, op.c);
  const U32* const length_row = row32(x, op.extra);
  auto* const d = reinterpret_cast<T*>(x.frame + op.d);
  alignas(64) T out[32];
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) {
    const U32 at = at_row[lane] & 0xFF, length = length_row[lane] & 0xFF;
    const T ones = length >= bits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << (length & (bits - 1))) - 1);
    const T field = at >= bits ? T{0} : static_cast<T>(ones << (at & (bits - 1)));
    const T moved = at >= bits ? T{0} : static_cast<T>(a[lane] << (at & (bits - 1)));
    out[lane] = (moved & field) | (b[lane] & ~field);
  }
  keep_lanes(d, out, x.mask);
}
template <class T, bool shift_amount>
struct FindBit : Types<U32, T> {
  static HWY_INLINE U32 of(T a) {
    using U = std::make_unsigned_t<T>;
    const U v = std::is_signed_v<T> && a < 0 ? static_cast<U>(~a) : static_cast<U>(a);
    if (v == 0) return all_lanes;
    const int at = sizeof(T) == 8 ? 63 - __builtin_clzll(v) : 31 - __builtin_clz(static_cast<U32>(v));
    const int bits = 8 * sizeof(T) - 1;
    return static_cast<U32>(shift_amount ? bits - at : at);
  }
};
template <class T>
struct CountOnes : Types<U32, T> {
  static HWY_INLINE U32 of(T a) { return static_cast<U32>(__builtin_popcountll(a)); }
};
template <class T>
struct CountLeadingZeros : Types<U32, T> {
  static HWY_INLINE U32 of(T a) {
    constexpr U32 bits = 8 * sizeof(T);
    return a == 0 ? bits : static_cast<U32>(__builtin_clzll(U64{a})) - (64 - bits);
  }
};
template <class T>
struct Reverse : Types<T> {
  static HWY_INLINE T of(T a) {
    T v = a;
    v = static_cast<T>(((v >> 1) & static_cast<T>(0x5555555555555555ULL)) |
                       ((v & static_cast<T>(0x5555555555555555ULL)) << 1));
    v = static_cast<T>(((v >> 2) & static_cast<T>(0x3333333333333333ULL)) |
                       ((v & static_cast<T>(0x3333333333333333ULL)) << 2));
    v = static_cast<T>(((v >> 4) & static_cast<T>(0x0F0F0F0F0F0F0F0FULL)) |
                       ((v & static_cast<T>(0x0F0F0F0F0F0F0F0FULL)) << 4));
    return sizeof(T) == 8 ? static_cast<T>(__builtin_bswap64(v))
                          : static_cast<T>(__builtin_bswap32(static_cast<U32>(v)));
  }
};
template <bool wraps>
struct BitMask : Types<U32> {
  static HWY_INLINE U32 of(U32 a, U32 b) {
    const U32 at = wraps ? a & 31 : a > 32 ? 32 : a;
    const U32 length = wraps ? b & 31 : b > 32 ? 32 : b;
    return static_cast<U32>(((U64{1} << length) - 1) << at);
  }
};

// prmt: which of eight bytes goes where; modes are selectors computed from the low two bits.
struct Permute : Types<U32> {
  static HWY_INLINE U32 of(U32 a, U32 b, U32 selector) {
    const U64 both = (U64{b} << 32) | a;
    U32 out = 0;
    for (U32 i = 0; i < 4; ++i) {
      const U32 nibble = (selector >> (4 * i)) & 0xF;
      const auto byte = static_cast<U32>(both >> (8 * (nibble & 7))) & 0xFF;
      const U32 value = (nibble & 8) != 0 ? ((byte & 0x80) != 0 ? 0xFF : 0) : byte;
      out |= value << (8 * i);
    }
    return out;
  }
};
enum class PermuteMode : std::uint8_t { f4e, b4e, rc8, ecl, ecr, rc16 };
template <PermuteMode mode>
struct PermuteWithMode : Types<U32> {
  static HWY_INLINE U32 of(U32 a, U32 b, U32 c) {
    const U32 n = c & 3;
    U32 selector = 0;
    for (U32 i = 0; i < 4; ++i) {
      U32 source = 0;
      if (mode == PermuteMode::f4e) source = n + i;
      if (mode == PermuteMode::b4e) source = (n - i) & 7;
      if (mode == PermuteMode::rc8) source = n;
      if (mode == PermuteMode::ecl) source = i > n ? i : n;
      if (mode == PermuteMode::ecr) source = i < n ? i : n;
      if (mode == PermuteMode::rc16) source = (n & 1) * 2 + (i & 1);
      selector |= source << (4 * i);
    }
    return Permute::of(a, b, selector);
  }
};

template <bool sign>
HWY_INLINE S32 byte_of(U32 word, U32 i) {
  const U32 byte = (word >> (8 * i)) & 0xFF;
  return sign ? S32{static_cast<std::int8_t>(byte)} : static_cast<S32>(byte);
}
template <bool sign_a, bool sign_b>
struct Dot4 : Types<U32> {
  static HWY_INLINE U32 of(U32 a, U32 b, U32 c) {
    U32 sum = c;
    for (U32 i = 0; i < 4; ++i) sum += static_cast<U32>(byte_of<sign_a>(a, i) * byte_of<sign_b>(b, i));
    return sum;
  }
};
template <bool sign_a, bool sign_b, bool high>
struct Dot2 : Types<U32> {
  static HWY_INLINE U32 of(U32 a, U32 b, U32 c) {
    U32 sum = c;
    for (U32 i = 0; i < 2; ++i) {
      const U32 half = (a >> (16 * i)) & 0xFFFF;
      const S32 wide = sign_a ? S32{static_cast<S16>(half)} : static_cast<S32>(half);
      sum += static_cast<U32>(wide * byte_of<sign_b>(b, i + (high ? 2 : 0)));
    }
    return sum;
  }
};

void lop3(Exec& x, const Op& op) {
  const U32* const a = row32(x, op.a);
  const U32* const b = row32(x, op.b);
  const U32* const c = row32(x, op.c);
  const U32 table = op.bytes;
  alignas(64) U32 out[32] = {};
  for (U32 term = 0; term < 8; ++term) {
    if (((table >> term) & 1) == 0) continue;
    const U32 na = (term & 4) != 0 ? 0 : all_lanes, nb = (term & 2) != 0 ? 0 : all_lanes,
              nc = (term & 1) != 0 ? 0 : all_lanes;
    CORRIDOR_EACH_LANE
    for (int lane = 0; lane < 32; ++lane) out[lane] |= (a[lane] ^ na) & (b[lane] ^ nb) & (c[lane] ^ nc);
  }
  keep_lanes(row32(x, op.d), out, x.mask);
}

template <int kind>  // 0 and, 1 or, 2 xor, 3 not, 4 mov; flags bit 0 and 1: a, b negated
void predicate_logic(Exec& x, const Op& op) {
  const U32 a = predicate(x, op.a) ^ ((op.flags & 1) != 0 ? all_lanes : 0);
  const U32 b = kind < 3 ? predicate(x, op.b) ^ ((op.flags & 2) != 0 ? all_lanes : 0) : 0;
  const U32 value = kind == 0 ? a & b : kind == 1 ? a | b : kind == 2 ? a ^ b : kind == 3 ? ~a : a;
  set_predicate(x, op.d, value);
}

template <template <class> class F>
Picked logic2(const Form& form, Handler of_predicates) {
  switch (bytes_of(form.type())) {
    case 2:
      return pick2<F<U16>>();
    case 4:
      return pick2<F<U32>>();
    case 8:
      return pick2<F<U64>>();
    default:
      break;
  }
  if (form.type() != Type::pred) return {};
  return {of_predicates, Width::pred, Width::pred, Width::pred};
}
template <template <class> class F>
Picked logic1(const Form& form, Handler of_predicates) {
  switch (bytes_of(form.type())) {
    case 2:
      return pick1<F<U16>>();
    case 4:
      return pick1<F<U32>>();
    case 8:
      return pick1<F<U64>>();
    default:
      break;
  }
  if (form.type() != Type::pred || of_predicates == nullptr) return {};
  return {of_predicates, Width::pred, Width::pred};
}

Picked pick_shift(const Form& form) {
  if (form.is("shl")) {
    switch (bytes_of(form.type())) {
      case 2:
        return pick2<ShiftLeft<U16>>();
      case 4:
        return pick2<ShiftLeft<U32>>();
      case 8:
        return pick2<ShiftLeft<U64>>();
      default:
        return {};
    }
  }
  switch (form.type()) {
    case Type::s16:
      return pick2<ShiftRight<S16>>();
    case Type::s32:
      return pick2<ShiftRight<S32>>();
    case Type::s64:
      return pick2<ShiftRight<S64>>();
    case Type::u16:
    case Type::b16:
      return pick2<ShiftRight<U16>>();
    case Type::u32:
    case Type::b32:
      return pick2<ShiftRight<U32>>();
    case Type::u64:
    case Type::b64:
      return pick2<ShiftRight<U64>>();
    default:
      return {};
  }
}

Picked pick_field(const Form& form) {
  const Type type = form.type();
  if (form.is("bfi")) {
    if (type == Type::b32) return {&insert_field<U32>, Width::row32, Width::row32, Width::row32, Width::row32};
    if (type == Type::b64) return {&insert_field<U64>, Width::row64, Width::row64, Width::row64, Width::row32};
    return {};
  }
  if (form.is("bfe")) {
    if (type == Type::u32) return pick3<ExtractField<U32>>();
    if (type == Type::s32) return pick3<ExtractField<S32>>();
    if (type == Type::u64) return pick3<ExtractField<U64>>();
    if (type == Type::s64) return pick3<ExtractField<S64>>();
    return {};
  }
  const bool amount = form.shiftamt;
  if (type == Type::u32) return amount ? pick1<FindBit<U32, true>>() : pick1<FindBit<U32, false>>();
  if (type == Type::s32) return amount ? pick1<FindBit<S32, true>>() : pick1<FindBit<S32, false>>();
  if (type == Type::u64) return amount ? pick1<FindBit<U64, true>>() : pick1<FindBit<U64, false>>();
  if (type == Type::s64) return amount ? pick1<FindBit<S64, true>>() : pick1<FindBit<S64, false>>();
  return {};
}

Picked pick_permute(const Form& form) {
  if (form.has("f4e")) return pick3<PermuteWithMode<PermuteMode::f4e>>();
  if (form.has("b4e")) return pick3<PermuteWithMode<PermuteMode::b4e>>();
  if (form.has("rc8")) return pick3<PermuteWithMode<PermuteMode::rc8>>();
  if (form.has("ecl")) return pick3<PermuteWithMode<PermuteMode::ecl>>();
  if (form.has("ecr")) return pick3<PermuteWithMode<PermuteMode::ecr>>();
  if (form.has("rc16")) return pick3<PermuteWithMode<PermuteMode::rc16>>();
  return pick3<Permute>();
}

Picked pick_dot(const Form& form) {
  if (form.type_count != 2) return {};
  const bool a = form.types[0] == Type::s32, b = form.types[1] == Type::s32;
  if (form.is("dp4a")) {
    if (a) return b ? pick3<Dot4<true, true>>() : pick3<Dot4<true, false>>();
    return b ? pick3<Dot4<false, true>>() : pick3<Dot4<false, false>>();
  }
  if (form.high) {
    if (a) return b ? pick3<Dot2<true, true, true>>() : pick3<Dot2<true, false, true>>();
    return b ? pick3<Dot2<false, true, true>>() : pick3<Dot2<false, false, true>>();
  }
  if (a) return b ? pick3<Dot2<true, true, false>>() : pick3<Dot2<true, false, false>>();
  return b ? pick3<Dot2<false, true, false>>() : pick3<Dot2<false, false, false>>();
}

Picked pick_count(const Form& form) {
  const bool wide = bytes_of(form.type()) == 8;
  if (form.is("popc")) return wide ? pick1<CountOnes<U64>>() : pick1<CountOnes<U32>>();
  if (form.is("clz")) return wide ? pick1<CountLeadingZeros<U64>>() : pick1<CountLeadingZeros<U32>>();
  return wide ? pick1<Reverse<U64>>() : pick1<Reverse<U32>>();
}

Picked pick_bits_here(const Form& form) {
  if (form.is("and")) return logic2<And>(form, &predicate_logic<0>);
  if (form.is("or")) return logic2<Or>(form, &predicate_logic<1>);
  if (form.is("xor")) return logic2<Xor>(form, &predicate_logic<2>);
  if (form.is("not")) return logic1<Not>(form, &predicate_logic<3>);
  if (form.is("cnot")) return logic1<LogicalNot>(form, nullptr);
  if (form.is("mov")) return logic1<Move>(form, &predicate_logic<4>);
  if (form.is("shl") || form.is("shr")) return pick_shift(form);
  if (form.is("bfi") || form.is("bfe") || form.is("bfind")) return pick_field(form);
  if (form.is("popc") || form.is("clz") || form.is("brev")) return pick_count(form);
  if (form.is("prmt")) return pick_permute(form);
  if (form.is("dp4a") || form.is("dp2a")) return pick_dot(form);
  if (form.is("lop3") && form.combine == Combine::none) {
    return {&lop3, Width::row32, Width::row32, Width::row32, Width::row32};
  }
  if (form.is("bmsk")) return form.wrap ? pick2<BitMask<true>>() : pick2<BitMask<false>>();
  if (form.is("shf")) {
    const bool left = form.has("l");
    if (form.wrap) return left ? pick3<Funnel<true, true>>() : pick3<Funnel<false, true>>();
    return left ? pick3<Funnel<true, false>>() : pick3<Funnel<false, false>>();
  }
  return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
HWY_EXPORT(pick_bits_here);
Picked pick_bits(const Form& form) {
  return HWY_DYNAMIC_DISPATCH(pick_bits_here)(form);
}
}  // namespace corridor::ptx
#endif  // HWY_ONCE
