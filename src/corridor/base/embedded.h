// SPDX-License-Identifier: Apache-2.0
// The table of data files compiled into the program (generated from data/ at build).
#pragma once

#include <span>
#include <string_view>

namespace corridor {

struct EmbeddedFile {
  std::string_view path;  ///< relative to data/, sorted
  std::string_view text;
};

[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

}  // namespace corridor
