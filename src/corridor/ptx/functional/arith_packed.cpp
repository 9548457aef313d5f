// SPDX-License-Identifier: Apache-2.0
// Arithmetic of pairs of f32 in one register (f32x2), and conversions from and to pairs of 8-bit numbers.
#include <algorithm>
#include <bit>
#include <cmath>

#include "corridor/ptx/functional/form.h"
#include "corridor/ptx/functional/lane_kernels.h"
#include "corridor/ptx/functional/op.h"
#include "corridor/ptx/functional/small_floats.h"

namespace corridor::ptx {
namespace {

struct ByteFormat {
  int mantissa, bias;
  double largest;
  std::uint32_t infinite;  ///< least magnitude that is no number: of e5m2 infinity, of e4m3 NaN
};
constexpr ByteFormat format_of(Type type) {
  return type == Type::e4m3 ? ByteFormat{3, 7, 448, 0x7F} : ByteFormat{2, 15, 57344, 0x7C};
}

// What becomes of one value of a pair.
enum class PairKind : std::uint8_t { add, sub, mul, fma };

std::uint32_t one_of_pair(PairKind kind, bool flush, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const auto number = [&](std::uint64_t word) {
    return flushed_if(std::bit_cast<float>(static_cast<std::uint32_t>(word)), flush);
  };
  const float u = number(a), v = number(b);
  const float result = kind == PairKind::add   ? u + v
                       : kind == PairKind::sub ? u - v
                       : kind == PairKind::mul ? u * v
                                               : std::fma(u, v, number(c));
  return result != result ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(flushed_if(result, flush));
}

template <PairKind kind, bool flush>
void pairs(Exec& x, const Op& op) {
  const std::uint64_t* const a = row64(x, op.a);
  const std::uint64_t* const b = row64(x, op.b);
  const std::uint64_t* const c = kind == PairKind::fma ? row64(x, op.c) : a;
  for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t low = one_of_pair(kind, flush, a[lane], b[lane], c[lane]);
    const std::uint64_t high = one_of_pair(kind, flush, a[lane] >> 32, b[lane] >> 32, c[lane] >> 32);
    row64(x, op.d)[lane] = low | (high << 32);
  }
}

template <PairKind kind>
Picked pick_pairs(const Form& form) {
  if (form.sat || form.type_count != 1) return {};
  Picked picked{form.ftz ? &pairs<kind, true> : &pairs<kind, false>, Width::row64, Width::row64, Width::row64};
  if (kind == PairKind::fma) picked.c = Width::row64;
  return picked;
}

template <class Convert>
void each_word(const Exec& x, const Op& op, Convert&& convert) {
  for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    row32(x, op.d)[lane] = convert(lane);
  }
}

template <Type type, bool relu>
std::uint32_t to_byte(float v) {
  return relu && v < 0 ? 0 : byte_of_value(type, static_cast<double>(v)) & (relu && v == 0 ? 0x7FU : 0xFFU);
}

template <Type type, bool relu>
void from_floats(Exec& x, const Op& op) {
  each_word(x, op, [&](std::uint32_t lane) {
    const auto value = [&](std::uint32_t slot) { return std::bit_cast<float>(row32(x, slot)[lane]); };
    return (to_byte<type, relu>(value(op.a)) << 8) | to_byte<type, relu>(value(op.b));
  });
}

template <Type type, bool relu>
void from_halves(Exec& x, const Op& op) {
  each_word(x, op, [&](std::uint32_t lane) {
    const std::uint32_t word = row32(x, op.a)[lane];
    const LaneKernels& kernels = lane_kernels();
    return (to_byte<type, relu>(kernels.f16_to_float(word >> 16)) << 8) |
           to_byte<type, relu>(kernels.f16_to_float(word & 0xFFFF));
  });
}

template <Type type, bool relu>
void to_halves(Exec& x, const Op& op) {
  each_word(x, op, [&](std::uint32_t lane) {
    const std::uint32_t word = row32(x, op.a)[lane];
    std::uint32_t out = 0;
    for (const unsigned shift : {0U, 8U}) {
      const double v = value_of_byte(type, (word >> shift) & 0xFF);
      std::uint32_t half = lane_kernels().half_of(v);  // exact: every 8-bit number is an f16
      if (relu && (half & 0x8000) != 0) half = 0;
      out |= half << (2 * shift);
    }
    return out;
  });
}

template <Type type>
Picked pick_bytes(const Form& form, bool to_bytes) {
  constexpr Type halves = Type::f16x2;
  if (!to_bytes) {
    if (form.types[0] != halves || form.round != Round::rn) return {};
    return {form.relu ? &to_halves<type, true> : &to_halves<type, false>, Width::row32, Width::row32};
  }
  if (form.round != Round::rn || !form.satfinite) return {};
  if (form.types[1] == halves) {
    return {form.relu ? &from_halves<type, true> : &from_halves<type, false>, Width::row32, Width::row32};
  }
  if (form.types[1] != Type::f32) return {};
  return {form.relu ? &from_floats<type, true> : &from_floats<type, false>, Width::row32, Width::row32, Width::row32};
}

}  // namespace

double value_of_byte(Type type, std::uint32_t byte) {
  const ByteFormat f = format_of(type);
  const std::uint32_t magnitude = byte & 0x7F, exponent = magnitude >> f.mantissa;
  const std::uint32_t fraction = magnitude & ((1U << f.mantissa) - 1);
  const double sign = (byte & 0x80) != 0 ? -1 : 1;
  if (magnitude >= f.infinite) return type == Type::e5m2 && fraction == 0 ? sign * HUGE_VAL : std::nan("");
  const double whole = exponent == 0 ? fraction : fraction + (1U << f.mantissa);
  return sign * std::ldexp(whole, std::max<int>(static_cast<int>(exponent), 1) - f.bias - f.mantissa);
}

std::uint32_t byte_of_value(Type type, double value) {
  if (value != value) return 0x7F;
  const ByteFormat f = format_of(type);
  const std::uint32_t sign = std::signbit(value) ? 0x80 : 0;
  const double size = std::min(std::fabs(value), f.largest);
  int exponent = 1 - f.bias;
  if (size > 0) std::frexp(size, &exponent);  // size in [2^(exponent − 1), 2^exponent)
  const int step = std::max(exponent - 1, 1 - f.bias);
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, f.mantissa - step)));
  // The hidden bit, when there is one, adds one to the exponent below; a carry of the rounding does so too.
  return sign | (units + (static_cast<std::uint32_t>(step + f.bias - 1) << f.mantissa));
}

Picked pick_packed_float(const Form& form) {
  if (form.type() != Type::f32x2) return {};
  if (form.is("add")) return pick_pairs<PairKind::add>(form);
  if (form.is("sub")) return pick_pairs<PairKind::sub>(form);
  if (form.is("mul")) return pick_pairs<PairKind::mul>(form);
  return form.is("fma") ? pick_pairs<PairKind::fma>(form) : Picked{};
}

Picked pick_byte_convert(const Form& form) {
  if (form.type_count != 2) return {};
  if (form.types[0] == Type::e4m3x2) return pick_bytes<Type::e4m3>(form, true);
  if (form.types[0] == Type::e5m2x2) return pick_bytes<Type::e5m2>(form, true);
  if (form.types[1] == Type::e4m3x2) return pick_bytes<Type::e4m3>(form, false);
  return form.types[1] == Type::e5m2x2 ? pick_bytes<Type::e5m2>(form, false) : Picked{};
}

}  // namespace corridor::ptx
