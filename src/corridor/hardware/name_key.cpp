// SPDX-License-Identifier: Apache-2.0
// Comparing device names: keys, brackets, memory sizes, edit distance.
#include "corridor/hardware/name_key.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "corridor/base/lower.h"

namespace corridor::hardware {
namespace {

constexpr std::array<std::string_view, 20> maker_words = {
    "nvidia", "tesla", "geforce", "quadro", "amd",    "ati", "instinct", "radeon",     "intel",    "apple",
    "r",      "tm",    "gpu",     "cpu",    "google", "the", "aws",      "generation", "graphics", "processor"};

bool is_word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads "80", "80.5" at `at`; moves past it.
double read_number(std::string_view text, std::size_t& at) {
  double value = 0;
  double scale = 0;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && scale == 0)); ++at) {
    if (text[at] == '.') {
      scale = 1;
    } else {
      value = value * 10 + (text[at] - '0');
      scale *= 10;
    }
  }
  return scale > 1 ? value / scale : value;
}

/// Length of "GB", "GiB" or "G" (as a whole word) at `at`; 0 when there is none.
std::size_t unit_length(std::string_view text, std::size_t at) {
  const auto matches = [&](std::string_view unit) {
    if (at + unit.size() > text.size()) return false;
    for (std::size_t i = 0; i < unit.size(); ++i) {
      if (lower(text[at + i]) != unit[i]) return false;
    }
    return at + unit.size() == text.size() || !is_word_char(text[at + unit.size()]);
  };
  for (const std::string_view unit : {"gib", "gb", "g"}) {
    if (matches(unit)) return unit.size();
  }
  return 0;
}

}  // namespace

std::string squash(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (is_word_char(c)) out += lower(c);
  }
  return out;
}

std::string core_key(std::string_view name) {
  std::string out;
  std::string word;
  const auto flush = [&] {
    if (std::find(maker_words.begin(), maker_words.end(), word) == maker_words.end()) out += word;
    word.clear();
  };
  for (const char c : name) {
    if (is_word_char(c)) {
      word += lower(c);
    } else {
      flush();
    }
  }
  flush();
  return out;
}

BracketSplit split_brackets(std::string_view name) {
  const std::size_t open = name.find('(');
  if (open == std::string_view::npos) return {std::string(name), {}};
  const std::size_t close = name.find(')', open);
  const std::size_t end = close == std::string_view::npos ? name.size() : close;
  std::string outside(name.substr(0, open));
  if (close != std::string_view::npos) outside += name.substr(close + 1);
  return {std::move(outside), std::string(name.substr(open + 1, end - open - 1))};
}

std::optional<MemorySplit> split_memory(std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i]) || (i > 0 && is_word_char(name[i - 1]))) continue;
    std::size_t end = i;
    const double gigabytes = read_number(name, end);
    std::size_t unit = end;
    while (unit < name.size() && name[unit] == ' ') ++unit;
    const std::size_t length = unit_length(name, unit);
    if (length == 0 || gigabytes <= 0) continue;
    return MemorySplit{std::string(name.substr(0, i)) + std::string(name.substr(unit + length)), gigabytes};
  }
  return std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr std::size_t longest = 64;
  a = a.substr(0, longest);
  b = b.substr(0, longest);
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace corridor::hardware
