// SPDX-License-Identifier: Apache-2.0
// Floating-point values as PTX has them: flushing, the canonical NaN, saturation, half precision with one rounding.
#if defined(CORRIDOR_PTX_FUNCTIONAL_NUMBERS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CORRIDOR_PTX_FUNCTIONAL_NUMBERS_INL_H
#undef CORRIDOR_PTX_FUNCTIONAL_NUMBERS_INL_H
#else
#define CORRIDOR_PTX_FUNCTIONAL_NUMBERS_INL_H
#endif

#include "corridor/ptx/functional/lanes_inl.h"

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

/// Subnormal numbers become zero of their sign.
HWY_INLINE float flushed(float v) {
  const auto bits = bits_as<std::uint32_t>(v);
  return bits_as<float>((bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits);
}
HWY_INLINE double flushed(double v) {
  const auto bits = bits_as<std::uint64_t>(v);
  return bits_as<double>((bits & 0x7FF0000000000000ULL) == 0 ? bits & 0x8000000000000000ULL : bits);
}
template <bool ftz, class T>
HWY_INLINE T flush_if(T v) {
  if constexpr (ftz) return flushed(v);
  return v;
}
HWY_INLINE float canonical(float v) {
  return v != v ? bits_as<float>(0x7FFFFFFFU) : v;
}
HWY_INLINE double canonical(double v) {
  return v != v ? bits_as<double>(0x7FF8000000000000ULL) : v;
}
/// To [0, 1]; NaN becomes +0.
template <class T>
HWY_INLINE T saturated(T v) {
  return v > T{0} ? (v < T{1} ? v : T{1}) : T{0};
}

HWY_INLINE float float_of_f16(std::uint32_t h) {
  const std::uint32_t magnitude = h & 0x7FFF;
  std::uint32_t bits = bits_as<std::uint32_t>(bits_as<float>(magnitude << 13) * 0x1p112F);
  if (magnitude >= 0x7C00) bits = (magnitude << 13) | 0x7F800000U;
  return bits_as<float>(bits | ((h & 0x8000) << 16));
}
HWY_INLINE float float_of_bf16(std::uint32_t h) {
  return bits_as<float>(h << 16);
}

/// Rounds a double to the host's rounding mode on the grid of a format with `precision` bits and least normal exponent
/// `least`; beyond the largest exponent the grid goes on.
template <int precision, int least>
HWY_INLINE double on_grid(double v) {
  const auto bits = bits_as<std::uint64_t>(v);
  std::uint64_t exponent = (bits >> 52) & 0x7FF;
  constexpr std::uint64_t floor = 1023 + least;
  exponent = exponent < floor ? floor : exponent > 1900 ? 1900 : exponent;
  const std::uint64_t big = exponent + 53 - precision;
  const auto magic = bits_as<double>((big << 52) | (bits & 0x8000000000000000ULL));
  return (v + magic) - magic;
}

/// What a value beyond the largest finite one becomes: infinity, or that one, as the rounding mode asks.
template <Round round>
HWY_INLINE bool overflow_is_infinite(bool negative) {
  if constexpr (round == Round::rz) return false;
  if constexpr (round == Round::rm) return negative;
  if constexpr (round == Round::rp) return !negative;
  return true;
}

/// A double to f16 in one rounding. The host's rounding mode must be that of `round`.
template <Round round = Round::rn>
HWY_INLINE std::uint32_t f16_of(double v) {
  const auto sign = static_cast<std::uint32_t>(bits_as<std::uint64_t>(v) >> 48) & 0x8000U;
  double r = on_grid<11, -14>(v);
  r = r < 0 ? -r : r;
  const double limited = r > 65504.0 ? 65504.0 : r;
  const std::uint32_t finite = bits_as<std::uint32_t>(static_cast<float>(limited) * 0x1p-112F) >> 13;
  const bool is_infinite = v - v != 0.0;
  const bool over = r > 65504.0 && (is_infinite || overflow_is_infinite<round>(sign != 0));
  const std::uint32_t magnitude = over ? 0x7C00U : finite;
  return v != v ? 0x7FFFU : sign | (magnitude & 0x7FFFU);
}
template <Round round = Round::rn>
HWY_INLINE std::uint32_t bf16_of(double v) {
  const auto sign = static_cast<std::uint32_t>(bits_as<std::uint64_t>(v) >> 48) & 0x8000U;
  constexpr double largest = 0x1.FEp127;
  double r = on_grid<8, -126>(v);
  r = r < 0 ? -r : r;
  const double limited = r > largest ? largest : r;
  const std::uint32_t finite = bits_as<std::uint32_t>(static_cast<float>(limited)) >> 16;
  const bool is_infinite = v - v != 0.0;
  const bool over = r > largest && (is_infinite || overflow_is_infinite<round>(sign != 0));
  return v != v ? 0x7FFFU : sign | ((over ? 0x7F80U : finite) & 0x7FFFU);
}

/// a × b + c for a product that is exact in double: the sum rounded to odd, so that one more rounding to fewer than 52
/// bits gives what a single rounding would.
HWY_INLINE double sum_to_odd(double product, double c) {
  const double sum = product + c;
  const double part = sum - product;
  const double rest = (product - (sum - part)) + (c - part);
  auto bits = bits_as<std::uint64_t>(sum);
  const bool inexact = rest != 0.0 && (bits & 1) == 0 && sum - sum == 0.0;
  const bool away = (rest > 0.0) == (sum > 0.0);
  bits = inexact ? (away ? bits + 1 : bits - 1) : bits;
  return bits_as<double>(bits);
}

// The two half formats under one face.
struct F16 {
  static HWY_INLINE float wide(std::uint32_t h) { return float_of_f16(h & 0xFFFF); }
  static HWY_INLINE std::uint32_t narrow(double v) { return f16_of(v); }
  static constexpr std::uint32_t exponent = 0x7C00, one = 0x3C00;
};
struct BF16 {
  static HWY_INLINE float wide(std::uint32_t h) { return float_of_bf16(h & 0xFFFF); }
  static HWY_INLINE std::uint32_t narrow(double v) { return bf16_of(v); }
  static constexpr std::uint32_t exponent = 0x7F80, one = 0x3F80;
};

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();
#endif  // include guard
