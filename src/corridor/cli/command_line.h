// SPDX-License-Identifier: Apache-2.0
// What surrounds the parser: help that fits 80 columns, arguments checked before, and its errors in a user's words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace corridor::cli {

/// Help whose lines have at most 80 columns.
[[nodiscard]] std::shared_ptr<CLI::Formatter> narrow_formatter();

/// The words after the program's name. `help` and `help COMMAND` become --help of the program or of the command.
[[nodiscard]] std::vector<std::string> words_of(int argc, char** argv);

/// What is wrong with the words before they are parsed: an empty value. Empty when nothing is.
[[nodiscard]] std::string word_fault(const std::vector<std::string>& words);

/// A parse error as one line without the program's name: what, where, what to do.
[[nodiscard]] std::string parse_fault(const CLI::App& app, const std::vector<std::string>& words,
                                      const CLI::ParseError& error);

}  // namespace corridor::cli
