// SPDX-License-Identifier: Apache-2.0
// Rules of letters and words, no lists of names.
#include "corridor/profile/private_words.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace corridor::profile {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '~';
}

/// Undoes \/ and \u00XX, as a path may be hidden behind them.
std::string seen_through(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    if (next != 'u' || i + 4 >= text.size()) {
      out += next;
      continue;
    }
    unsigned code = 0;
    for (std::size_t j = 1; j <= 4; ++j) {
      const auto digit = static_cast<unsigned char>(text[i + j]);
      code = code * 16 + static_cast<unsigned>(std::isdigit(digit) != 0 ? digit - '0' : std::tolower(digit) - 'a' + 10);
    }
    out += code < 0x80U ? static_cast<char>(code) : '?';
    i += 4;
  }
  return out;
}

bool holds_path(std::string_view text) {
  for (std::size_t at = text.find_first_of("/\\"); at != std::string_view::npos;
       at = text.find_first_of("/\\", at + 1)) {
    const bool before = at > 0 && is_word_character(text[at - 1]);
    const bool after = at + 1 < text.size() && is_word_character(text[at + 1]);
    const bool digits = before && after && std::isdigit(static_cast<unsigned char>(text[at - 1])) != 0 &&
                        std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0;
    if (after && !digits) return true;                             // "/home", "models/x", "C:\\Users"; not "0/1"
    if (at + 1 < text.size() && text[at + 1] == '/') return true;  // "https://"
  }
  for (std::size_t at = text.find(".py"); at != std::string_view::npos; at = text.find(".py", at + 1)) {
    if (at + 3 >= text.size() || std::isalnum(static_cast<unsigned char>(text[at + 3])) == 0) return true;
  }
  return false;
}

bool holds_address(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || at == 0 || at + 1 >= text.size()) return false;
  return is_word_character(text[at - 1]) && is_word_character(text[at + 1]);
}

}  // namespace

bool all_of_charset(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || more.find(c) != std::string_view::npos;
  });
}

bool is_plain_value(std::string_view text) {
  for (const std::string_view word : {"", "True", "False", "None", "Scalar", "inf", "-inf", "nan"}) {
    if (text == word) return true;
  }
  constexpr std::size_t longest_address = 18;
  const bool address = text.starts_with("0x") && text.size() <= longest_address;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isdigit(byte) != 0 || std::string_view(".-+, []()eE").find(c) != std::string_view::npos ||
           (address && (std::isxdigit(byte) != 0 || c == 'x'));
  });
}

bool is_step_name(std::string_view text) {
  constexpr std::size_t longest = 300;
  if (text.size() > longest) return false;
  if (text.starts_with("execute_") && text.find("context_") != std::string_view::npos)
    return all_of_charset(text, "_()");
  if (text.starts_with("step[")) return all_of_charset(text, "_[]= ");
  if (text.starts_with("ProfilerStep#")) return all_of_charset(text.substr(13), "");
  return text.starts_with("nccl:") && all_of_charset(text, "_: ");
}

bool is_track_name(std::string_view text) {
  if (text == "python" || text == "python3" || text == "CPU" || text == "Spans" || text == "Traces") return true;
  for (const std::string_view start : {"GPU ", "stream ", "thread ", "PyTorch Profiler ("}) {
    if (!text.starts_with(start)) continue;
    std::string_view rest = text.substr(start.size());
    for (const std::string_view end : {" (python)", " (python3)", ")", " "}) {
      if (rest.ends_with(end)) rest.remove_suffix(end.size());
    }
    return std::all_of(rest.begin(), rest.end(), [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == ' ' || c == ',' || c == '-';
    });
  }
  return false;
}

bool looks_private(std::string_view json_text) {
  if (json_text.find('\\') != std::string_view::npos) {
    const std::string plain = seen_through(json_text);
    return holds_path(plain) || holds_address(plain);
  }
  return holds_path(json_text) || holds_address(json_text);
}

}  // namespace corridor::profile
