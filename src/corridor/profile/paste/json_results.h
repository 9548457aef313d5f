// SPDX-License-Identifier: Apache-2.0
// Reads results that benchmark tools save as JSON, when such an object is pasted.
#pragma once

#include <cstddef>

#include "corridor/profile/paste/paste_lines.h"
#include "corridor/profile/paste/recorder.h"

namespace corridor::profile {

class JsonReader {
 public:
  explicit JsonReader(Recorder& recorder) : recorder_(recorder) {}

  /// Reads the object that begins on line `at`; returns how many lines it took, 0 when it is no known result.
  [[nodiscard]] std::size_t read(const PasteLines& lines, std::size_t at);

 private:
  Recorder& recorder_;
  std::size_t scanned_ = 0;  // bytes, over all attempts
};

}  // namespace corridor::profile
