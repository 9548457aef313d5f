// SPDX-License-Identifier: Apache-2.0
// Text in columns: how wide UTF-8 text is on a terminal, how it is made safe, wrapped and padded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::report {

/// Terminal cells `text` takes: one a code point, two for wide East Asian ones, none for combining marks.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` with control characters as spaces (newlines stay) and broken UTF-8 as U+FFFD: a model's name must not be able
/// to move the cursor or break the page.
[[nodiscard]] std::string clean(std::string_view text);

/// Lines of at most `width` cells, broken at spaces, or inside a word that alone is wider. The spaces that open a line
/// are kept on it. Never empty.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// `text` filled with spaces to `width` cells, on the right or (for numbers) on the left.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

/// Cells of the widest word: what a column needs to show the text without breaking a word.
[[nodiscard]] std::size_t widest_word(std::string_view text);

/// "sources" of a dotted key as a heading: its last part with a capital and without underscores.
[[nodiscard]] std::string heading_of(std::string_view key);

}  // namespace corridor::report
