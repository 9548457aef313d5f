// SPDX-License-Identifier: Apache-2.0
// What the readers of `nsys stats` share: its output is CSV tables between lines of a log.
#pragma once

#include <cstddef>
#include <string_view>

namespace corridor::profile::nsys {

inline constexpr std::size_t most_stats_bytes = std::size_t{256} << 20U;

struct StatsLine {
  std::string_view text;  ///< without its end
  std::size_t end = 0;    ///< where the next line begins
};

/// The line that begins at `at`.
[[nodiscard]] StatsLine stats_line(std::string_view text, std::size_t at);

/// Where the table whose header begins at `at` ends: at the next empty line, or at the end of the text.
[[nodiscard]] std::size_t table_end(std::string_view text, std::size_t at);

/// Seconds that one unit of a column is, from its head in lower case: "start (us)" is 1e-6; ns where it tells none.
[[nodiscard]] double column_unit_s(std::string_view head);

}  // namespace corridor::profile::nsys
