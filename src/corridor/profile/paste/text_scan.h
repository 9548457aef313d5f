// SPDX-License-Identifier: Apache-2.0
// Small readers of numbers, units and labels inside one line of text; none of them fails loudly or looks further.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/lower.h"

namespace corridor::profile {

[[nodiscard]] bool is_digit(char c);
[[nodiscard]] bool is_letter(char c);
[[nodiscard]] bool contains(std::string_view text, std::string_view part);
[[nodiscard]] std::string_view trim(std::string_view text);
/// Lower case, and each run of blanks becomes one space.
[[nodiscard]] std::string normalised(std::string_view text);
/// At most `characters` bytes, never cut inside a UTF-8 character; "..." marks a cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t characters);

/// Control characters, which a JSON string can bring in by escapes and a quote by a line end, become blanks.
[[nodiscard]] std::string printable(std::string_view text);

/// A number and what stands after it.
struct Number {
  double value = 0;
  std::string_view rest;
};

/// The number `text` begins with (blanks first): finite, not negative, at most 1e15; "1,234.5" has separators.
[[nodiscard]] std::optional<Number> leading_number(std::string_view text);
/// The number after `label` and an optional ':' or '=' ("Running: 8", "#token: 12", "n_ctx = 4096").
[[nodiscard]] std::optional<Number> number_after(std::string_view line, std::string_view label);
[[nodiscard]] std::optional<double> value_after(std::string_view line, std::string_view label);
/// What stands after `label`, or nothing.
[[nodiscard]] std::optional<std::string_view> after(std::string_view line, std::string_view label);
/// The whole text is a number, with nothing behind it.
[[nodiscard]] std::optional<double> whole_number(std::string_view text);
/// The whole text is an integer, sign allowed, below 1e15.
[[nodiscard]] std::optional<std::int64_t> whole_integer(std::string_view text);
/// "12.5%" and "12.5 %" → 0.125; above 100 % or without the sign: nothing.
[[nodiscard]] std::optional<double> percent(std::optional<Number> number);

/// "71.5 ms", "1m2.5s", "3 seconds" → seconds.
[[nodiscard]] std::optional<double> seconds_of(std::string_view text);
/// "20.5 GiB", "81559MiB", "15 GB" → bytes; KiB, MiB, GiB, TiB and their decimal sisters.
[[nodiscard]] std::optional<double> bytes_of(std::string_view text);
/// The bytes after a label.
[[nodiscard]] std::optional<double> bytes_after(std::string_view line, std::string_view label);

/// Cells of a table row drawn with '|' or box lines, trimmed; empty when the row has no such border.
[[nodiscard]] std::vector<std::string> table_cells(std::string_view line);

}  // namespace corridor::profile
