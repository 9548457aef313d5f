// SPDX-License-Identifier: Apache-2.0
// Flags that take a number, as people write one: 512, 8k, 1e8, 0.7. Anything else is refused with what to give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace corridor::cli {

/// A flag whose value is a whole number of zero or more, with K, M, B or T when wanted. `give` completes the message
/// "--batch abc: is not a number; give …".
CLI::Option* add_whole(CLI::App& command, const std::string& flag, std::optional<std::int64_t>& target,
                       const std::string& help, const std::string& give);
CLI::Option* add_whole(CLI::App& command, const std::string& flag, std::optional<double>& target,
                       const std::string& help, const std::string& give);
/// The same for any number of zero or more.
CLI::Option* add_number(CLI::App& command, const std::string& flag, std::optional<double>& target,
                        const std::string& help, const std::string& give);

}  // namespace corridor::cli
