// SPDX-License-Identifier: Apache-2.0
// Files as the readers need them: mapped whole, read-only, with one clear error when that cannot be done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"

namespace corridor {

/// A read-only mapping of a regular file. Movable; unmapped on destruction. An empty file maps to an empty view.
class MappedFile {
 public:
  /// Fails at once, without waiting, on what is no regular file.
  [[nodiscard]] static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::string_view text() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

[[nodiscard]] bool is_folder(const std::string& path);
[[nodiscard]] bool is_file(const std::string& path);
/// Anything at all of that name: a file, a folder, a pipe, a device.
[[nodiscard]] bool exists(const std::string& path);
/// Names (not paths) of the entries of a folder, sorted; empty when it cannot be read.
[[nodiscard]] std::vector<std::string> folder_entries(const std::string& path);
/// Whole text of a small file (a config, a device file); fails above `max_bytes`.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes = 64U << 20U);
/// Writes `text` to `path`, replacing a regular file; a pipe, folder or device other than /dev/stdout, /dev/stderr and
/// /dev/null is refused without waiting.
[[nodiscard]] Result<std::size_t> write_text_file(const std::string& path, std::string_view text);

}  // namespace corridor
