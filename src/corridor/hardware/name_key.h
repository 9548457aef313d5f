// SPDX-License-Identifier: Apache-2.0
// How device names are compared: case, spaces, dashes and underscores never matter, maker's words only at a second try.
//
//   squash("NVIDIA H100 80GB HBM3")   "nvidiah10080gbhbm3"
//   core_key("NVIDIA H100 80GB HBM3") "h10080gbhbm3"
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::hardware {

/// Letters (lower case), digits and '+' of a name.
[[nodiscard]] std::string squash(std::string_view name);

/// Like squash, without the words of makers and brands ("NVIDIA", "Tesla", "GeForce", "AMD", "Instinct", …).
[[nodiscard]] std::string core_key(std::string_view name);

/// A name cut into what is outside brackets and what is inside the first pair: "Dell Pro Max (GB10)".
struct BracketSplit {
  std::string outside;
  std::string inside;
};
[[nodiscard]] BracketSplit split_brackets(std::string_view name);

/// Takes a memory size ("80GB", "24 GB", "16GiB") out of a name; the size in decimal gigabytes as printed.
struct MemorySplit {
  std::string rest;
  double gigabytes = 0;
};
[[nodiscard]] std::optional<MemorySplit> split_memory(std::string_view name);

/// Number of single-letter edits (insert, delete, replace, swap of neighbours) between two short texts.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// A name that several devices share, with the one taken by default.
struct Family {
  std::string_view key;  ///< squashed
  std::string_view default_id;
  std::string_view others;  ///< ids for the note, separated by ", "
};
/// Sorted by key.
[[nodiscard]] std::span<const Family> families();
/// The family of a squashed key; null when the key names none.
[[nodiscard]] const Family* find_family(std::string_view key);

}  // namespace corridor::hardware
