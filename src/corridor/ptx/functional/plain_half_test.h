// SPDX-License-Identifier: Apache-2.0
// For tests: f16 and bf16 by their definition, through doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "corridor/ptx/functional/plain_integer_test.h"

namespace corridor::ptx::testing {

/// A format of 16 bits.
struct Format {
  const char* name;
  int mantissa, bias;
  std::uint32_t infinite;
};
inline constexpr Format f16{"f16", 10, 15, 0x7C00}, bf16{"bf16", 7, 127, 0x7F80};

inline double half_value(const Format& f, std::uint32_t h) {
  const auto exponent = static_cast<int>((h & 0x7FFF) >> f.mantissa),
             fraction = static_cast<int>(h & ((1U << f.mantissa) - 1));
  const double sign = (h & 0x8000) != 0 ? -1 : 1;
  if ((h & 0x7FFF) >= f.infinite) return (h & 0x7FFF) == f.infinite ? sign * INFINITY : NAN;
  const int whole = exponent == 0 ? fraction : fraction + (1 << f.mantissa);
  return sign * std::ldexp(whole, std::max(exponent, 1) - f.bias - f.mantissa);
}

/// A whole number of steps: n nearest (ties to even), z towards zero, m down, p up.
inline double whole(double v, char round) {
  switch (round) {
    case 'n':
      return std::nearbyint(v);
    case 'z':
      return std::trunc(v);
    case 'm':
      return std::floor(v);
    default:
      return std::ceil(v);
  }
}

inline std::uint32_t pattern(const Format& f, double v, char round = 'n') {
  if (std::isnan(v)) return 0x7FFF;
  const std::uint32_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isinf(v)) return sign | f.infinite;
  int exponent = 1 - f.bias;
  if (v != 0) std::frexp(v, &exponent);
  const int least = std::max(exponent - 1, 1 - f.bias) - f.mantissa;
  const double steps = std::fabs(whole(std::ldexp(v, -least), round));
  const double bits = steps + std::ldexp(least + f.mantissa + f.bias - 1, f.mantissa);
  if (bits < f.infinite) return sign | static_cast<std::uint32_t>(bits);
  const bool stays = round == 'z' || (round == 'm' && sign == 0) || (round == 'p' && sign != 0);
  return sign | (stays ? f.infinite - 1 : f.infinite);
}

/// The sum a b + c of f16 exactly, as a multiple of 2^-48; then with fewer bits, the last of which says "more".
inline double fused(double a, double b, double c) {
  const auto units = [](double v) { return static_cast<Wide>(v * 0x1p24); };
  Wide sum = units(a) * units(b) + (units(c) << 24);
  int exponent = -48;
  for (; sum > (Wide{1} << 50) || sum < -(Wide{1} << 50); ++exponent) {
    const bool more = (sum & 1) != 0;
    sum = (sum >> 1) | (more ? 1 : 0);
  }
  if (sum == 0) return std::fma(a, b, c);  // the sign of zero
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(sum)), exponent);
}

inline std::uint32_t half(std::string_view op, const Format& f, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const double u = half_value(f, a), v = half_value(f, b), w = half_value(f, c);
  if (op == "add") return pattern(f, u + v);
  if (op == "sub") return pattern(f, u - v);
  if (op == "mul") return pattern(f, u * v);
  if (op == "fma")
    return pattern(f, std::isfinite(u) && std::isfinite(v) && std::isfinite(w) ? fused(u, v, w) : u * v + w);
  if (op == "neg") return std::isnan(u) ? 0x7FFF : a ^ 0x8000;
  if (op == "abs") return std::isnan(u) ? 0x7FFF : a & 0x7FFF;
  if (std::isnan(u) || std::isnan(v)) return std::isnan(u) && std::isnan(v) ? 0x7FFF : std::isnan(u) ? b : a;
  const bool a_first = u == v ? std::signbit(u) : u < v;
  return a_first == (op == "min") ? a : b;
}

}  // namespace corridor::ptx::testing
