// SPDX-License-Identifier: Apache-2.0
// Loops over lanes that are not one instruction's arithmetic: addresses, and sums of half precision.
#pragma once

#include <cstdint>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// The addresses of a warp's lanes.
struct LaneAddresses {
  enum class Shape : std::uint8_t { scattered, row /* lane after lane */, uniform };
  Shape shape = Shape::scattered;
  std::uint32_t first_lane = 0;
  std::uint64_t least = 0, most = 0;  ///< of active lanes
  std::uint64_t together = 0;         ///< all addresses or-ed: tells alignment
  alignas(64) std::uint64_t of[32];
};

struct LaneKernels {
  /// Fills `out` from a row of 32 registers of 64 bits, or of 32 bits when `narrow`. `mask` has a lane. `stride`: bytes
  /// of one lane's access.
  void (*addresses)(const void* row, bool narrow, std::int64_t offset, std::uint32_t mask, std::uint32_t stride,
                    LaneAddresses& out);
  std::uint32_t (*add_f16)(std::uint32_t a, std::uint32_t b);
  std::uint32_t (*add_bf16)(std::uint32_t a, std::uint32_t b);
  float (*f16_to_float)(std::uint32_t h);
  std::uint32_t (*half_of)(double v);  ///< the nearest f16
};
[[nodiscard]] const LaneKernels& lane_kernels();

}  // namespace corridor::ptx
