// SPDX-License-Identifier: Apache-2.0
// Looks lines up in the order of their last use; a set is a short array, so this is a compare and a shift.
#include "corridor/ptx/memory/cache.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "corridor/ptx/memory/coalesce.h"

namespace corridor::ptx {
namespace {

__extension__ using Product = unsigned __int128;

}  // namespace

SectorCache::SectorCache(std::uint64_t bytes, std::uint32_t ways) {
  constexpr std::uint64_t most_lines = std::uint64_t{1} << 26;  // 8 GiB: more than any device has
  const std::uint64_t lines = std::min(bytes / line_bytes, most_lines);
  if (lines == 0) return;
  ways_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ways, 1, lines));
  sets_ = lines / ways_;
  inverse_ = ~std::uint64_t{0} / sets_;
  constexpr std::uint64_t in_line = sizeof(HostLine) / sizeof(std::uint64_t);
  entries_.resize((sets_ * ways_ + in_line - 1) / in_line);
}

/// Lines in a row take the sets in turn. Each round starts at another set, so that strides of a power of two spread as
/// they do behind a device's (unknown) hash.
std::size_t SectorCache::set_of(std::uint64_t line) const {
  std::uint64_t round = static_cast<std::uint64_t>((Product{line} * inverse_) >> 64);
  std::uint64_t place = line - round * sets_;
  while (place >= sets_) {
    place -= sets_;
    ++round;
  }
  constexpr std::uint64_t odd = 0x9E3779B1;
  const std::uint64_t turn = ((round & 0xFFFFFFFF) * odd >> 8 & 0xFFFFFF) * sets_ >> 24;
  place += turn;
  return static_cast<std::size_t>(place < sets_ ? place : place - sets_);
}

void SectorCache::prefetch(std::uint64_t line) const {
  if (sets_ == 0) return;
  constexpr std::size_t host_line = sizeof(HostLine) / sizeof(std::uint64_t);
  const std::uint64_t* const set = set_at(line);
  for (std::size_t way = 0; way < std::min<std::size_t>(ways_, 2 * host_line); way += host_line) {
    __builtin_prefetch(set + way);
  }
}

CacheAnswer SectorCache::touch(std::uint64_t line, std::uint32_t mask, std::uint32_t dirty) {
  CacheAnswer answer;
  if (sets_ == 0) {
    answer.written_back = dirty;
    answer.written_back_line = line;
    return answer;
  }
  std::uint64_t* const set = const_cast<std::uint64_t*>(set_at(line));
  const std::uint64_t bits = mask | std::uint64_t{dirty} << dirty_shift;
  std::uint32_t way = 0;
  while (way + 1 < ways_ && set[way] >> line_shift != line + 1) ++way;
  std::uint64_t entry = set[way];  // the one that is found, or the last
  if (entry >> line_shift == line + 1) {
    answer.hit = static_cast<std::uint32_t>(entry) & mask;
    entry |= bits;
  } else {
    constexpr std::uint64_t sector_bits = 0xF;
    answer.written_back = static_cast<std::uint32_t>(entry >> dirty_shift & sector_bits);
    answer.written_back_line = (entry >> line_shift) - 1;
    entry = (line + 1) << line_shift | bits;
  }
  std::memmove(set + 1, set, way * sizeof(*set));
  set[0] = entry;
  return answer;
}

void SectorCache::invalidate(std::uint64_t line, std::uint32_t mask) {
  if (sets_ == 0) return;
  std::uint64_t* const set = const_cast<std::uint64_t*>(set_at(line));
  for (std::uint32_t way = 0; way < ways_; ++way) {
    if (set[way] >> line_shift != line + 1) continue;
    set[way] &= ~(mask | std::uint64_t{mask} << dirty_shift);
    return;
  }
}

std::uint64_t SectorCache::clean() {
  constexpr std::uint64_t dirty_bits = 0xF0;
  std::uint64_t count = 0;
  for (HostLine& line : entries_) {
    for (std::uint64_t& entry : line.entry) {
      count += static_cast<std::uint64_t>(std::popcount(entry & dirty_bits));
      entry &= ~dirty_bits;
    }
  }
  return count;
}

}  // namespace corridor::ptx
