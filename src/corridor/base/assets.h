// SPDX-License-Identifier: Apache-2.0
// The data the program ships (devices, models, engines): embedded at build, or read from a folder given with --data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"

namespace corridor {

/// Read-only view of the `data/` tree. Paths are relative to it: "devices/h100-sxm.toml".
class Assets {
 public:
  /// The embedded data; with `folder`, files found there take the place of embedded ones of the same path.
  [[nodiscard]] static Result<Assets> open(std::optional<std::string> folder = std::nullopt);

  /// Text of one file. The view lives as long as this object.
  [[nodiscard]] Result<std::string_view> read(const std::string& path) const;
  /// Paths of the files directly in `folder` ("devices"), sorted.
  [[nodiscard]] std::vector<std::string> list(std::string_view folder) const;
  /// Where a path comes from, for messages: "data/devices/x.toml (embedded)" or the override's path.
  [[nodiscard]] std::string describe(const std::string& path) const;

 private:
  struct File {
    std::string path;
    std::string_view embedded;  ///< empty when overridden
    std::string on_disk;        ///< path on disk when overridden
    mutable std::optional<std::string> loaded;
  };
  std::vector<File> files_;  ///< sorted by path
};

}  // namespace corridor
