// SPDX-License-Identifier: Apache-2.0
// Columns found by name and cells read as numbers, lengths, counts and clean text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/points/csv.h"

namespace corridor::profile {

/// A column, or none: a row then gives an empty cell.
struct Column {
  std::size_t index = static_cast<std::size_t>(-1);
  [[nodiscard]] bool exists() const { return index != static_cast<std::size_t>(-1); }
};

/// The header line. Names are compared in lower case, with every run of other characters as one underscore:
/// "Latency (ms)" is "latency_ms".
class Columns {
 public:
  explicit Columns(const std::vector<std::string_view>& header);
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] bool has_all(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] bool has_any(std::initializer_list<std::string_view> names) const;
  /// The first of these names that stands in the header; it counts as read from then on.
  Column use(std::initializer_list<std::string_view> names);
  /// What no layout read, as written.
  [[nodiscard]] std::vector<std::string> unused() const;

 private:
  [[nodiscard]] Column find(std::string_view name) const;
  std::vector<std::string> written_;
  std::vector<std::string> names_;
  std::vector<bool> used_;
};

/// The cell of a row; empty when the row is short or the column is absent.
[[nodiscard]] std::string_view cell(const CsvRow& row, Column column);

/// The whole cell as a finite number; sign, exponent and "26,150" are allowed, nothing else.
[[nodiscard]] std::optional<double> number(std::string_view cell);
/// The same, NaN when it is none: a value that is checked later.
[[nodiscard]] double number_or_nan(std::string_view cell);
/// A whole number of at least 0 and at most 1e15.
[[nodiscard]] std::optional<std::int64_t> count(std::string_view cell);

/// A length in tokens: "512", "~10 (short prompt)", "avg 857", "1024?", "8k". Words alone give no value but are marked.
struct Length {
  std::optional<double> value;
  bool words = false;  ///< the cell says something that is no one length: "ShareGPT mix", "up to 1024", "128-2048"
};
[[nodiscard]] Length length(std::string_view cell);

/// The number that follows `word` in lower-case text, where no letter or digit stands before it: "tg" in "; tg128".
/// Blanks, '=' and ':' may stand between. The first place that fits counts.
[[nodiscard]] std::optional<double> number_at_word(std::string_view text, std::string_view word);

/// A cell for people: control characters and broken UTF-8 replaced, at most 2000 bytes.
[[nodiscard]] std::string clean(std::string_view cell);

/// True when `text` contains one of the words.
[[nodiscard]] bool contains_any(std::string_view text, std::initializer_list<std::string_view> words);

}  // namespace corridor::profile
