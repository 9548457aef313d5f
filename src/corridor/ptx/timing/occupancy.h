// SPDX-License-Identifier: Apache-2.0
// How many blocks and warps of a kernel one SM holds, and what limits them.
#pragma once

#include <cstdint>
#include <string_view>

#include "corridor/base/result.h"
#include "corridor/ptx/timing/machine.h"

namespace corridor::ptx {

struct BlockNeeds {
  std::uint32_t threads = 0, registers_per_thread = 0;
  std::uint64_t shared_bytes = 0;  ///< static and dynamic
};

struct Occupancy {
  enum class Limit : std::uint8_t { warps, blocks, registers, shared_memory };
  std::uint32_t blocks = 0, warps = 0;  ///< of one SM
  double share = 0;                     ///< warps ÷ warp slots
  Limit limit = Limit::warps;
  std::uint32_t by_warps = 0, by_blocks = 0, by_registers = 0, by_shared = 0;  ///< blocks each would allow
};
[[nodiscard]] std::string_view name_of(Occupancy::Limit limit);

/// Fails when not even one block fits, naming what is too large.
[[nodiscard]] Result<Occupancy> occupancy(const BlockNeeds& needs, const Machine& machine);

}  // namespace corridor::ptx
