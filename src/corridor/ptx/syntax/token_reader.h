// SPDX-License-Identifier: Apache-2.0
// One token of look-ahead, the first error, and constant expressions; a private part of the parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "corridor/base/result.h"
#include "corridor/ptx/syntax/constant.h"
#include "corridor/ptx/syntax/lexer.h"

namespace corridor::ptx {

/// Every function that returns bool returns false after it noted an error; the caller passes the false on.
class TokenReader {
 public:
  TokenReader(std::string_view text, std::string_view file);

  [[nodiscard]] const Token& token() const { return token_; }
  void advance() { token_ = lexer_.next(); }
  /// The token after the next one.
  [[nodiscard]] Token second() const { return Lexer(lexer_).next(); }
  /// Goes past a mark if it is the next token.
  bool take(char mark);
  [[nodiscard]] bool expect(char mark);
  /// A name; `what` is for the message: "the name of a register".
  [[nodiscard]] bool expect_word(std::string_view& out, std::string_view what);
  /// A number that fits 32 bits; `what` is for the message.
  [[nodiscard]] bool expect_count(std::uint32_t& out, std::string_view what);
  /// A constant expression; integers, or one float.
  [[nodiscard]] bool constant(Constant& out);
  [[nodiscard]] bool integer(std::uint64_t& out, std::string_view what);
  /// Passes over a { block } whose brace is the next token.
  [[nodiscard]] bool skip_block();
  void skip_line();

  /// Notes an error at the next token, or at `line`; always false.
  bool error(std::string what, std::string fix = {}, std::uint32_t line = 0);
  /// "what is expected, found what stands there".
  bool expected(std::string_view what);
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  [[nodiscard]] bool binary(Constant& out, int least, int depth);
  [[nodiscard]] bool unary(Constant& out, int depth);
  [[nodiscard]] bool bracketed(Constant& out, int depth);
  [[nodiscard]] bool conditional(Constant& out, int depth);
  [[nodiscard]] std::string here() const;
  Lexer lexer_;
  std::string_view file_;
  Token token_;
  std::optional<Error> failure_;
};

}  // namespace corridor::ptx
