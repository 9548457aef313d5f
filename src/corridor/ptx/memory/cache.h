// SPDX-License-Identifier: Apache-2.0
// One cache of 128-byte lines, each of four sectors of its own: set-associative, the line used longest ago leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corridor::ptx {

/// What one access found and pushed out. Masks have a bit for each sector of a line.
struct CacheAnswer {
  std::uint32_t hit = 0;           ///< sectors that were there
  std::uint32_t written_back = 0;  ///< dirty sectors of the line that had to leave
  std::uint64_t written_back_line = 0;
};

class SectorCache {
 public:
  SectorCache() = default;
  /// `bytes` below one line: nothing is ever held.
  SectorCache(std::uint64_t bytes, std::uint32_t ways);
  /// Reads the sectors of `mask`; those that miss are there afterwards.
  CacheAnswer read(std::uint64_t line, std::uint32_t mask) { return touch(line, mask, 0); }
  /// Writes whole sectors: they need not be read first, and are dirty afterwards.
  CacheAnswer write(std::uint64_t line, std::uint32_t mask) { return touch(line, mask, mask); }
  /// Drops the sectors of `mask`; what was dirty there is lost, so only caches that write through use it.
  void invalidate(std::uint64_t line, std::uint32_t mask);
  /// Number of dirty sectors; they are clean afterwards.
  [[nodiscard]] std::uint64_t clean();
  [[nodiscard]] bool empty() const { return sets_ == 0; }
  /// Which of `parts` equal shares of the sets a line falls into: accesses to different shares touch nothing in common.
  [[nodiscard]] std::size_t part_of(std::uint64_t line, std::size_t parts) const {
    return parts == 1 || sets_ == 0 ? 0 : set_of(line) * parts / sets_;
  }
  /// Asks the host for the set of a line that is needed soon.
  void prefetch(std::uint64_t line) const;

 private:
  // An entry is the line number + 1, dirty and valid bits: line << 8 | dirty << 4 | valid; 0 is free.
  static constexpr unsigned dirty_shift = 4, line_shift = 8;
  [[nodiscard]] std::size_t set_of(std::uint64_t line) const;
  CacheAnswer touch(std::uint64_t line, std::uint32_t mask, std::uint32_t dirty);

  std::uint64_t sets_ = 0, inverse_ = 0;
  std::uint32_t ways_ = 0;
  struct alignas(64) HostLine {  // where sets begin at lines of the host, none touches more lines than it fills
    std::uint64_t entry[8] = {};
  };
  [[nodiscard]] const std::uint64_t* set_at(std::uint64_t line) const {
    return reinterpret_cast<const std::uint64_t*>(entries_.data()) + set_of(line) * ways_;
  }
  std::vector<HostLine> entries_;  ///< of each set, the one used last in front
};

}  // namespace corridor::ptx
