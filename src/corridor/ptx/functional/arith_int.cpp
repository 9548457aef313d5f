// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic: add, sub, mul, mad, min, max, abs, neg, div, rem, sad.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/functional/arith_int.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// It must come after.
#include "corridor/ptx/functional/lanes_inl.h"
#include "corridor/ptx/functional/wide_integer.h"

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

// Sums and products are made in unsigned types, where wrapping is defined.
template <class T>
inline constexpr int bits_of = static_cast<int>(8 * sizeof(T));
template <class T>
using Unsigned = std::conditional_t<sizeof(T) == 2, std::uint32_t, std::make_unsigned_t<T>>;

template <class T>
HWY_INLINE T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}
template <class T>
HWY_INLINE T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
}
template <class T>
HWY_INLINE T high_mul(T a, T b) {
  return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> bits_of<T>);
}

template <class T>
struct Same2 {
  using D = T;
  using A = T;
  using B = T;
};
template <class T>
struct Same3 : Same2<T> {
  using C = T;
};

template <class T>
struct Add : Same2<T> {
  static HWY_INLINE T of(T a, T b) { return wrap_add(a, b); }
};
template <class T>
struct Sub : Same2<T> {
  static HWY_INLINE T of(T a, T b) { return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b)); }
};
HWY_INLINE std::int32_t clamp32(std::int64_t v) {
  return v > 0x7FFFFFFF      ? 0x7FFFFFFF
         : v < -0x80000000LL ? static_cast<std::int32_t>(-0x80000000LL)
                             : static_cast<std::int32_t>(v);
}
struct AddSat : Same2<std::int32_t> {
  static HWY_INLINE std::int32_t of(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} + b); }
};
struct SubSat : Same2<std::int32_t> {
  static HWY_INLINE std::int32_t of(std::int32_t a, std::int32_t b) { return clamp32(std::int64_t{a} - b); }
};
template <class T>
struct MulLow : Same2<T> {
  static HWY_INLINE T of(T a, T b) { return wrap_mul(a, b); }
};
template <class T>
struct MulHigh : Same2<T> {
  static HWY_INLINE T of(T a, T b) { return high_mul(a, b); }
};
template <class T>
struct MulWide {
  using D = Wide<T>;
  using A = T;
  using B = T;
  static HWY_INLINE D of(T a, T b) { return static_cast<D>(a) * static_cast<D>(b); }
};
template <class T>
struct MadLow : Same3<T> {
  static HWY_INLINE T of(T a, T b, T c) { return wrap_add(wrap_mul(a, b), c); }
};
template <class T>
struct MadHigh : Same3<T> {
  static HWY_INLINE T of(T a, T b, T c) { return wrap_add(high_mul(a, b), c); }
};
struct MadHighSat : Same3<std::int32_t> {
  static HWY_INLINE std::int32_t of(std::int32_t a, std::int32_t b, std::int32_t c) {
    return clamp32(std::int64_t{high_mul(a, b)} + c);
  }
};
template <class T>
struct MadWide {
  using D = Wide<T>;
  using A = T;
  using B = T;
  using C = Wide<T>;
  static HWY_INLINE D of(T a, T b, C c) { return wrap_add<D>(static_cast<D>(a) * static_cast<D>(b), c); }
};
template <class T>
HWY_INLINE std::int64_t low24(T a) {
  const auto up = static_cast<std::uint32_t>(a) << 8;
  return std::is_signed_v<T> ? std::int64_t{static_cast<std::int32_t>(up) >> 8} : std::int64_t{up >> 8};
}
template <class T, int shift>
struct Mul24 : Same2<T> {
  static HWY_INLINE T of(T a, T b) { return static_cast<T>((low24(a) * low24(b)) >> shift); }
};
template <class T, int shift>
struct Mad24 : Same3<T> {
  static HWY_INLINE T of(T a, T b, T c) { return wrap_add(Mul24<T, shift>::of(a, b), c); }
};
template <class T>
struct Min : Same2<T> {
  static HWY_INLINE T of(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct Max : Same2<T> {
  static HWY_INLINE T of(T a, T b) { return a > b ? a : b; }
};
struct MinRelu : Same2<std::int32_t> {
  static HWY_INLINE std::int32_t of(std::int32_t a, std::int32_t b) { return Max<std::int32_t>::of(a < b ? a : b, 0); }
};
struct MaxRelu : Same2<std::int32_t> {
  static HWY_INLINE std::int32_t of(std::int32_t a, std::int32_t b) { return Max<std::int32_t>::of(a > b ? a : b, 0); }
};
template <class T>
struct Neg {
  using D = T;
  using A = T;
  static HWY_INLINE T of(T a) { return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a)); }
};
template <class T>
struct Abs {
  using D = T;
  using A = T;
  static HWY_INLINE T of(T a) { return a < 0 ? Neg<T>::of(a) : a; }
};
/// Division by zero gives all ones, as the machine does; PTX leaves it open.
template <class T>
struct Div : Same2<T> {
  static HWY_INLINE T of(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Neg<T>::of(a);
    }
    return static_cast<T>(a / b);
  }
};
template <class T>
struct Rem : Same2<T> {
  static HWY_INLINE T of(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
template <class T>
struct Sad : Same3<T> {
  static HWY_INLINE T of(T a, T b, T c) { return wrap_add(c, a < b ? Sub<T>::of(b, a) : Sub<T>::of(a, b)); }
};

// Two 16-bit halves of a word.
template <class F>
struct Halves : Same2<std::uint32_t> {
  static HWY_INLINE std::uint32_t of(std::uint32_t a, std::uint32_t b) {
    using T = typename F::D;
    const auto low = static_cast<std::uint16_t>(F::of(static_cast<T>(a), static_cast<T>(b)));
    const auto high = static_cast<std::uint16_t>(F::of(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return low | (std::uint32_t{high} << 16);
  }
};

template <template <class> class F>
Picked by_type2(Type type) {
  switch (type) {
    case Type::u16:
      return pick2<F<std::uint16_t>>();
    case Type::s16:
      return pick2<F<std::int16_t>>();
    case Type::u32:
      return pick2<F<std::uint32_t>>();
    case Type::s32:
      return pick2<F<std::int32_t>>();
    case Type::u64:
      return pick2<F<std::uint64_t>>();
    case Type::s64:
      return pick2<F<std::int64_t>>();
    default:
      return {};
  }
}
template <template <class> class F>
Picked by_type3(Type type) {
  switch (type) {
    case Type::u16:
      return pick3<F<std::uint16_t>>();
    case Type::s16:
      return pick3<F<std::int16_t>>();
    case Type::u32:
      return pick3<F<std::uint32_t>>();
    case Type::s32:
      return pick3<F<std::int32_t>>();
    case Type::u64:
      return pick3<F<std::uint64_t>>();
    case Type::s64:
      return pick3<F<std::int64_t>>();
    default:
      return {};
  }
}
template <template <class> class F>
Picked by_signed(Type type) {
  switch (type) {
    case Type::s16:
      return pick1<F<std::int16_t>>();
    case Type::s32:
      return pick1<F<std::int32_t>>();
    case Type::s64:
      return pick1<F<std::int64_t>>();
    default:
      return {};
  }
}
template <template <class> class F>
Picked by_narrow2(Type type) {
  switch (type) {
    case Type::u16:
      return pick2<F<std::uint16_t>>();
    case Type::s16:
      return pick2<F<std::int16_t>>();
    case Type::u32:
      return pick2<F<std::uint32_t>>();
    case Type::s32:
      return pick2<F<std::int32_t>>();
    default:
      return {};
  }
}
template <template <class> class F>
Picked by_narrow3(Type type) {
  switch (type) {
    case Type::u16:
      return pick3<F<std::uint16_t>>();
    case Type::s16:
      return pick3<F<std::int16_t>>();
    case Type::u32:
      return pick3<F<std::uint32_t>>();
    case Type::s32:
      return pick3<F<std::int32_t>>();
    default:
      return {};
  }
}

Picked pick_sum(const Form& form) {
  const Type type = form.type();
  const bool add = form.op[0] == 'a';
  if (type == Type::u16x2) return add ? pick2<Halves<Add<std::uint16_t>>>() : Picked{};
  if (type == Type::s16x2) return add ? pick2<Halves<Add<std::int16_t>>>() : Picked{};
  if (form.sat) return type != Type::s32 ? Picked{} : add ? pick2<AddSat>() : pick2<SubSat>();
  return add ? by_type2<Add>(type) : by_type2<Sub>(type);
}

Picked pick_product(const Form& form) {
  const Type type = form.type();
  if (form.is("mul")) {
    if (form.wide) return by_narrow2<MulWide>(type);
    return form.high ? by_type2<MulHigh>(type) : form.low ? by_type2<MulLow>(type) : Picked{};
  }
  if (form.wide) return by_narrow3<MadWide>(type);
  if (form.sat) return form.high && type == Type::s32 ? pick3<MadHighSat>() : Picked{};
  return form.high ? by_type3<MadHigh>(type) : form.low ? by_type3<MadLow>(type) : Picked{};
}

Picked pick_24(const Form& form) {
  const bool is_signed = form.type() == Type::s32;
  if (form.sat || (!is_signed && form.type() != Type::u32)) return {};
  using S = std::int32_t;
  using U = std::uint32_t;
  if (form.is("mul24")) {
    if (form.high) return is_signed ? pick2<Mul24<S, 16>>() : pick2<Mul24<U, 16>>();
    return is_signed ? pick2<Mul24<S, 0>>() : pick2<Mul24<U, 0>>();
  }
  if (form.high) return is_signed ? pick3<Mad24<S, 16>>() : pick3<Mad24<U, 16>>();
  return is_signed ? pick3<Mad24<S, 0>>() : pick3<Mad24<U, 0>>();
}

template <template <class> class F, class Relu>
Picked pick_extreme(const Form& form) {
  const Type type = form.type();
  if (form.relu) return type == Type::s32 ? pick2<Relu>() : Picked{};
  if (type == Type::u16x2) return pick2<Halves<F<std::uint16_t>>>();
  if (type == Type::s16x2) return pick2<Halves<F<std::int16_t>>>();
  return by_type2<F>(type);
}

Picked pick_integer_here(const Form& form) {
  const Type type = form.type();
  if (form.is("add") || form.is("sub")) return pick_sum(form);
  if (form.is("mul") || form.is("mad")) return pick_product(form);
  if (form.is("mul24") || form.is("mad24")) return pick_24(form);
  if (form.is("min")) return pick_extreme<Min, MinRelu>(form);
  if (form.is("max")) return pick_extreme<Max, MaxRelu>(form);
  if (form.is("div")) return by_type2<Div>(type);
  if (form.is("rem")) return by_type2<Rem>(type);
  if (form.is("sad")) return by_type3<Sad>(type);
  if (form.is("neg")) return by_signed<Neg>(type);
  if (form.is("abs")) return by_signed<Abs>(type);
  return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
HWY_EXPORT(pick_integer_here);
Picked pick_integer(const Form& form) {
  return HWY_DYNAMIC_DISPATCH(pick_integer_here)(form);
}
}  // namespace corridor::ptx
#endif  // HWY_ONCE
