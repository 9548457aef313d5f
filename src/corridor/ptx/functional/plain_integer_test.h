// SPDX-License-Identifier: Apache-2.0
// For tests: integer instructions of PTX on numbers of 128 bits, in the words of the manual.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx::testing {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

/// Whether an instruction has this modifier.
inline bool has(const Instruction& i, std::string_view word) {
  return std::find(i.modifiers.begin(), i.modifiers.end(), word) != i.modifiers.end();
}

/// Bits of a type: "s32", "f16x2" 16, "pred" 1.
inline unsigned width_of(std::string_view type) {
  return type == "pred" ? 1
                        : static_cast<unsigned>(std::stoul(std::string(type.substr(type.find_first_of("0123456789")))));
}

/// The low bits of a value as the number that type T means.
inline Wide number(std::uint64_t v, char sign, unsigned bits) {
  const Wide size = Wide{1} << bits;
  const Wide low = static_cast<Wide>(v) & (size - 1);
  return sign == 's' && (low >> (bits - 1)) != 0 ? low - size : low;
}

/// What an integer instruction gives. `values` are those of its operands; the first is that of the destination.
inline std::uint64_t plain_integer(const Instruction& i, const std::array<std::uint64_t, 5>& values) {
  const std::string_view type = i.modifiers.back();
  const unsigned width = width_of(type);
  const auto at = [&](std::size_t k) { return values[k]; };
  const auto value = [&](std::size_t k) { return number(at(k), type[0], width); };
  const std::string_view op = i.opcode;
  const Wide a = value(1), b = i.operands.size() > 2 ? value(2) : 0;
  const auto low = [](Wide v) { return static_cast<std::uint64_t>(v); };
  if (op == "add") return low(a + b);
  if (op == "sub") return low(a - b);
  if (op == "mul" || op == "mad") {
    // Products of 64 bits fill all 128 and wrap when something is added.
    Wide product = static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b));
    if (has(i, "hi")) product >>= width;
    if (op == "mad") {
      const Wide c = has(i, "wide") ? number(at(3), type[0], 2 * width) : value(3);
      product = static_cast<Wide>(static_cast<UnsignedWide>(product) + static_cast<UnsignedWide>(c));
    }
    return low(product);
  }
  if (op == "and") return low(a & b);
  if (op == "or") return low(a | b);
  if (op == "xor") return low(a ^ b);
  if (op == "not") return low(~a);
  if (op == "neg") return low(-a);
  if (op == "abs") return low(a < 0 ? -a : a);
  if (op == "min") return low(std::min(a, b));
  if (op == "max") return low(std::max(a, b));
  if (op == "div") return b == 0 ? ~std::uint64_t{0} : low(a / b);
  if (op == "rem") return b == 0 ? low(a) : low(a % b);
  const std::uint64_t by = i.operands.size() > 2 ? at(2) & 0xFFFFFFFF : 0;
  if (op == "shl") return by >= width ? 0 : low(a << by);
  if (op == "shr") return low(a >> std::min<std::uint64_t>(by, width));
  if (op == "popc" || op == "clz" || op == "brev") {
    std::uint64_t ones = 0, zeros = 0, turned = 0;
    for (unsigned k = 0; k < width; ++k) {
      const auto bit = static_cast<std::uint64_t>((a >> k) & 1);
      ones += bit;
      zeros = bit != 0 ? 0 : zeros + 1;
      turned |= bit << (width - 1 - k);
    }
    return op == "popc" ? ones : op == "clz" ? zeros : turned;
  }
  if (op == "shf") {
    const std::uint64_t both = low(a) | (low(b) << 32), by_32 = at(3) & 31;
    return has(i, "l") ? (both << by_32) >> 32 : both >> by_32;
  }
  if (op == "bfe") {
    const auto start = static_cast<unsigned>(at(2) & 255), length = static_cast<unsigned>(at(3) & 255);
    const Wide whole = type[0] == 's' ? a : a & ((Wide{1} << width) - 1);
    return length == 0 ? 0 : low(number(low(whole >> std::min(start, width)), type[0], std::min(length, width)));
  }
  if (op == "bfi") {
    const auto start = static_cast<unsigned>(at(3) & 255), length = static_cast<unsigned>(at(4) & 255);
    std::uint64_t out = low(b);
    for (unsigned k = 0; k < length && start + k < width; ++k) {
      const std::uint64_t place = std::uint64_t{1} << (start + k);
      out = ((a >> k) & 1) != 0 ? out | place : out & ~place;
    }
    return out;
  }
  if (op == "lop3") {
    std::uint64_t out = 0;
    for (unsigned k = 0; k < width; ++k) {
      const Wide row = ((a >> k) & 1) * 4 + ((b >> k) & 1) * 2 + ((value(3) >> k) & 1);
      out |= ((at(4) >> static_cast<unsigned>(row)) & 1) << k;
    }
    return out;
  }
  if (op == "sad") return low(value(3) + (a < b ? b - a : a - b));
  if (op == "prmt") {
    std::uint64_t out = 0;
    const std::uint64_t both = low(a) | (low(b) << 32);
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint64_t pick = (at(3) >> (4 * k)) & 15, byte = (both >> (8 * (pick & 7))) & 255;
      out |= (pick >= 8 ? (byte >= 128 ? 255 : 0) : byte) << (8 * k);
    }
    return out;
  }
  ADD_FAILURE() << "the plain interpreter does not know line " << i.line << ": " << op;
  return 0;
}

}  // namespace corridor::ptx::testing
