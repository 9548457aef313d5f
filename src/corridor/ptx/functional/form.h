// SPDX-License-Identifier: Apache-2.0
// The modifiers of an instruction, sorted: its types, rounding, comparison and switches.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "corridor/ptx/functional/op.h"
#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

enum class Round : std::uint8_t { none, rn, rz, rm, rp, rna, rni, rzi, rmi, rpi };
enum class Compare : std::uint8_t { none, eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class Combine : std::uint8_t { none, conjunction, disjunction, exclusive };

struct Form {
  std::string_view op;
  std::array<Type, 4> types{};  ///< in the order written
  std::uint32_t type_count = 0;
  Round round = Round::none;
  Compare compare = Compare::none;
  Combine combine = Combine::none;
  bool ftz = false, sat = false, approx = false, full = false, low = false, high = false, wide = false, carry = false;
  bool nan = false, xorsign = false, relu = false, satfinite = false, clamp = false, wrap = false, shiftamt = false;
  std::uint32_t destination_bits = 32, source_bits = 32;  ///< of the registers themselves, for cvt
  const Instruction* instruction = nullptr;
  [[nodiscard]] bool is(std::string_view word) const { return op == word; }
  [[nodiscard]] bool has(std::string_view modifier) const;
  [[nodiscard]] Type type() const { return type_count > 0 ? types[type_count - 1] : Type::none; }
};
[[nodiscard]] Form form_of(const Instruction& instruction);

/// How wide an operand's slot must be.
enum class Width : std::uint8_t { none, pred, row32, row64 };

/// What a family of handlers answers for a form: the handler and the slots it works on. No handler: not executed.
struct Picked {
  Handler run = nullptr;
  Width d = Width::none, a = Width::none, b = Width::none, c = Width::none;
  std::uint16_t flags = 0;
  std::uint32_t extra = 0;  ///< for Op::extra
  explicit operator bool() const { return run != nullptr; }
};

[[nodiscard]] Picked pick_integer(const Form& form);
[[nodiscard]] Picked pick_carry(const Form& form);  ///< forms with a carry alone
[[nodiscard]] Picked pick_bits(const Form& form);
[[nodiscard]] Picked pick_compare(const Form& form);  ///< setp, set, selp, slct, testp: b and c as the form has them
[[nodiscard]] Picked pick_float(const Form& form);
[[nodiscard]] Picked pick_half(const Form& form);
[[nodiscard]] Picked pick_convert(const Form& form);
[[nodiscard]] Picked pick_packed_float(const Form& form);    ///< f32x2
[[nodiscard]] Picked pick_byte_convert(const Form& form);    ///< from and to pairs of 8-bit floats
[[nodiscard]] Picked pick_packed_convert(const Form& form);  ///< to pairs of halves and to tf32

/// Runs op.inner under a directed rounding mode of the host.
[[nodiscard]] Handler rounded_handler(Round round);

[[nodiscard]] Width width_of(Type type);

}  // namespace corridor::ptx
