// SPDX-License-Identifier: Apache-2.0
// A long file written piece by piece: under its own name only once it is whole.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "corridor/base/result.h"

namespace corridor {

/// Writes beside `path` and takes its place at `finish`, so that the file that is read may be the one that is replaced.
/// Without `finish` nothing is left behind. /dev/stdout and its like are written directly.
class FileWriter {
 public:
  /// Fails like write_text_file does: on a folder, a pipe, a place that may not be written.
  [[nodiscard]] static Result<FileWriter> open(const std::string& path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&& other) noexcept;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  [[nodiscard]] Result<int> write(std::string_view bytes);
  /// Closes the file and gives it its name. Fails when not all could be kept.
  [[nodiscard]] Result<int> finish();

 private:
  struct State;
  explicit FileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace corridor
