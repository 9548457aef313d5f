// SPDX-License-Identifier: Apache-2.0
// Reads numbers by units::parse_count and words the refusals.
#include "corridor/cli/number_flags.h"

#include <cmath>
#include <cstdlib>

#include "corridor/base/nearest.h"
#include "corridor/units/text.h"

namespace corridor::cli {
namespace {

constexpr double largest_whole = 9e15;  // below 2^53: every whole number up to here is exact

[[noreturn]] void refuse(const std::string& flag, const std::string& typed, const char* what, const std::string& give) {
  throw CLI::ValidationError(flag + " " + shown_word(typed, 40), std::string(what) + "; give " + give);
}

double read(const std::string& flag, const std::string& typed, const std::string& give) {
  if (const auto value = units::parse_count(typed)) return *value;
  if (!typed.empty() && typed.front() == '-' && units::parse_count(typed.substr(1))) {
    refuse(flag, typed, "is negative", give);
  }
  const bool digits = !typed.empty() && typed.front() >= '0' && typed.front() <= '9';
  if (digits && std::isinf(std::strtod(typed.c_str(), nullptr))) refuse(flag, typed, "is too large", give);
  refuse(flag, typed, "is not a number", give);
}

double read_whole(const std::string& flag, const std::string& typed, const std::string& give) {
  const double value = read(flag, typed, give);
  if (value > largest_whole) refuse(flag, typed, "is too large", give);
  if (value != std::floor(value)) refuse(flag, typed, "is not a whole number", give);
  return value;
}

}  // namespace

CLI::Option* add_whole(CLI::App& command, const std::string& flag, std::optional<std::int64_t>& target,
                       const std::string& help, const std::string& give) {
  const auto read_it = [&target, flag, give](const std::string& typed) {
    target = static_cast<std::int64_t>(read_whole(flag, typed, give));
  };
  return command.add_option_function<std::string>(flag, read_it, help)->type_name("N");
}

CLI::Option* add_whole(CLI::App& command, const std::string& flag, std::optional<double>& target,
                       const std::string& help, const std::string& give) {
  const auto read_it = [&target, flag, give](const std::string& typed) { target = read_whole(flag, typed, give); };
  return command.add_option_function<std::string>(flag, read_it, help)->type_name("N");
}

CLI::Option* add_number(CLI::App& command, const std::string& flag, std::optional<double>& target,
                        const std::string& help, const std::string& give) {
  const auto read_it = [&target, flag, give](const std::string& typed) { target = read(flag, typed, give); };
  return command.add_option_function<std::string>(flag, read_it, help)->type_name("X");
}

}  // namespace corridor::cli
