// SPDX-License-Identifier: Apache-2.0
// Refuses the texts on which toml++ 3.3 has undefined behaviour, before it sees them (all found by fuzzing): a table
// header without a name ("[}x]"), a missing value ("[1,}"), and characters outside ASCII where no string or comment is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace corridor::hardware {

struct TextFault {
  std::size_t line = 0;
  std::string what, fix;
};

/// The first fault of a TOML text of one-line strings; empty when it may be parsed.
[[nodiscard]] std::optional<TextFault> toml_fault(std::string_view text);

}  // namespace corridor::hardware
