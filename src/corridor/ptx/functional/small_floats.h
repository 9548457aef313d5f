// SPDX-License-Identifier: Apache-2.0
// Numbers of 8 bits: e4m3 (4 bits of exponent, no infinity, largest 448) and e5m2 (5 bits, largest 57344).
#pragma once

#include <cstdint>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// `type` is e4m3 or e5m2.
[[nodiscard]] double value_of_byte(Type type, std::uint32_t byte);
/// To the nearest, ties to even; beyond the largest: the largest. NaN is 0x7F.
[[nodiscard]] std::uint32_t byte_of_value(Type type, double value);

}  // namespace corridor::ptx
