// SPDX-License-Identifier: Apache-2.0
// Cuts PTX text into words, numbers, strings and marks, one at a time.
#include "corridor/ptx/syntax/lexer.h"

#include <array>

namespace corridor::ptx {
namespace {

enum CharacterClass : std::uint8_t { class_other = 0, class_blank = 1, class_name = 2, class_digit = 4 };

constexpr std::array<std::uint8_t, 256> character_classes = [] {
  std::array<std::uint8_t, 256> out{};
  for (const char c : {' ', '\t', '\r', '\n', '\f', '\v'}) out[static_cast<unsigned char>(c)] = class_blank;
  for (unsigned c = 'a'; c <= 'z'; ++c) out[c] = class_name;
  for (unsigned c = 'A'; c <= 'Z'; ++c) out[c] = class_name;
  out['_'] = out['$'] = class_name;
  for (unsigned c = '0'; c <= '9'; ++c) out[c] = class_name | class_digit;
  return out;
}();

bool is_class(char c, std::uint8_t which) {
  return (character_classes[static_cast<unsigned char>(c)] & which) != 0;
}

bool only_padding(std::string_view text) {
  for (const char c : text) {
    if (c != '\0' && !is_class(c, class_blank)) return false;
  }
  return true;
}

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") position_ = 3;
}

Token Lexer::bad(std::string_view what) {
  Token token;
  token.kind = Token::Kind::bad;
  token.line = line_;
  token.text = what;
  return token;
}

/// Blanks and both kinds of comment; false: a comment has no end.
bool Lexer::skip_blank() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      ++position_;
    } else if (is_class(c, class_blank)) {
      ++position_;
    } else if (c == '/' && at(position_ + 1) == '/') {
      const std::size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? text_.size() : end;
    } else if (c == '/' && at(position_ + 1) == '*') {
      const std::size_t end = text_.find("*/", position_ + 2);
      if (end == std::string_view::npos) return false;
      for (std::size_t i = position_; i < end; ++i) line_ += text_[i] == '\n' ? 1 : 0;
      position_ = end + 2;
    } else {
      return true;
    }
  }
  return true;
}

Token Lexer::next() {
  if (!skip_blank()) return bad("a comment that begins here has no end");
  Token token;
  token.line = line_;
  if (position_ >= text_.size()) return token;
  const std::size_t first = position_;
  const char c = text_[first];
  if (is_class(c, class_digit)) return number(first);
  if (is_class(c, class_name)) return word(first);
  if (c == '%' && is_class(at(first + 1), class_name) && !is_class(at(first + 1), class_digit)) return word(first);
  if (c == '.') {
    position_ = first + 1;
    while (position_ < text_.size()) {
      if (is_class(text_[position_], class_name)) {
        ++position_;
      } else if (text_[position_] == ':' && at(position_ + 1) == ':') {
        position_ += 2;
      } else {
        break;
      }
    }
    if (position_ == first + 1) return bad("a lone '.'");
    token.kind = Token::Kind::dot;
    token.text = text_.substr(first + 1, position_ - first - 1);
    return token;
  }
  if (c == '"') return string(first);
  return mark(first);
}

Token Lexer::word(std::size_t first) {
  position_ = first + 1;
  while (position_ < text_.size() && is_class(text_[position_], class_name)) ++position_;
  Token token;
  token.kind = Token::Kind::word;
  token.line = line_;
  token.text = text_.substr(first, position_ - first);
  return token;
}

Token Lexer::number(std::size_t first) {
  position_ = first;
  const char prefix = at(first) == '0' ? at(first + 1) : '\0';
  const bool is_bits = prefix == 'x' || prefix == 'X' || prefix == 'f' || prefix == 'F' || prefix == 'd' ||
                       prefix == 'D' || prefix == 'b' || prefix == 'B';
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (is_class(c, class_name)) {
      ++position_;
      const bool exponent = !is_bits && (c == 'e' || c == 'E');
      if (exponent && (at(position_) == '-' || at(position_) == '+')) ++position_;
    } else if (c == '.' && !is_bits) {
      ++position_;
    } else {
      break;
    }
  }
  Token token;
  token.kind = Token::Kind::number;
  token.line = line_;
  token.text = text_.substr(first, position_ - first);
  return token;
}

Token Lexer::string(std::size_t first) {
  std::size_t i = first + 1;
  while (i < text_.size() && text_[i] != '"' && text_[i] != '\n') i += text_[i] == '\\' ? 2 : 1;
  if (at(i) != '"') return bad("a string that begins here has no end on its line");
  position_ = i + 1;
  Token token;
  token.kind = Token::Kind::string;
  token.line = line_;
  token.text = text_.substr(first + 1, i - first - 1);
  return token;
}

Token Lexer::mark(std::size_t first) {
  const char c = text_[first];
  if (c == '\0') {
    if (!only_padding(text_.substr(first))) return bad("a NUL byte inside the text");
    position_ = text_.size();
    Token end;
    end.line = line_;
    return end;
  }
  constexpr std::string_view marks = "{}[](),;:|!@+-*/%<>=&^~?#";
  if (marks.find(c) == std::string_view::npos) return bad("a character that PTX does not have");
  Token token;
  token.kind = Token::Kind::mark;
  token.line = line_;
  token.mark = c;
  const char after = at(first + 1);
  const bool doubled = after == c && (c == '<' || c == '>' || c == '&' || c == '|' || c == '=');
  const bool compares = after == '=' && (c == '<' || c == '>' || c == '!');
  if (doubled || compares) token.second = after;
  position_ = first + (token.second == 0 ? 1 : 2);
  token.text = text_.substr(first, position_ - first);
  return token;
}

bool Lexer::skip_block() {
  std::uint32_t depth = 1;
  while (true) {
    const Token token = next();
    if (token.kind == Token::Kind::end || token.kind == Token::Kind::bad) return false;
    if (token.is('{')) ++depth;
    if (token.is('}') && --depth == 0) return true;
  }
}

void Lexer::skip_line() {
  const std::size_t end = text_.find('\n', position_);
  position_ = end == std::string_view::npos ? text_.size() : end;
}

}  // namespace corridor::ptx
