// SPDX-License-Identifier: Apache-2.0
// For tests: f16 and bf16 by their definition, through doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

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

}  // namespace corridor::ptx::testing
