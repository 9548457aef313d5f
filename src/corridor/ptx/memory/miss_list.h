// SPDX-License-Identifier: Apache-2.0
// What passes from L1 to L2, packed: a wave of scattered loads has millions of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "corridor/ptx/memory/hierarchy.h"

namespace corridor::ptx {

/// What a block asks of one part of L2, turn by turn, in 8 bytes each: line, path and sectors; between two turns a mark
/// that says how many turns lie between.
class MissList {
 public:
  void add(std::uint32_t turn, std::uint64_t line, CachePath path, std::uint32_t mask) {
    if (turn != last_turn_) {
      words_.push_back(std::uint64_t{turn - last_turn_} << line_shift | mark);
      last_turn_ = turn;
    }
    words_.push_back(line << line_shift | static_cast<std::uint64_t>(path) << path_shift | mask);
  }
  void clear() {
    words_.clear();
    last_turn_ = at_turn_ = 0;
    at_ = 0;
  }
  [[nodiscard]] bool done() const { return at_ == words_.size(); }
  /// Calls `visit(line, path, mask)` for what is asked for in this turn, and goes on to the next one.
  template <class Visit>
  void take(std::uint32_t turn, Visit&& visit) {
    if (at_turn_ == turn) {
      for (; at_ < words_.size() && (words_[at_] & low) != mark; ++at_) see(words_[at_], visit);
    }
    if (at_ < words_.size() && (words_[at_] & low) == mark)
      at_turn_ += static_cast<std::uint32_t>(words_[at_++] >> line_shift);
  }
  /// The same without going on.
  template <class Visit>
  void look(std::uint32_t turn, Visit&& visit) const {
    if (at_turn_ != turn) return;
    for (std::size_t i = at_; i < words_.size() && (words_[i] & low) != mark; ++i) see(words_[i], visit);
  }

 private:
  static constexpr unsigned line_shift = 8, path_shift = 4;
  static constexpr std::uint64_t low = 0xFF, mark = 0xF0;
  template <class Visit>
  static void see(std::uint64_t word, Visit&& visit) {
    visit(word >> line_shift, static_cast<CachePath>(word >> path_shift & 0xF), static_cast<std::uint32_t>(word & 0xF));
  }
  std::vector<std::uint64_t> words_;
  std::size_t at_ = 0;
  std::uint32_t last_turn_ = 0, at_turn_ = 0;
};

}  // namespace corridor::ptx
