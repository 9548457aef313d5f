// SPDX-License-Identifier: Apache-2.0
// Counts distinct sectors, a bit each.
#include "corridor/ptx/memory/footprint.h"

namespace corridor::ptx {

void Footprint::touch(std::uint64_t sector) {
  std::uint64_t& word = touched_[sector / 64];
  const std::uint64_t bit = std::uint64_t{1} << (sector % 64);
  sectors_ += (word & bit) == 0 ? 1 : 0;
  word |= bit;
}

void Footprint::add(std::span<const AccessLog> blocks) {
  for (const AccessLog& log : blocks) {
    for (const AccessLog::Entry& entry : log.entries) {
      for (std::uint32_t i = 0; i < entry.count; ++i) {
        touch(entry.run ? log.sectors[entry.first] + i : log.sectors[entry.first + i]);
      }
    }
  }
}

}  // namespace corridor::ptx
