// SPDX-License-Identifier: Apache-2.0
// The checks that stand before the TOML parser.
#include "corridor/hardware/toml_guard.h"

#include <algorithm>

namespace corridor::hardware {
namespace {

constexpr std::size_t largest_text = 1U << 20U;  // bytes; the shipped files have a few thousand
// The parser calls itself once a level and has no limit of its own; the shipped files need three levels.
constexpr std::size_t deepest = 32;

/// True when the line opens a table but no key follows the bracket.
bool nameless_header(std::string_view line) {
  const auto skip_blanks = [&line] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip_blanks();
  if (line.empty() || line.front() != '[') return false;
  line.remove_prefix(line.starts_with("[[") ? 2 : 1);
  skip_blanks();
  const char c = line.empty() ? '\0' : line.front();
  const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  return !word && c != '"' && c != '\'';
}

/// True when '}' or ',' stands where a value must: at the start of a line, or after '[', ',' or '=' ("[}", "[1,}").
bool misplaced(char c, char before) {
  return (c == '}' || c == ',') && (before == '\0' || before == '[' || before == ',' || before == '=');
}

/// Place of the quote that ends the string which begins at `from`, or the end of the line.
std::size_t end_of_string(std::string_view text, std::size_t from) {
  const char quote = text[from];
  std::size_t at = from + 1;
  while (at < text.size() && text[at] != quote) at += quote == '"' && text[at] == '\\' ? 2 : 1;
  return at;
}

enum class LineFault { none, foreign, misplaced, deep, long_text };

/// Looks at what stands outside "…", '…' and comments, line by line; brackets may span lines.
class Scanner {
 public:
  LineFault line(std::string_view text) {
    char before = '\0';  // the last character that is neither a blank nor inside a string
    dots_ = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '#') return LineFault::none;
      if (c == ' ' || c == '\t') continue;
      if (const LineFault fault = outside(text.substr(i), before); fault != LineFault::none) return fault;
      before = c;
      if (c == '"' || c == '\'') i = end_of_string(text, i);
    }
    return LineFault::none;
  }

 private:
  LineFault outside(std::string_view rest, char before) {
    const char c = rest.front();
    if (static_cast<unsigned char>(c) >= 0x80U) return LineFault::foreign;
    // A text over several lines would hide what follows it from this scan.
    if (c == '"' || c == '\'') return rest.starts_with(std::string(3, c)) ? LineFault::long_text : LineFault::none;
    if (misplaced(c, before)) return LineFault::misplaced;
    if (c == '[' || c == '{') ++open_;
    if ((c == ']' || c == '}') && open_ > 0) --open_;
    if (c == '.') ++dots_;
    if (c == '=' || c == ',' || c == '[' || c == '{') dots_ = 0;
    return open_ > deepest || dots_ > deepest ? LineFault::deep : LineFault::none;
  }

  std::size_t open_ = 0;  ///< brackets not yet closed
  std::size_t dots_ = 0;  ///< dots of the key or number being read
};

TextFault described(LineFault fault, std::size_t line) {
  switch (fault) {
    case LineFault::foreign:
      return {line, "a character outside ASCII stands outside quotes", "put texts in double quotes on one line"};
    case LineFault::long_text:
      return {line, "a text in three quotes", "put texts in double quotes on one line"};
    case LineFault::deep:
      return {line, "tables or lists are nested more than 32 levels deep", "a file of this kind needs three levels"};
    case LineFault::misplaced:
    case LineFault::none:
      break;
  }
  return {line, "a value is missing before ',' or '}'", "write a value there, or take the comma away"};
}

}  // namespace

std::optional<TextFault> toml_fault(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.size() > largest_text) return TextFault{1, "the file is larger than 1 MiB", "is it the right file?"};
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::size_t number = 0;
  Scanner scanner;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (nameless_header(line)) {
      return TextFault{number, "'[' is not followed by a table name", "write [memory] or [[ladder]]"};
    }
    if (const LineFault fault = scanner.line(line); fault != LineFault::none) return described(fault, number);
  }
  return std::nullopt;
}

}  // namespace corridor::hardware
