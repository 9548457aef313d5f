// SPDX-License-Identifier: Apache-2.0
// Splits a pasted command into words the way a shell would, tolerant of what pasting does to it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/paste/paste_lines.h"

namespace corridor::profile {

struct Word {
  std::string text;
  bool quoted = false;  ///< some part stood in quotes: the word is no flag name
  bool end = false;     ///< | && ; > or a back-tick: the command ends here
};

/// One command line with its continuation lines.
struct LogicalLine {
  std::string text;       ///< physical lines joined by '\n'
  std::size_t lines = 0;  ///< how many lines of the paste it took
};

/// Joins line `at` with those that continue it: after a trailing '\', '^' or '`', inside an open quote, or when the
/// next line begins with a flag.
[[nodiscard]] LogicalLine logical_line(const PasteLines& lines, std::size_t at);

/// At most 1,000 words; a quote that never closes is an ordinary character.
[[nodiscard]] std::vector<Word> shell_words(std::string_view text);

}  // namespace corridor::profile
