// SPDX-License-Identifier: Apache-2.0
// The control flow of a function: basic blocks, where divergent warps meet again, and which registers are live.
#pragma once

#include <cstdint>
#include <vector>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

struct BasicBlock {
  std::uint32_t first = 0, last = 0;      ///< instructions [first, last)
  std::vector<std::uint32_t> successors;  ///< blocks; a block that can leave the function has `exit_block` among them
};

inline constexpr std::uint32_t exit_block = 0xFFFFFFFE;

struct Flow {
  std::vector<BasicBlock> blocks;
  std::vector<std::uint32_t> block_of;                  ///< of each instruction
  std::vector<std::uint32_t> immediate_post_dominator;  ///< block, or `exit_block`
  std::vector<std::uint32_t> reconvergence;  ///< of each instruction that can branch: the instruction where its lanes
                                             ///< meet again (body.size(): at the end); `no_index` for others
};

[[nodiscard]] Flow flow_of(const Function& function);

/// Most 32-bit registers live at one point (a 64-bit value counts 2, predicates 0).
[[nodiscard]] std::uint32_t live_registers(const Function& function, const Flow& flow);
/// The same without the registers marked in `left_out` (one flag a register).
[[nodiscard]] std::uint32_t live_registers(const Function& function, const Flow& flow,
                                           const std::vector<bool>& left_out);

}  // namespace corridor::ptx
