// SPDX-License-Identifier: Apache-2.0
// Cells to numbers and clean text; a table has millions of cells, so plain decimals take a short way.
#include "corridor/profile/points/cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr double largest_number = 1e15;
constexpr std::size_t longest_number = 40;
constexpr std::size_t longest_cell = 2000;

std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : lower(name)) {
    if (is_letter(c) || is_digit(c)) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  if (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

/// Digits with at most one point and no more than 15 figures: exact as a quotient of two doubles.
std::optional<double> short_decimal(std::string_view cell) {
  static constexpr std::array<double, 16> powers{1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (cell.empty() || cell.size() > 16) return std::nullopt;
  std::uint64_t digits = 0;
  std::size_t figures = 0;
  std::size_t behind = 0;
  bool point = false;
  for (const char c : cell) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(c)) return std::nullopt;
    digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
    ++figures;
    behind += point ? 1 : 0;
  }
  if (figures == 0 || figures > 15) return std::nullopt;
  return static_cast<double>(digits) / powers[behind];
}

/// True for digits, at most one point, an exponent and a sign: what strtod may be asked (it also knows hex and "nan").
bool is_decimal(std::string_view cell) {
  std::size_t at = !cell.empty() && (cell.front() == '-' || cell.front() == '+') ? 1 : 0;
  std::size_t figures = 0;
  int points = 0;
  for (; at < cell.size() && (is_digit(cell[at]) || cell[at] == '.'); ++at) {
    points += cell[at] == '.' ? 1 : 0;
    figures += cell[at] == '.' ? 0 : 1;
  }
  if (figures == 0 || points > 1) return false;
  if (at == cell.size()) return true;
  if (cell[at] != 'e' && cell[at] != 'E') return false;
  ++at;
  if (at < cell.size() && (cell[at] == '-' || cell[at] == '+')) ++at;
  return at < cell.size() && std::all_of(cell.begin() + static_cast<std::ptrdiff_t>(at), cell.end(), is_digit);
}

/// Bytes of the UTF-8 character at `at`; 0 when it is broken.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF5 ? 0 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (size == 0 || at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80U) return 0;
  }
  return size;
}

bool is_plain(char c) {
  return c >= ' ' && c <= '~';
}

/// Drops one mark of a mean from the front of a length.
bool drop_mean_mark(std::string_view& cell) {
  static constexpr std::array<std::string_view, 8> marks{"~",       "\u2248", "avg.",   "avg",
                                                         "average", "mean",   "median", "ca."};
  for (const std::string_view mark : marks) {
    if (lower(cell.substr(0, mark.size())) != mark) continue;
    cell = trim(cell.substr(mark.size()));
    if (!cell.empty() && (cell.front() == '=' || cell.front() == ':')) cell = trim(cell.substr(1));
    return true;
  }
  return false;
}

}  // namespace

Columns::Columns(const std::vector<std::string_view>& header) : used_(header.size(), false) {
  for (const std::string_view name : header) {
    written_.push_back(clean(name));
    names_.push_back(plain_name(name.substr(0, longest_cell)));
  }
}

Column Columns::find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return {};
  return {static_cast<std::size_t>(found - names_.begin())};
}

bool Columns::has(std::string_view name) const {
  return find(name).exists();
}

bool Columns::has_all(std::initializer_list<std::string_view> names) const {
  return std::all_of(names.begin(), names.end(), [this](std::string_view name) { return has(name); });
}

bool Columns::has_any(std::initializer_list<std::string_view> names) const {
  return std::any_of(names.begin(), names.end(), [this](std::string_view name) { return has(name); });
}

Column Columns::use(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Column column = find(name);
    if (!column.exists()) continue;
    used_[column.index] = true;
    return column;
  }
  return {};
}

std::vector<std::string> Columns::unused() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (!used_[i] && !written_[i].empty()) out.push_back(written_[i]);
  }
  return out;
}

std::string_view cell(const CsvRow& row, Column column) {
  return column.index < row.fields.size() ? row.fields[column.index] : std::string_view();
}

std::optional<double> number(std::string_view cell) {
  cell = trim(cell);
  if (const auto quick = short_decimal(cell)) return quick;
  if (cell.size() > longest_number) return std::nullopt;
  if (contains(cell, ",")) {  // "26,150" has a separator of thousands
    const auto separated = leading_number(cell);
    return separated && separated->rest.empty() ? std::optional<double>(separated->value) : std::nullopt;
  }
  if (!is_decimal(cell)) return std::nullopt;
  const double value = std::strtod(std::string(cell).c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

double number_or_nan(std::string_view cell) {
  return number(cell).value_or(std::numeric_limits<double>::quiet_NaN());
}

std::optional<std::int64_t> count(std::string_view cell) {
  const auto value = number(cell);
  if (!value || *value < 0 || *value > largest_number || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

Length length(std::string_view cell) {
  cell = trim(cell);
  if (cell.empty()) return {};
  if (const auto plain = number(cell)) return {plain, false};
  const bool mean = drop_mean_mark(cell);
  const auto first = leading_number(cell);
  if (!first) return {std::nullopt, true};
  std::string_view rest = trim(first->rest);
  double scale = 1;
  if (!rest.empty() && (rest.front() == 'k' || rest.front() == 'K')) {
    scale = 1024;  // what "8k" means where lengths are written so
    rest = trim(rest.substr(1));
  }
  if (!rest.empty() && rest.front() == '?') rest = trim(rest.substr(1));
  for (const std::string_view unit : {std::string_view("tokens"), std::string_view("tok")}) {
    if (lower(rest.substr(0, unit.size())) == unit) rest = trim(rest.substr(unit.size()));
  }
  const bool explained = rest.empty() || rest.front() == '(';
  if (!explained && !mean) return {std::nullopt, true};
  return {first->value * scale, false};
}

std::optional<double> number_at_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool inside = at > 0 && (is_letter(text[at - 1]) || is_digit(text[at - 1]));
    std::size_t next = at + word.size();
    while (next < text.size() && (text[next] == ' ' || text[next] == '=' || text[next] == ':')) ++next;
    if (inside || next >= text.size() || !is_digit(text[next])) continue;
    if (const auto found = leading_number(text.substr(next, longest_number))) return found->value;
  }
  return std::nullopt;
}

std::string clean(std::string_view cell) {
  if (cell.size() > longest_cell) return clean(shortened(cell, longest_cell - 3));
  if (std::all_of(cell.begin(), cell.end(), is_plain)) return std::string(cell);
  std::string out;
  for (std::size_t at = 0; at < cell.size();) {
    const std::size_t size = character_length(cell, at);
    const bool control = size == 1 && !is_plain(cell[at]);
    if (size == 0) out += '?';
    if (control) out += ' ';
    if (size > 0 && !control) out.append(cell.substr(at, size));
    at += std::max<std::size_t>(size, 1);
  }
  return out;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [text](std::string_view word) { return contains(text, word); });
}

}  // namespace corridor::profile
