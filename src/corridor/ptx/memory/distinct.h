// SPDX-License-Identifier: Apache-2.0
// A small set of numbers that is made and thrown away for one warp: says whether a number is new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace corridor::ptx {

/// At most `capacity` numbers; the slots are twice that, so that a search ends after few steps.
template <class Number, std::size_t capacity>
class DistinctSet {
 public:
  /// Where `number` stands in the set, to which it is added when it is new; the last place when the set is full.
  std::size_t place_of(Number number) {
    if (count_ != 0 && numbers_[last_] == number) return last_;  // neighbours are often equal
    std::size_t slot = static_cast<std::size_t>((std::uint64_t{number} * 0x9E3779B97F4A7C15) >> shift);
    for (; place_[slot] != 0; slot = (slot + 1) % slots) {
      if (numbers_[place_[slot] - 1U] == number) return last_ = place_[slot] - 1U;
    }
    if (count_ == capacity) return capacity - 1;
    numbers_[count_] = number;
    last_ = count_;
    place_[slot] = static_cast<std::uint8_t>(++count_);
    return last_;
  }
  /// True when `number` was not in the set. A full set takes no more and says false.
  bool add(Number number) {
    const std::size_t before = count_;
    place_of(number);
    return count_ != before;
  }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  static_assert(capacity < 256 && (capacity & (capacity - 1)) == 0);
  static constexpr std::size_t slots = 2 * capacity;
  static constexpr unsigned shift = 64 - __builtin_ctzll(slots);
  std::array<std::uint8_t, slots> place_{};  ///< number of the entry, from 1; 0: free
  std::array<Number, capacity> numbers_;     // NOLINT(cppcoreguidelines-pro-type-member-init): read up to count_
  std::size_t count_ = 0, last_ = 0;         ///< last: the place that was asked for last
};

}  // namespace corridor::ptx
