// SPDX-License-Identifier: Apache-2.0
// Parsers for the text of /proc and /sys; every one answers "not that" instead of guessing.
#include "corridor/measure/text_scan.h"

#include <charconv>
#include <cstdint>

namespace corridor::measure {
namespace {

constexpr double largest_exact = 9007199254740992.0;  // 2^53: whole numbers beyond it are not exact in a double
constexpr std::size_t longest_name = 128;

bool is_space(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::string_view> take_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::optional<std::string_view> take_word(std::string_view& text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::optional<std::pair<std::string_view, std::string_view>> key_value(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return std::pair{trim(line.substr(0, colon)), trim(line.substr(colon + 1))};
}

std::optional<double> whole_number(std::string_view text) {
  text = trim(text);
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (static_cast<double>(value) > largest_exact) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> decimal_number(std::string_view text) {
  text = trim(text);
  constexpr double largest = 1e15;
  double value = 0;
  double scale = 0;  // 0 before the point
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == '.' && scale == 0) {
      scale = 1;
    } else if (is_digit(c)) {
      ++digits;
      scale *= 0.1;
      value = scale > 0 ? value + (c - '0') * scale : value * 10 + (c - '0');
    } else {
      return std::nullopt;
    }
  }
  if (digits == 0 || !(value <= largest)) return std::nullopt;
  return value;
}

std::optional<units::Bytes> binary_size(std::string_view text) {
  text = trim(text);
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  const std::optional<double> number = whole_number(text.substr(0, end));
  if (!number) return std::nullopt;
  std::string_view unit = trim(text.substr(end));
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.remove_suffix(1);
  constexpr double step = 1024;
  if (unit.empty()) return units::Bytes{*number};
  if (unit == "K" || unit == "k") return units::Bytes{*number * step};
  if (unit == "M") return units::Bytes{*number * step * step};
  if (unit == "G") return units::Bytes{*number * step * step * step};
  return std::nullopt;
}

std::optional<int> count_in_list(std::string_view text) {
  text = trim(text);
  constexpr double most_cpus = 1 << 20;
  double count = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    const std::size_t dash = part.find('-');
    const auto first = whole_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    count += *last - *first + 1;
    if (count > most_cpus) return std::nullopt;
  }
  return static_cast<int>(count);
}

std::string clean_name(std::string_view text) {
  std::string out;
  for (const char c : trim(text)) {
    if (out.size() >= longest_name) break;
    const bool space = is_space(c);
    if (space && !out.empty() && out.back() == ' ') continue;
    out += space ? ' ' : c;
  }
  return out;
}

bool is_numbered(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem) || name.size() == stem.size()) return false;
  for (const char c : name.substr(stem.size())) {
    if (!is_digit(c)) return false;
  }
  return true;
}

}  // namespace corridor::measure
