// SPDX-License-Identifier: Apache-2.0
// Reads serve and benchmark commands, with their environment, out of pasted lines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "corridor/profile/paste/paste_lines.h"
#include "corridor/profile/paste/recorder.h"

namespace corridor::profile {

class CommandReader {
 public:
  explicit CommandReader(Recorder& recorder) : recorder_(recorder) {}

  /// Reads the commands that begin on line `at`; returns how many lines they took, 0 when there is none.
  [[nodiscard]] std::size_t read(const PasteLines& lines, std::size_t at);
  /// An environment variable or a parameter of ollama on a line of its own.
  [[nodiscard]] bool read_setting(const Line& line);
  /// Writes down an ollama configuration that came without a command.
  void finish();

 private:
  std::size_t tried_ = 0;
  std::optional<ServeCommand> settings_;  // of ollama, from lines of their own
  Recorder& recorder_;
};

}  // namespace corridor::profile
