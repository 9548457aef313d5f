// SPDX-License-Identifier: Apache-2.0
// Recorded commands and their output, as they stand in a golden file or in a fenced ```console block of a document.
//
//   # what this file shows
//   $ corridor predict meta-llama/Llama-3.1-70B --device h100-sxm
//   Llama-3.1-70B, bf16, on 1 × H100 SXM
//   …
//   [exit 1]
//
// A line that is only "…" or "..." stands for any number of lines. Without "[exit N]" the exit code is 0. Both streams
// are recorded as a terminal shows them. `corridor` and any path that ends in `/corridor` name the program under test;
// a backslash at the end of a command continues it; "{tmp}" stands for a fresh folder. In a golden file, lines that
// start with '#' before the first command or after an [exit N] line are comments. In a document, commands other than
// corridor's are left alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corridor::test {

/// One recorded command. Lines are counted from 0; [first_line, end_line) is the recorded output with its exit line.
struct GoldenCase {
  std::string command;  ///< after "$ ", continuation lines joined
  std::vector<std::string> output;
  int exit_code = 0;
  std::size_t command_line = 0;
  std::size_t first_line = 0;
  std::size_t end_line = 0;
  bool is_corridor = false;  ///< the program under test, not cmake or apt-get
};

[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);
[[nodiscard]] std::vector<GoldenCase> parse_golden(const std::vector<std::string>& lines, bool is_document);

/// Empty when `actual` is what `expected` (with its "…" lines) says; else the first difference, in words.
/// Blank lines at the end do not count.
[[nodiscard]] std::string first_difference(const std::vector<std::string>& expected,
                                           const std::vector<std::string>& actual);

/// Whether the recorded output has a line that stands for any number of lines: then `--update` leaves it alone.
[[nodiscard]] bool has_gap(const std::vector<std::string>& expected);

/// The lines of the file with the recorded output of `golden` replaced by `output` and `exit_code`.
[[nodiscard]] std::vector<std::string> replace_output(const std::vector<std::string>& lines, const GoldenCase& golden,
                                                      const std::vector<std::string>& output, int exit_code);

}  // namespace corridor::test
