// SPDX-License-Identifier: Apache-2.0
// The checks that stand before the TOML parser.
#include "corridor/hardware/toml_guard.h"

#include <algorithm>

namespace corridor::hardware {
namespace {

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

enum class LineFault { none, foreign, misplaced };

/// Looks at what stands outside "…", '…' and comments.
LineFault outside_strings(std::string_view line) {
  char quote = '\0';
  char before = '\0';  // the last character that is neither a blank nor inside a string
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '"' && c == '\\') {
      ++i;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '#') {
      return LineFault::none;
    } else if (static_cast<unsigned char>(c) >= 0x80U) {
      return LineFault::foreign;
    } else if (c != ' ' && c != '\t') {
      if (misplaced(c, before)) return LineFault::misplaced;
      if (c == '"' || c == '\'') quote = c;
      before = c;
    }
  }
  return LineFault::none;
}

}  // namespace

std::optional<TextFault> toml_fault(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (nameless_header(line)) {
      return TextFault{number, "'[' is not followed by a table name", "write [memory] or [[ladder]]"};
    }
    const LineFault fault = outside_strings(line);
    if (fault == LineFault::foreign) {
      return TextFault{number, "a character outside ASCII stands outside quotes",
                       "put texts in double quotes on one line"};
    }
    if (fault == LineFault::misplaced) {
      return TextFault{number, "a value is missing before ',' or '}'", "write a value there, or take the comma away"};
    }
  }
  return std::nullopt;
}

}  // namespace corridor::hardware
