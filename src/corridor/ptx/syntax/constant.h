// SPDX-License-Identifier: Apache-2.0
// Numbers of PTX text in every spelling; a private part of the parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace corridor::ptx {

struct Constant {
  enum class Kind : std::uint8_t { signed_integer, unsigned_integer, f32, f64 };
  Kind kind = Kind::signed_integer;
  std::uint64_t bits = 0;
  [[nodiscard]] bool is_integer() const { return kind == Kind::signed_integer || kind == Kind::unsigned_integer; }
};

/// One literal: 12, 12U, 0x1F, 017, 0b101, 0f3F800000, 0d3FF0000000000000, 1.5e-3. Nothing when it is none, or larger
/// than 64 bits.
[[nodiscard]] std::optional<Constant> literal_from(std::string_view text);

/// `left OP right` as PTX computes it in 64 bits; nothing for a division by zero or an unknown operator. `op` is "+",
/// "<<", "&&" …; both must be integers.
[[nodiscard]] std::optional<Constant> binary_constant(std::string_view op, Constant left, Constant right);

/// How tightly a binary operator binds, from 1; 0: none.
[[nodiscard]] int precedence_of(std::string_view op);

/// -c, !c, ~c or +c; nothing where it has no meaning (~1.5).
[[nodiscard]] std::optional<Constant> unary_constant(char op, Constant value);

}  // namespace corridor::ptx
