// SPDX-License-Identifier: Apache-2.0
// Numbers, units, labels and table cells of one line.
#include "corridor/profile/paste/text_scan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace corridor::profile {
namespace {

/// No rate, count or memory of a run is larger; above it a figure is a mistake.
constexpr double largest_number = 1e15;
constexpr std::size_t longest_number = 40;
/// A table of a tool has fewer columns; a line with more is no table.
constexpr std::size_t most_cells = 64;

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

/// True when exactly three digits follow the comma at `at`.
bool is_separator(std::string_view text, std::size_t at) {
  return at < text.size() && text[at] == ',' && skip_digits(text, at + 1) == at + 4;
}

/// Copies the number `text` begins with, without separators, to `plain`; returns its length in `text`.
std::size_t copy_number(std::string_view text, std::string& plain) {
  std::size_t end = skip_digits(text, 0);
  plain.append(text.substr(0, end));
  while (end > 0 && end <= longest_number && is_separator(text, end)) {
    plain.append(text.substr(end + 1, 3));
    end += 4;
  }
  if (end < text.size() && text[end] == '.') {
    const std::size_t after_point = skip_digits(text, end + 1);
    if (after_point == end + 1 && end == 0) return 0;
    plain.append(text.substr(end, after_point - end));
    end = after_point;
  }
  if (end > 0 && end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const std::size_t sign = text[end + 1] == '+' || text[end + 1] == '-' ? 1 : 0;
    const std::size_t after_exponent = skip_digits(text, end + 1 + sign);
    if (after_exponent > end + 1 + sign) {
      plain.append(text.substr(end, after_exponent - end));
      end = after_exponent;
    }
  }
  return end;
}

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 17> time_units{{{"h", 3600},
                                           {"hours", 3600},
                                           {"m", 60},
                                           {"min", 60},
                                           {"minutes", 60},
                                           {"s", 1},
                                           {"sec", 1},
                                           {"secs", 1},
                                           {"second", 1},
                                           {"seconds", 1},
                                           {"ms", 1e-3},
                                           {"msec", 1e-3},
                                           {"us", 1e-6},
                                           {"µs", 1e-6},
                                           {"\u03bcs", 1e-6},
                                           {"ns", 1e-9},
                                           {"milliseconds", 1e-3}}};

constexpr std::array<Unit, 10> byte_units{{{"B", 1},
                                           {"KiB", 1024.0},
                                           {"MiB", 1048576.0},
                                           {"GiB", 1073741824.0},
                                           {"TiB", 1099511627776.0},
                                           {"kB", 1e3},
                                           {"KB", 1e3},
                                           {"MB", 1e6},
                                           {"GB", 1e9},
                                           {"TB", 1e12}}};

std::size_t unit_length(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_letter(text[end]) || static_cast<unsigned char>(text[end]) >= 0x80)) ++end;
  return end;
}

template <std::size_t N>
std::optional<double> factor_of(const std::array<Unit, N>& units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return unit.factor;
  }
  return std::nullopt;
}

}  // namespace

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string normalised(std::string_view text) {
  std::string out;
  for (const char c : lower(trim(text))) {
    const bool blank = c == ' ' || c == '\t';
    if (blank && !out.empty() && out.back() == ' ') continue;
    out += blank ? ' ' : c;
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t characters) {
  text = trim(text);
  constexpr std::string_view mark = "...";
  if (text.size() <= characters) return std::string(text);
  std::size_t end = characters > mark.size() ? characters - mark.size() : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + std::string(mark);
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') c = ' ';
  }
  return out;
}

std::optional<Number> leading_number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  std::string plain;
  const std::size_t length = copy_number(text, plain);
  if (length == 0 || plain.size() > longest_number) return std::nullopt;
  const double value = std::strtod(plain.c_str(), nullptr);
  if (!std::isfinite(value) || value > largest_number) return std::nullopt;
  return Number{value, text.substr(length)};
}

std::optional<std::string_view> after(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  return line.substr(at + label.size());
}

std::optional<Number> number_after(std::string_view line, std::string_view label) {
  auto rest = after(line, label);
  if (!rest) return std::nullopt;
  std::string_view value = trim(*rest);
  if (!value.empty() && (value.front() == ':' || value.front() == '=')) value.remove_prefix(1);
  return leading_number(value);
}

std::optional<double> value_after(std::string_view line, std::string_view label) {
  const auto number = number_after(line, label);
  if (!number) return std::nullopt;
  return number->value;
}

std::optional<double> whole_number(std::string_view text) {
  const auto number = leading_number(text);
  if (!number || !trim(number->rest).empty()) return std::nullopt;
  return number->value;
}

std::optional<std::int64_t> whole_integer(std::string_view text) {
  text = trim(text);
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 15 || skip_digits(text, 0) != text.size()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) value = value * 10 + (c - '0');
  return negative ? -value : value;
}

std::optional<double> percent(std::optional<Number> number) {
  if (!number || number->value > 100) return std::nullopt;
  const std::string_view rest = trim(number->rest);
  if (rest.empty() || rest.front() != '%') return std::nullopt;
  return number->value / 100;
}

std::optional<double> seconds_of(std::string_view text) {
  text = trim(text);
  double total = 0;
  double last_factor = largest_number;  // "1m2.5s": the parts get smaller
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    const auto number = leading_number(text);
    if (!number) return std::nullopt;
    const std::string_view rest = trim(number->rest);
    const std::size_t length = unit_length(rest);
    const auto factor = factor_of(time_units, rest.substr(0, length));
    if (!factor || *factor >= last_factor) return std::nullopt;
    total += number->value * *factor;
    last_factor = *factor;
    text = trim(rest.substr(length));
  }
  return total;
}

std::optional<double> bytes_of(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  const std::string_view rest = trim(number->rest);
  const auto factor = factor_of(byte_units, rest.substr(0, unit_length(rest)));
  if (!factor || number->value * *factor > largest_number) return std::nullopt;
  return number->value * *factor;
}

std::optional<double> bytes_after(std::string_view line, std::string_view label) {
  const auto rest = after(line, label);
  if (!rest) return std::nullopt;
  std::string_view value = trim(*rest);
  if (!value.empty() && (value.front() == ':' || value.front() == '=')) value.remove_prefix(1);
  return bytes_of(value);
}

std::vector<std::string> table_cells(std::string_view line) {
  constexpr std::array<std::string_view, 3> borders{"|", "\u2502", "\u2503"};
  line = trim(line);
  std::vector<std::string> cells;
  bool bordered = false;
  while (!line.empty() && cells.size() <= most_cells) {
    std::size_t at = std::string_view::npos;
    std::size_t width = 0;
    for (const std::string_view border : borders) {
      const std::size_t found = line.substr(0, at).find(border);
      if (found != std::string_view::npos) {
        at = found;
        width = border.size();
      }
    }
    if (at == std::string_view::npos) break;
    if (bordered) {
      cells.emplace_back(trim(line.substr(0, at)));
    } else if (!trim(line.substr(0, at)).empty()) {
      return {};  // a table row begins with its border
    }
    bordered = true;
    line.remove_prefix(at + width);
  }
  if (!trim(line).empty() && bordered) cells.emplace_back(trim(line));
  return cells.size() > most_cells ? std::vector<std::string>{} : cells;
}

}  // namespace corridor::profile
