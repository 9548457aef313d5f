// SPDX-License-Identifier: Apache-2.0
// The pasted text as clean lines: bounded, valid UTF-8, without colours, log stamps, carriage returns, blank lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::profile {

/// Of a larger text only so much of each end is looked at.
inline constexpr std::size_t kept_bytes_at_each_end = 4U << 20U;

/// One line that is not blank.
struct Line {
  std::string_view text;
  std::size_t number = 0;  ///< 1-based in the original text
};

/// Owns the cleaned text; lines point into it.
class PasteLines {
 public:
  explicit PasteLines(std::string_view text);
  PasteLines(const PasteLines&) = delete;
  PasteLines& operator=(const PasteLines&) = delete;

  [[nodiscard]] std::size_t size() const { return spans_.size(); }
  [[nodiscard]] Line operator[](std::size_t at) const;
  /// True when line `at` stands directly below the line before it.
  [[nodiscard]] bool adjacent(std::size_t at) const;
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  struct Span {
    std::size_t begin;
    std::size_t length;
    std::size_t number;
  };

  void add(std::string_view part, std::size_t first_number);
  /// Takes off what a logger wrote in front of the lines.
  void cut_prefixes();

  std::string clean_;
  std::vector<Span> spans_;
  bool cut_ = false;
};

}  // namespace corridor::profile
