// SPDX-License-Identifier: Apache-2.0
// Numbers of PTX text in every spelling, and the arithmetic of constant expressions.
#include "corridor/ptx/syntax/constant.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace corridor::ptx {
namespace {

constexpr std::uint64_t largest_signed = std::numeric_limits<std::int64_t>::max();

/// Value of a digit of any base up to 16; 16 and more for other characters.
unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 99;
}

std::optional<std::uint64_t> digits_from(std::string_view digits, unsigned base) {
  if (digits.empty()) return std::nullopt;
  constexpr std::size_t always_fit = 16;  // digits of base 16 and less
  std::uint64_t value = 0;
  for (const char c : digits) {
    const unsigned digit = digit_value(c);
    if (digit >= base) return std::nullopt;
    if (digits.size() > always_fit && value > (std::numeric_limits<std::uint64_t>::max() - digit) / base)
      return std::nullopt;
    value = value * base + digit;
  }
  return value;
}

std::optional<Constant> float_bits(std::string_view digits, Constant::Kind kind) {
  const std::size_t wanted = kind == Constant::Kind::f32 ? 8 : 16;
  if (digits.size() != wanted) return std::nullopt;
  const auto bits = digits_from(digits, 16);
  if (!bits) return std::nullopt;
  return Constant{kind, *bits};
}

std::optional<Constant> decimal_float(std::string_view text) {
  constexpr std::size_t longest = 400;  // more digits change nothing
  if (text.size() > longest) return std::nullopt;
  for (const char c : text) {
    const bool allowed = (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
    if (!allowed) return std::nullopt;
  }
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (end != copy.c_str() + copy.size()) return std::nullopt;
  Constant out{Constant::Kind::f64, 0};
  std::memcpy(&out.bits, &value, sizeof value);
  return out;
}

std::optional<Constant> integer_from(std::string_view text) {
  bool is_unsigned = false;
  if (text.back() == 'U' || text.back() == 'u') {
    is_unsigned = true;
    text.remove_suffix(1);
  }
  unsigned base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char prefix = text[1];
    base = prefix == 'x' || prefix == 'X' ? 16 : prefix == 'b' || prefix == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  const auto value = digits_from(text, base);
  if (!value) return std::nullopt;
  if (*value > largest_signed) is_unsigned = true;
  return Constant{is_unsigned ? Constant::Kind::unsigned_integer : Constant::Kind::signed_integer, *value};
}

std::optional<std::uint64_t> divided(std::string_view op, std::uint64_t left, std::uint64_t right, bool is_unsigned) {
  if (right == 0) return std::nullopt;
  const bool remainder = op == "%";
  if (is_unsigned) return remainder ? left % right : left / right;
  if (right == std::numeric_limits<std::uint64_t>::max()) return remainder ? 0 : 0 - left;  // ÷ −1 cannot overflow
  const auto a = static_cast<std::int64_t>(left);
  const auto b = static_cast<std::int64_t>(right);
  return static_cast<std::uint64_t>(remainder ? a % b : a / b);
}

std::uint64_t shifted(std::string_view op, std::uint64_t left, std::uint64_t right, bool is_unsigned) {
  const bool beyond = right > 63;
  if (op == "<<") return beyond ? 0 : left << right;
  if (is_unsigned) return beyond ? 0 : left >> right;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(left) >> (beyond ? 63 : right));
}

std::optional<bool> compared(std::string_view op, std::uint64_t left, std::uint64_t right, bool is_unsigned) {
  const bool less = is_unsigned ? left < right : static_cast<std::int64_t>(left) < static_cast<std::int64_t>(right);
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  if (op == "<") return less;
  if (op == ">=") return !less;
  if (op == ">") return !less && left != right;
  if (op == "<=") return less || left == right;
  if (op == "&&") return left != 0 && right != 0;
  if (op == "||") return left != 0 || right != 0;
  return std::nullopt;
}

}  // namespace

std::optional<Constant> literal_from(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.size() == 1) {
    const unsigned digit = digit_value(text[0]);
    if (digit > 9) return std::nullopt;
    return Constant{Constant::Kind::signed_integer, digit};
  }
  if (text[0] == '0') {
    const char prefix = text[1];
    if (prefix == 'f' || prefix == 'F') return float_bits(text.substr(2), Constant::Kind::f32);
    if (prefix == 'd' || prefix == 'D') return float_bits(text.substr(2), Constant::Kind::f64);
    if (prefix == 'x' || prefix == 'X') return integer_from(text);
  }
  if (text.find_first_of(".eE") != std::string_view::npos) return decimal_float(text);
  return integer_from(text);
}

int precedence_of(std::string_view op) {
  if (op.empty()) return 0;
  const bool is_double = op.size() == 2;
  switch (op[0]) {
    case '|':
      return is_double ? 1 : 3;
    case '&':
      return is_double ? 2 : 5;
    case '^':
      return 4;
    case '=':
    case '!':
      return is_double ? 6 : 0;
    case '<':
    case '>':
      return is_double && op[1] != '=' ? 8 : 7;
    case '+':
    case '-':
      return 9;
    case '*':
    case '/':
    case '%':
      return 10;
    default:
      return 0;
  }
}

std::optional<Constant> binary_constant(std::string_view op, Constant left, Constant right) {
  if (!left.is_integer() || !right.is_integer() || op.empty()) return std::nullopt;
  const bool is_shift = op == "<<" || op == ">>";
  const bool is_unsigned =
      left.kind == Constant::Kind::unsigned_integer || (!is_shift && right.kind == Constant::Kind::unsigned_integer);
  Constant out{is_unsigned ? Constant::Kind::unsigned_integer : Constant::Kind::signed_integer, 0};
  if (const auto truth = compared(op, left.bits, right.bits, is_unsigned)) {
    out.kind = Constant::Kind::signed_integer;
    out.bits = *truth ? 1 : 0;
    return out;
  }
  if (is_shift) {
    out.bits = shifted(op, left.bits, right.bits, is_unsigned);
    return out;
  }
  switch (op[0]) {
    case '+':
      out.bits = left.bits + right.bits;
      return out;
    case '-':
      out.bits = left.bits - right.bits;
      return out;
    case '*':
      out.bits = left.bits * right.bits;
      return out;
    case '&':
      out.bits = left.bits & right.bits;
      return out;
    case '|':
      out.bits = left.bits | right.bits;
      return out;
    case '^':
      out.bits = left.bits ^ right.bits;
      return out;
    default:
      break;
  }
  const auto quotient = divided(op, left.bits, right.bits, is_unsigned);
  if (!quotient) return std::nullopt;
  out.bits = *quotient;
  return out;
}

std::optional<Constant> unary_constant(char op, Constant value) {
  if (op == '+') return value;
  if (op == '-') {
    if (value.kind == Constant::Kind::f32) {
      value.bits ^= std::uint64_t{1} << 31;
    } else if (value.kind == Constant::Kind::f64) {
      value.bits ^= std::uint64_t{1} << 63;
    } else {
      value.bits = 0 - value.bits;
    }
    return value;
  }
  if (!value.is_integer()) return std::nullopt;
  if (op == '~') {
    value.bits = ~value.bits;
    return value;
  }
  if (op != '!') return std::nullopt;
  return Constant{Constant::Kind::signed_integer, value.bits == 0 ? std::uint64_t{1} : 0};
}

}  // namespace corridor::ptx
