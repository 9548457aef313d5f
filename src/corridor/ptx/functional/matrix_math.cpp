// SPDX-License-Identifier: Apache-2.0
// The product of two small matrices as tensor cores take them, and the formats of their values.
#include "corridor/ptx/functional/matrix_math.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "corridor/ptx/functional/lane_kernels.h"
#include "corridor/ptx/functional/small_floats.h"

namespace corridor::ptx {
namespace {

/// c[j] += a · b[j], rounded once in T.
template <class T>
void add_row(T a, const T* b, T* c, std::uint32_t n) {
  for (std::uint32_t j = 0; j < n; ++j) c[j] = std::fma(a, b[j], c[j]);
}

}  // namespace

void MatrixProduct::multiply(Type type_of_d) {
  if (type_of_d == Type::f64) {
    for (std::uint32_t i = 0; i < m; ++i) {
      for (std::uint32_t l = 0; l < k; ++l) add_row(a[i * k + l], b + std::size_t{l} * n, c + std::size_t{i} * n, n);
    }
    return;
  }
  if (type_of_d == Type::s32) {  // far below 2^53: exact
    for (std::uint32_t i = 0; i < m; ++i) {
      for (std::uint32_t l = 0; l < k; ++l) {
        for (std::uint32_t j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[l * n + j];
      }
    }
    return;
  }
  float narrow_b[most_matrix_values], row[most_matrix_values];
  std::transform(b, b + std::size_t{k} * n, narrow_b, [](double v) { return static_cast<float>(v); });
  for (std::uint32_t i = 0; i < m; ++i) {
    double* const out = c + std::size_t{i} * n;
    std::transform(out, out + n, row, [](double v) { return static_cast<float>(v); });
    for (std::uint32_t l = 0; l < k; ++l) {
      add_row(static_cast<float>(a[i * k + l]), narrow_b + std::size_t{l} * n, row, n);
    }
    std::transform(row, row + n, out, [](float v) { return static_cast<double>(v); });
  }
}

std::uint32_t values_of_register(Type type) {
  const bool bytes = type == Type::s8 || type == Type::u8 || type == Type::e4m3 || type == Type::e5m2;
  return type == Type::f16 || type == Type::bf16 ? 2 : bytes ? 4 : 1;
}

double value_of(Type type, std::uint64_t word, std::uint32_t e) {
  switch (type) {
    case Type::f16:
      return static_cast<double>(lane_kernels().f16_to_float(static_cast<std::uint32_t>(word >> (16 * e)) & 0xFFFF));
    case Type::bf16:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word >> (16 * e)) << 16));
    case Type::tf32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word) & 0xFFFFE000U));
    case Type::f32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word)));
    case Type::f64:
      return std::bit_cast<double>(word);
    case Type::e4m3:
    case Type::e5m2:
      return value_of_byte(type, static_cast<std::uint32_t>(word >> (8 * e)) & 0xFF);
    case Type::s8:
      return static_cast<double>(static_cast<std::int8_t>(word >> (8 * e)));
    case Type::s32:
      return static_cast<double>(static_cast<std::int32_t>(word));
    default:
      return static_cast<double>(static_cast<std::uint8_t>(word >> (8 * e)));
  }
}

void put_value(Type type, double value, std::uint32_t e, bool saturates, std::uint64_t& word) {
  if (type == Type::f64) {
    word = value != value ? 0x7FF8000000000000ULL : std::bit_cast<std::uint64_t>(value);
  } else if (type == Type::s32) {
    const double limited = saturates ? std::clamp(value, -2147483648.0, 2147483647.0) : value;
    word = static_cast<std::uint32_t>(static_cast<std::int64_t>(limited));
  } else if (type == Type::f16) {
    const std::uint64_t half = lane_kernels().half_of(static_cast<double>(static_cast<float>(value)));
    word = e == 0 ? half : (word & 0xFFFF) | (half << 16);
  } else {
    const auto f = static_cast<float>(value);
    word = f != f ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(f);
  }
}

}  // namespace corridor::ptx
