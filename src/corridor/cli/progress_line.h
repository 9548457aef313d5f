// SPDX-License-Identifier: Apache-2.0
// One line on the terminal that says what is being done; nothing where nobody looks.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace corridor::cli {

class ProgressLine {
 public:
  /// Replaces the line.
  void show(const std::string& what) {
    if (!on_terminal_) return;
    clear();
    std::fprintf(stderr, "%s …", what.c_str());
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

 private:
  bool on_terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
};

}  // namespace corridor::cli
