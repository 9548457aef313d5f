// SPDX-License-Identifier: Apache-2.0
// Grid and block sizes as the tools write them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corridor::profile {

/// "(128, 2, 1)", "128 2 1" or "12,288" (one number) → up to three sizes, the others 1; empty for anything else.
[[nodiscard]] std::optional<std::array<std::uint32_t, 3>> parse_sizes(std::string_view text);

}  // namespace corridor::profile
