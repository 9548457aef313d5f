// SPDX-License-Identifier: Apache-2.0
// Which sectors a run touched at all: each of them passes through L2 and DRAM at least once, however large the caches.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "corridor/ptx/memory/hierarchy.h"

namespace corridor::ptx {

class Footprint {
 public:
  void add(std::span<const AccessLog> blocks);
  [[nodiscard]] std::uint64_t sectors() const { return sectors_; }

 private:
  void touch(std::uint64_t sector);
  std::unordered_map<std::uint64_t, std::uint64_t> touched_;  ///< 64 sectors a word
  std::uint64_t sectors_ = 0;
};

}  // namespace corridor::ptx
