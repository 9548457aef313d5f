// SPDX-License-Identifier: Apache-2.0
// Starts a program without a shell and collects what it prints: the way every test outside a module uses the binary.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::test {

/// A command line after quoting is resolved: arguments, and the file given with `< file`.
struct CommandLine {
  std::vector<std::string> arguments;
  std::string input_file;  ///< empty: standard input is empty
};

/// Splits a line as a POSIX shell would, for the parts the tests need: blanks, 'single' and "double" quotes, a
/// backslash before one character, and `< file`. Empty when a quote stays open, a file is missing after `<`, or the
/// line uses another shell feature (pipe, `>`, `&`, `;`, `$`, a backquote outside quotes).
[[nodiscard]] std::optional<CommandLine> split_command_line(std::string_view line);

/// What a program did. `output` and `errors` are whole; both streams go to `output` when they were merged.
struct ProcessResult {
  int exit_code = -1;  ///< 128 + signal when a signal ended it; 127 when it could not be started
  bool timed_out = false;
  std::string output;
  std::string errors;
};

struct ProcessOptions {
  bool merge_streams = false;           ///< one stream, in the order a terminal would show
  std::chrono::seconds time_limit{60};  ///< then the program is ended
};

/// Runs `command` in this process's folder, with NO_COLOR=1, LC_ALL=C.UTF-8 and COLUMNS unset.
[[nodiscard]] ProcessResult run_process(const CommandLine& command, const ProcessOptions& options = {});

}  // namespace corridor::test
