// SPDX-License-Identifier: Apache-2.0
// Floats outside vector code: subnormal numbers that count as zero, and numbers of 8 bits, e4m3 (4 bits of exponent, no
// infinity, largest 448) and e5m2 (5 bits, largest 57344).
#pragma once

#include <bit>
#include <cstdint>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// With `flush` a subnormal number becomes zero of its sign.
[[nodiscard]] inline float flushed_if(float v, bool flush) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return flush && (bits & 0x7F800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : v;
}

/// `type` is e4m3 or e5m2.
[[nodiscard]] double value_of_byte(Type type, std::uint32_t byte);
/// To the nearest, ties to even; beyond the largest: the largest. NaN is 0x7F.
[[nodiscard]] std::uint32_t byte_of_value(Type type, double value);

}  // namespace corridor::ptx
