// SPDX-License-Identifier: Apache-2.0
// What the addresses of one warp cost: sectors of 32 bytes and lines of 128 in global memory, wavefronts in shared
// memory.
#pragma once

#include <array>
#include <cstdint>

namespace corridor::ptx {

inline constexpr std::uint32_t sector_bytes = 32, line_bytes = 128, warp_lanes = 32, shared_banks = 32, bank_bytes = 4;

/// The sectors of one request, each once, in the order of the lanes that touch them first.
struct Request {
  std::uint32_t sectors = 0;          ///< distinct 32-byte sectors
  std::uint32_t lines = 0;            ///< distinct 128-byte lines
  std::uint32_t wavefronts = 0;       ///< passes through the data stage of L1: bank passes or tags, whichever is more
  std::uint32_t bank_wavefronts = 0;  ///< bank passes alone: 32 banks of 4 bytes, equal words broadcast
  /// Sector numbers (address ÷ 32). 32 lanes of 16 bytes that straddle touch at most 64.
  std::array<std::uint64_t, 64> sector;
};

/// One warp instruction that touches global or local memory. `bytes` is what one lane moves (vector loads: all of it).
/// Lanes not in `mask` are not looked at.
void coalesce(const std::uint64_t* address, std::uint32_t mask, std::uint32_t bytes, Request& out);

/// Clocks that L1 needs for the request when every sector hits: four tags a clock after a fixed start, or the banks.
/// Measured on an H200 for strides of 1 to 15 words (te42kyfo/gpu-benches, gpu-strides): within 0.13 clocks.
[[nodiscard]] double l1_clocks(const Request& request);

/// Wavefronts of a shared-memory instruction: 32 banks of 4 bytes, equal words broadcast; 64-bit lanes in 2 passes of
/// half a warp, 128-bit lanes in 4 of a quarter. The least possible for these lanes is `ideal`; the difference are
/// conflicts.
struct SharedCost {
  std::uint32_t wavefronts = 0, ideal = 0;
};
[[nodiscard]] SharedCost shared_cost(const std::uint32_t* address, std::uint32_t mask, std::uint32_t bytes);
/// Atomics serialise equal addresses too.
[[nodiscard]] SharedCost shared_atomic_cost(const std::uint32_t* address, std::uint32_t mask, std::uint32_t bytes);

}  // namespace corridor::ptx
