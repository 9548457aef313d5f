// SPDX-License-Identifier: Apache-2.0
// Small parsers for the text of /proc and /sys: lines, "key : value" pairs, whole numbers, sizes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "corridor/units/units.h"

namespace corridor::measure {

/// `text` without spaces, tabs and control characters at its ends.
[[nodiscard]] std::string_view trim(std::string_view text);
/// Takes the next line (without its end) off `text`; empty optional at the end.
[[nodiscard]] std::optional<std::string_view> take_line(std::string_view& text);
/// Takes the next word off `text`; empty optional when there is none.
[[nodiscard]] std::optional<std::string_view> take_word(std::string_view& text);
/// "model name : Xeon" → ("model name", "Xeon"); empty without a colon.
[[nodiscard]] std::optional<std::pair<std::string_view, std::string_view>> key_value(std::string_view line);
/// A whole number, decimal or with 0x, alone in the text (spaces around it do not matter); at most 2^53.
[[nodiscard]] std::optional<double> whole_number(std::string_view text);
/// A decimal number like "3400.012"; empty for anything else, for a negative one and beyond 1e15.
[[nodiscard]] std::optional<double> decimal_number(std::string_view text);
/// "32K", "1024K", "96M", "512 kB" in units of 1024; a bare number is bytes.
[[nodiscard]] std::optional<units::Bytes> binary_size(std::string_view text);
/// Processors in a list like "0-3,8,10-11"; empty when it is not one.
[[nodiscard]] std::optional<int> count_in_list(std::string_view text);
/// Name that can stand in one line of a message: control characters become spaces, at most 128 bytes.
[[nodiscard]] std::string clean_name(std::string_view text);
/// True for `stem` followed by digits only: is_numbered("card0", "card").
[[nodiscard]] bool is_numbered(std::string_view name, std::string_view stem);

}  // namespace corridor::measure
