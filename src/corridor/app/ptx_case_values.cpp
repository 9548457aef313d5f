// SPDX-License-Identifier: Apache-2.0
// Values of the simulated kernel's types as numbers and back.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "corridor/app/ptx_case_arguments.h"

namespace corridor::app {
namespace {

using ptx::Type;

template <class T>
double stored_number(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

template <class T>
void store_number(double value, std::byte* bytes) {
  T out = 0;
  if constexpr (std::is_floating_point_v<T>) {
    out = static_cast<T>(value);
  } else if (std::isfinite(value)) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    const double whole = std::trunc(value);
    if (whole >= limit) {
      out = static_cast<T>(whole < 2 * limit ? static_cast<std::uint64_t>(whole) : ~std::uint64_t{0});
    } else {
      out =
          static_cast<T>(whole < -limit ? std::numeric_limits<std::int64_t>::min() : static_cast<std::int64_t>(whole));
    }
  }
  std::memcpy(bytes, &out, sizeof out);
}

/// A binary format of 16 bits with `mantissa` bits of fraction.
double small_float_value(std::uint16_t bits, int mantissa) {
  const int exponent_bits = 15 - mantissa;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << mantissa) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
  return sign * std::ldexp((1 << mantissa) + fraction, exponent - bias - mantissa);
}

std::uint16_t small_float_bits(double value, int mantissa) {
  const int exponent_bits = 15 - mantissa;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int all_ones = ((1 << exponent_bits) - 1) << mantissa;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7FFF;
  const double size = std::fabs(value);
  int exponent = 0;
  if (size > 0 && std::isfinite(size)) std::frexp(size, &exponent);
  const int step = std::max(exponent - 1, 1 - bias) - mantissa;  // the weight of the last place
  const double places = std::isfinite(size) ? std::nearbyint(std::ldexp(size, -step)) : 0;
  const int base = std::max(exponent - 1, 1 - bias) + bias - 1;
  const double bits = size > 0 ? places + std::ldexp(base, mantissa) : 0;
  if (!std::isfinite(size) || bits >= all_ones) return static_cast<std::uint16_t>(sign | all_ones);
  return static_cast<std::uint16_t>(sign | static_cast<int>(bits));
}

constexpr int f16_mantissa = 10, bf16_mantissa = 7;

}  // namespace

bool is_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}

double value_of(Type type, const std::byte* bytes) {
  switch (type) {
    case Type::f64:
      return stored_number<double>(bytes);
    case Type::f32:
      return stored_number<float>(bytes);
    case Type::f16:
    case Type::bf16: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, bytes, sizeof bits);
      return small_float_value(bits, type == Type::f16 ? f16_mantissa : bf16_mantissa);
    }
    case Type::s8:
      return stored_number<std::int8_t>(bytes);
    case Type::s16:
      return stored_number<std::int16_t>(bytes);
    case Type::s32:
      return stored_number<std::int32_t>(bytes);
    case Type::s64:
      return stored_number<std::int64_t>(bytes);
    default:
      break;
  }
  switch (ptx::bytes_of(type)) {
    case 1:
      return stored_number<std::uint8_t>(bytes);
    case 2:
      return stored_number<std::uint16_t>(bytes);
    case 4:
      return stored_number<std::uint32_t>(bytes);
    default:
      return stored_number<std::uint64_t>(bytes);
  }
}

void put_value(Type type, double value, std::byte* bytes) {
  switch (type) {
    case Type::f64:
      return store_number<double>(value, bytes);
    case Type::f32:
      return store_number<float>(value, bytes);
    case Type::f16:
    case Type::bf16: {
      const std::uint16_t bits = small_float_bits(value, type == Type::f16 ? f16_mantissa : bf16_mantissa);
      std::memcpy(bytes, &bits, sizeof bits);
      return;
    }
    default:
      break;
  }
  switch (ptx::bytes_of(type)) {
    case 1:
      return store_number<std::uint8_t>(value, bytes);
    case 2:
      return store_number<std::uint16_t>(value, bytes);
    case 4:
      return store_number<std::uint32_t>(value, bytes);
    default:
      return store_number<std::uint64_t>(value, bytes);
  }
}

}  // namespace corridor::app
