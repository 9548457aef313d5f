// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f32 and f64. Approximate instructions give the value of the host's double-precision function rounded
// to f32: within half a unit in the last place of the exact value, far inside the bounds of PTX.
#include <cmath>
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/functional/arith_float.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// It must come after.
#include "corridor/ptx/functional/numbers_inl.h"

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

// Cores: what is computed, without flushing, saturation and NaN.
struct Add {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return a * b;
  }
};
struct Div {
  template <class T>
  static HWY_INLINE T of(T a, T b) {
    return a / b;
  }
};
/// Beyond 2^126 the reciprocal is lost: the quotient is zero, of infinity NaN.
struct DivApprox {
  static HWY_INLINE float of(float a, float b) {
    const float size = b < 0 ? -b : b;
    const bool lost = size > 0x1p126F && size - size == 0.0F;
    return lost ? a * bits_as<float>(bits_as<std::uint32_t>(b) & 0x80000000U) : a / b;
  }
};
struct Fma {
  static HWY_INLINE float of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static HWY_INLINE double of(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct Reciprocal {
  template <class T>
  static HWY_INLINE T of(T a) {
    return T{1} / a;
  }
};
struct SquareRoot {
  static HWY_INLINE float of(float a) { return __builtin_sqrtf(a); }
  static HWY_INLINE double of(double a) { return __builtin_sqrt(a); }
};
struct ReciprocalRoot {
  static HWY_INLINE float of(float a) {
    if (a == 0.0F) return 1.0F / a;
    return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
  }
  static HWY_INLINE double of(double a) { return a == 0.0 ? 1.0 / a : 1.0 / __builtin_sqrt(a); }
};
struct PowerOfTwo {
  static HWY_INLINE float of(float a) { return static_cast<float>(__builtin_exp2(static_cast<double>(a))); }
};
struct LogOfTwo {
  static HWY_INLINE float of(float a) { return static_cast<float>(__builtin_log2(static_cast<double>(a))); }
};
struct Sine {
  static HWY_INLINE float of(float a) { return static_cast<float>(__builtin_sin(static_cast<double>(a))); }
};
struct Cosine {
  static HWY_INLINE float of(float a) { return static_cast<float>(__builtin_cos(static_cast<double>(a))); }
};
struct HyperbolicTangent {
  static HWY_INLINE float of(float a) { return static_cast<float>(__builtin_tanh(static_cast<double>(a))); }
};

template <class T, class Core, bool ftz, bool sat>
struct Unary {
  using D = T;
  using A = T;
  static HWY_INLINE T of(T a) {
    const T r = flush_if<ftz>(Core::of(flush_if<ftz>(a)));
    if constexpr (sat) return saturated(r);
    return canonical(r);
  }
};
template <class T, class Core, bool ftz, bool sat>
struct Binary {
  using D = T;
  using A = T;
  using B = T;
  static HWY_INLINE T of(T a, T b) {
    const T r = flush_if<ftz>(Core::of(flush_if<ftz>(a), flush_if<ftz>(b)));
    if constexpr (sat) return saturated(r);
    return canonical(r);
  }
};
template <class T, class Core, bool ftz, bool sat>
struct Ternary {
  using D = T;
  using A = T;
  using B = T;
  using C = T;
  static HWY_INLINE T of(T a, T b, T c) {
    const T r = flush_if<ftz>(Core::of(flush_if<ftz>(a), flush_if<ftz>(b), flush_if<ftz>(c)));
    if constexpr (sat) return saturated(r);
    return canonical(r);
  }
};

// The sign bit alone.
template <class T, bool ftz>
struct Negative {
  using D = T;
  using A = T;
  static HWY_INLINE T of(T a) {
    const T v = flush_if<ftz>(a);
    const T r = bits_as<T>(bits_as<RowOf<T>>(v) ^ (RowOf<T>{1} << (8 * sizeof(T) - 1)));
    return sizeof(T) == 4 ? canonical(r) : r;
  }
};
template <class T, bool ftz>
struct Absolute {
  using D = T;
  using A = T;
  static HWY_INLINE T of(T a) {
    const T v = flush_if<ftz>(a);
    const T r = bits_as<T>(bits_as<RowOf<T>>(v) & static_cast<RowOf<T>>(~RowOf<T>{0} >> 1));
    return sizeof(T) == 4 ? canonical(r) : r;
  }
};
/// copysign d, a, b: the sign of a, the rest of b.
template <class T>
struct CopySign {
  using D = T;
  using A = T;
  using B = T;
  static HWY_INLINE T of(T a, T b) {
    constexpr RowOf<T> sign = RowOf<T>{1} << (8 * sizeof(T) - 1);
    return bits_as<T>((bits_as<RowOf<T>>(a) & sign) | (bits_as<RowOf<T>>(b) & static_cast<RowOf<T>>(~sign)));
  }
};

/// −0 is less than +0; a NaN gives way to a number unless `nan`.
template <class T, bool is_max, bool ftz, bool nan, bool xorsign>
struct Extreme {
  using D = T;
  using A = T;
  using B = T;
  static HWY_INLINE T of(T a, T b) {
    using R = RowOf<T>;
    constexpr R sign = R{1} << (8 * sizeof(T) - 1);
    T u = flush_if<ftz>(a), v = flush_if<ftz>(b);
    const R signs = (bits_as<R>(u) ^ bits_as<R>(v)) & sign;
    if constexpr (xorsign) {
      u = bits_as<T>(bits_as<R>(u) & static_cast<R>(~sign));
      v = bits_as<T>(bits_as<R>(v) & static_cast<R>(~sign));
    }
    const R same = is_max ? bits_as<R>(u) & bits_as<R>(v) : bits_as<R>(u) | bits_as<R>(v);
    const bool first = is_max ? u > v : u < v;
    T r = u == v ? bits_as<T>(same) : first ? u : v;
    if constexpr (nan) {
      r = std::isnan(u) ? u : std::isnan(v) ? v : r;
    } else {
      r = std::isnan(u) ? v : std::isnan(v) ? u : r;
    }
    if constexpr (xorsign) r = bits_as<T>(bits_as<R>(r) | signs);
    return canonical(r);
  }
};

/// The upper 32 bits of an approximation in double precision; the lower ones are zero.
template <class Core>
struct Upper {
  using D = double;
  using A = double;
  static HWY_INLINE double of(double a) {
    const double r = canonical(flushed(Core::of(flushed(a))));
    return bits_as<double>(bits_as<std::uint64_t>(r) & 0xFFFFFFFF00000000ULL);
  }
};

template <class Core>
Picked unary(const Form& form) {
  if (form.type() != Type::f32 || form.sat) return {};
  return form.ftz ? pick1<Unary<float, Core, true, false>>() : pick1<Unary<float, Core, false, false>>();
}
template <class Core>
Picked unary_both(const Form& form) {
  if (form.type() == Type::f64) return form.ftz ? Picked{} : pick1<Unary<double, Core, false, false>>();
  return unary<Core>(form);
}
template <class Core>
Picked binary(const Form& form) {
  if (form.type() == Type::f64) return form.ftz || form.sat ? Picked{} : pick2<Binary<double, Core, false, false>>();
  if (form.type() != Type::f32) return {};
  if (form.sat) return form.ftz ? pick2<Binary<float, Core, true, true>>() : pick2<Binary<float, Core, false, true>>();
  return form.ftz ? pick2<Binary<float, Core, true, false>>() : pick2<Binary<float, Core, false, false>>();
}
Picked fused(const Form& form) {
  if (form.type() == Type::f64) return form.ftz || form.sat ? Picked{} : pick3<Ternary<double, Fma, false, false>>();
  if (form.type() != Type::f32) return {};
  if (form.sat) return form.ftz ? pick3<Ternary<float, Fma, true, true>>() : pick3<Ternary<float, Fma, false, true>>();
  return form.ftz ? pick3<Ternary<float, Fma, true, false>>() : pick3<Ternary<float, Fma, false, false>>();
}
Picked divided(const Form& form) {
  if (form.type() == Type::f32 && form.approx) {
    return form.ftz ? pick2<Binary<float, DivApprox, true, false>>() : pick2<Binary<float, DivApprox, false, false>>();
  }
  return form.sat ? Picked{} : binary<Div>(form);
}

template <bool is_max, bool ftz>
Picked extreme32(const Form& form) {
  if (form.xorsign) {
    return form.nan ? pick2<Extreme<float, is_max, ftz, true, true>>()
                    : pick2<Extreme<float, is_max, ftz, false, true>>();
  }
  return form.nan ? pick2<Extreme<float, is_max, ftz, true, false>>()
                  : pick2<Extreme<float, is_max, ftz, false, false>>();
}
template <bool is_max>
Picked extreme(const Form& form) {
  if (form.type() == Type::f64) return pick2<Extreme<double, is_max, false, false, false>>();
  if (form.type() != Type::f32) return {};
  return form.ftz ? extreme32<is_max, true>(form) : extreme32<is_max, false>(form);
}

template <template <class, bool> class F>
Picked sign(const Form& form) {
  if (form.type() == Type::f64) return pick1<F<double, false>>();
  if (form.type() != Type::f32) return {};
  return form.ftz ? pick1<F<float, true>>() : pick1<F<float, false>>();
}

Picked pick_float_here(const Form& form) {
  if (form.type_count != 1) return {};
  const bool rough64 = form.type() == Type::f64 && form.approx;
  if (form.is("add")) return binary<Add>(form);
  if (form.is("sub")) return binary<Sub>(form);
  if (form.is("mul")) return binary<Mul>(form);
  if (form.is("fma") || form.is("mad")) return fused(form);
  if (form.is("div")) return divided(form);
  if (form.is("min")) return extreme<false>(form);
  if (form.is("max")) return extreme<true>(form);
  if (form.is("neg")) return sign<Negative>(form);
  if (form.is("abs")) return sign<Absolute>(form);
  if (form.is("rcp")) return rough64 ? pick1<Upper<Reciprocal>>() : unary_both<Reciprocal>(form);
  if (form.is("sqrt")) return unary_both<SquareRoot>(form);
  if (form.is("rsqrt")) {
    if (rough64 && form.ftz) return pick1<Upper<ReciprocalRoot>>();
    return unary_both<ReciprocalRoot>(form);
  }
  if (form.is("ex2")) return unary<PowerOfTwo>(form);
  if (form.is("lg2")) return unary<LogOfTwo>(form);
  if (form.is("sin")) return unary<Sine>(form);
  if (form.is("cos")) return unary<Cosine>(form);
  if (form.is("tanh")) return unary<HyperbolicTangent>(form);
  if (form.is("copysign")) return form.type() == Type::f64 ? pick2<CopySign<double>>() : pick2<CopySign<float>>();
  return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
HWY_EXPORT(pick_float_here);
Picked pick_float(const Form& form) {
  return HWY_DYNAMIC_DISPATCH(pick_float_here)(form);
}
}  // namespace corridor::ptx
#endif  // HWY_ONCE
