// SPDX-License-Identifier: Apache-2.0
// Cuts PTX text into words, numbers, strings and marks, one at a time; a private part of the parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace corridor::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    word,    ///< name: "add", "%r1", "$L_1", "_"
    dot,     ///< ".f32": `text` is without the dot, "shared::cta" is one
    number,  ///< any literal, as written
    string,  ///< `text` is what stands between the quotes
    mark,    ///< one character; << >> <= >= == != && || are told by `second`
    bad      ///< `text` says what is wrong
  };
  Kind kind = Kind::end;
  char mark = 0, second = 0;
  std::uint32_t line = 1;
  std::string_view text;
  [[nodiscard]] bool is(char c) const { return kind == Kind::mark && mark == c && second == 0; }
  [[nodiscard]] bool is_word(std::string_view word) const { return kind == Kind::word && text == word; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);
  /// The next token; `end` again and again at the end, `bad` again and again where no token can be.
  [[nodiscard]] Token next();
  /// Passes over a block in braces whose first brace was just read, whatever is in it; false when it has no end.
  [[nodiscard]] bool skip_block();
  /// Passes over the rest of the line.
  void skip_line();
  [[nodiscard]] std::uint32_t line() const { return line_; }

 private:
  bool skip_blank();
  Token word(std::size_t first);
  Token number(std::size_t first);
  Token string(std::size_t first);
  Token mark(std::size_t first);
  Token bad(std::string_view what);
  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace corridor::ptx
