// SPDX-License-Identifier: Apache-2.0
// A comma without a blank behind it separates thousands; brackets and blanks separate sizes.
#include "corridor/profile/ncu/launch_sizes.h"

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/cells.h"

namespace corridor::profile {
namespace {

constexpr std::int64_t most_blocks = 0xFFFFFFFF;

}  // namespace

std::optional<std::array<std::uint32_t, 3>> parse_sizes(std::string_view text) {
  text = trim(text);
  const bool list = contains(text, "(") || contains(text, " ");
  if (!list) {
    const auto one = count(text);
    if (!one || *one < 1 || *one > most_blocks) return std::nullopt;
    return std::array<std::uint32_t, 3>{static_cast<std::uint32_t>(*one), 1, 1};
  }
  std::array<std::uint32_t, 3> sizes{1, 1, 1};
  std::size_t found = 0;
  for (std::size_t at = 0; at < text.size() && found < sizes.size();) {
    if (!is_digit(text[at])) {
      ++at;
      continue;
    }
    std::int64_t value = 0;
    for (; at < text.size() && is_digit(text[at]) && value <= most_blocks; ++at) value = value * 10 + (text[at] - '0');
    if (value > most_blocks) return std::nullopt;
    sizes[found++] = static_cast<std::uint32_t>(value);
  }
  if (found == 0) return std::nullopt;
  return sizes;
}

}  // namespace corridor::profile
