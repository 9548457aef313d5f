// SPDX-License-Identifier: Apache-2.0
// What a function returns when input can make it fail: a value, or one Error a person can act on.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace corridor {

/// One failure in a user's terms. `line()` prints "where: what; fix" on a single line.
struct Error {
  std::string what;   ///< what is wrong, e.g. "num_hidden_layers is -3"
  std::string where;  ///< file, line, flag or key; may be empty
  std::string fix;    ///< what to do about it; may be empty

  [[nodiscard]] std::string line() const {
    std::string out = where.empty() ? what : where + ": " + what;
    if (!fix.empty()) out += "; " + fix;
    return out;
  }
};

template <class T>
using Result = tl::expected<T, Error>;

/// Builds the failing branch of a Result.
[[nodiscard]] inline tl::unexpected<Error> fail(std::string what, std::string where = {}, std::string fix = {}) {
  return tl::unexpected<Error>(Error{std::move(what), std::move(where), std::move(fix)});
}

}  // namespace corridor
