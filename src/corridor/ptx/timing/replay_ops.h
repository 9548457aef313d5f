// SPDX-License-Identifier: Apache-2.0
// A function's instructions as the replay of a time-line needs them: which pipe, how long, which registers.
#pragma once

#include <cstdint>
#include <vector>

#include "corridor/ptx/isa/op_info.h"
#include "corridor/ptx/timing/machine.h"

namespace corridor::ptx {

struct ReplayOp {
  enum class Kind : std::uint8_t { plain, memory, barrier };
  Kind kind = Kind::plain;
  Pipe pipe = Pipe::none;
  std::uint32_t slots = 1;                   ///< machine instructions it stands for; 0: none of its own
  double latency_clocks = 0;                 ///< of a plain result
  double pipe_clocks = 1;                    ///< that one machine instruction keeps its pipe's part of a scheduler busy
  std::vector<std::uint32_t> reads, writes;  ///< registers
};

[[nodiscard]] std::vector<ReplayOp> replay_ops(const Function& function, const Machine& machine);

}  // namespace corridor::ptx
