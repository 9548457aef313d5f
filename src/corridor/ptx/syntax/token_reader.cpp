// SPDX-License-Identifier: Apache-2.0
// One token of look-ahead, the first error, and constant expressions.
#include "corridor/ptx/syntax/token_reader.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

namespace corridor::ptx {
namespace {

constexpr int deepest_expression = 64;
constexpr std::size_t longest_quote = 60;

/// A name or number in a message, cut short, without control characters.
std::string quoted_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, longest_quote)) out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out + (text.size() > longest_quote ? "…'" : "'");
}

}  // namespace

TokenReader::TokenReader(std::string_view text, std::string_view file) : lexer_(text), file_(file) {
  advance();
}

bool TokenReader::take(char mark) {
  if (!token_.is(mark)) return false;
  advance();
  return true;
}

bool TokenReader::expect(char mark) {
  if (take(mark)) return true;
  return expected(std::string("'") + mark + "'");
}

bool TokenReader::expect_word(std::string_view& out, std::string_view what) {
  if (token_.kind != Token::Kind::word) return expected(what);
  out = token_.text;
  advance();
  return true;
}

bool TokenReader::integer(std::uint64_t& out, std::string_view what) {
  const std::uint32_t line = token_.line;
  Constant value;
  if (!constant(value)) return false;
  if (!value.is_integer()) return error(fmt::format("{} is not a whole number", what), "write an integer", line);
  out = value.bits;
  return true;
}

bool TokenReader::expect_count(std::uint32_t& out, std::string_view what) {
  if (token_.kind != Token::Kind::number) return expected(what);
  const auto value = literal_from(token_.text);
  if (!value || !value->is_integer() || value->bits > std::numeric_limits<std::uint32_t>::max()) {
    return error(fmt::format("{} is {}", what, quoted_text(token_.text)), "write a whole number of at most 32 bits");
  }
  out = static_cast<std::uint32_t>(value->bits);
  advance();
  return true;
}

bool TokenReader::constant(Constant& out) {
  if (token_.kind == Token::Kind::number) {  // by far the most: one literal
    const auto value = literal_from(token_.text);
    if (!value) {
      return error(quoted_text(token_.text) + " is not a number that PTX has", "use at most 64 bits, 0f with 8 digits");
    }
    advance();
    const bool ends = token_.kind != Token::Kind::mark || precedence_of(token_.text) == 0;
    out = *value;
    if (ends && !token_.is('?')) return true;
    if (!out.is_integer()) return expected("the end of a constant");
    return binary(out, -1, 0) && conditional(out, 0);
  }
  return binary(out, 0, 0) && conditional(out, 0);
}

bool TokenReader::conditional(Constant& out, int depth) {
  if (!token_.is('?')) return true;
  if (depth > deepest_expression) return error("a constant expression is nested too deeply", "write its value");
  advance();
  Constant yes;
  Constant no;
  if (!binary(yes, 0, depth + 1) || !conditional(yes, depth + 1) || !expect(':')) return false;
  if (!binary(no, 0, depth + 1) || !conditional(no, depth + 1)) return false;
  out = out.bits != 0 ? yes : no;
  return true;
}

/// Precedence climbing; `least` −1: the left side is in `out` already.
bool TokenReader::binary(Constant& out, int least, int depth) {
  if (depth > deepest_expression) return error("a constant expression is nested too deeply", "write its value");
  if (least >= 0 && !unary(out, depth)) return false;
  while (token_.kind == Token::Kind::mark) {
    const std::string_view op = token_.text;
    const std::uint32_t line = token_.line;
    const int precedence = precedence_of(op);
    if (precedence == 0 || precedence <= least) break;
    advance();
    Constant right;
    if (!binary(right, precedence, depth + 1)) return false;
    const auto value = binary_constant(op, out, right);
    if (!value) {
      return error(fmt::format("'{}' of these constants has no value", op), "divide by no zero, use integers", line);
    }
    out = *value;
  }
  return true;
}

bool TokenReader::unary(Constant& out, int depth) {
  if (depth > deepest_expression) return error("a constant expression is nested too deeply", "write its value");
  if (token_.kind == Token::Kind::number) {
    const auto value = literal_from(token_.text);
    if (!value) {
      return error(quoted_text(token_.text) + " is not a number that PTX has", "use at most 64 bits, 0f with 8 digits");
    }
    out = *value;
    advance();
    return true;
  }
  if (token_.is_word("WARP_SZ")) {
    out = Constant{Constant::Kind::signed_integer, 32};
    advance();
    return true;
  }
  if (token_.is('(')) {
    advance();
    return bracketed(out, depth);
  }
  for (const char op : {'-', '!', '~', '+'}) {
    if (!token_.is(op)) continue;
    const std::uint32_t line = token_.line;
    advance();
    if (!unary(out, depth + 1)) return false;
    const auto value = unary_constant(op, out);
    if (!value) return error(fmt::format("'{}' of this constant has no value", op), "use an integer", line);
    out = *value;
    return true;
  }
  return expected("a constant");
}

/// After '(': a cast (.s64) or an expression.
bool TokenReader::bracketed(Constant& out, int depth) {
  if (token_.kind != Token::Kind::dot) return binary(out, 0, depth + 1) && conditional(out, depth + 1) && expect(')');
  const bool is_unsigned = token_.text == "u64";
  if (!is_unsigned && token_.text != "s64") return expected("a cast to .s64 or .u64");
  advance();
  if (!expect(')') || !unary(out, depth + 1)) return false;
  if (!out.is_integer()) return error("only integers can be cast here", "write the value");
  out.kind = is_unsigned ? Constant::Kind::unsigned_integer : Constant::Kind::signed_integer;
  return true;
}

bool TokenReader::skip_block() {
  const std::uint32_t line = token_.line;
  if (!token_.is('{')) return expected("'{'");
  if (!lexer_.skip_block())
    return error("a block that begins here has no closing brace", "check that the file is whole", line);
  advance();
  return true;
}

void TokenReader::skip_line() {
  lexer_.skip_line();
  advance();
}

std::string TokenReader::here() const {
  switch (token_.kind) {
    case Token::Kind::end:
      return "the end of the text";
    case Token::Kind::dot:
      return quoted_text("." + std::string(token_.text.substr(0, longest_quote)));
    case Token::Kind::string:
      return "a string";
    default:
      return quoted_text(token_.text);
  }
}

bool TokenReader::expected(std::string_view what) {
  if (token_.kind == Token::Kind::bad) return error(std::string(token_.text), "check that the file is whole PTX text");
  return error(fmt::format("{} expected, found {}", what, here()), "see the PTX grammar");
}

bool TokenReader::error(std::string what, std::string fix, std::uint32_t line) {
  if (failure_) return false;
  failure_ = Error{std::move(what), fmt::format("{}:{}", file_, line == 0 ? token_.line : line), std::move(fix)};
  return false;
}

}  // namespace corridor::ptx
