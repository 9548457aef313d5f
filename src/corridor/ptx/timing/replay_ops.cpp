// SPDX-License-Identifier: Apache-2.0
// Decodes each instruction once for the replay.
#include "corridor/ptx/timing/replay_ops.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "corridor/ptx/memory/coalesce.h"

namespace corridor::ptx {
namespace {

/// Memory that a warp reaches through the load and store pipe; parameters and constants are as near as registers.
bool goes_to_memory(const Instruction& instruction, Pipe pipe) {
  if (pipe != Pipe::lsu && pipe != Pipe::tex) return false;
  for (const std::string_view modifier : instruction.modifiers) {
    if (modifier.starts_with("param") || modifier == "const") return false;
  }
  return true;
}

double replay_latency(Pipe pipe, const Machine& machine) {
  switch (pipe) {
    case Pipe::xu:
      return machine.xu_latency_clocks;
    case Pipe::tensor:
      return machine.tensor_latency_clocks;
    case Pipe::none:
      return 0;
    default:
      return machine.alu_latency_clocks;
  }
}

}  // namespace

std::vector<ReplayOp> replay_ops(const Function& function, const Machine& machine) {
  std::vector<ReplayOp> out;
  out.reserve(function.body.size());
  const double schedulers = std::max(1U, machine.schedulers);
  for (const Instruction& instruction : function.body) {
    ReplayOp op;
    const OpInfo info = info_of(instruction);
    op.pipe = info.pipe;
    constexpr double most_slots = 1000;
    op.slots = static_cast<std::uint32_t>(std::lround(std::clamp(info.issue_slots, 0.0, most_slots)));
    op.latency_clocks = replay_latency(info.pipe, machine);
    const double lanes = machine.lanes_per_clock[static_cast<std::size_t>(info.pipe)];
    if (lanes > 0) op.pipe_clocks = std::max(1.0, warp_lanes * schedulers / lanes);
    if (instruction.opcode == "bar" || instruction.opcode == "barrier") {
      op.kind = ReplayOp::Kind::barrier;
    } else if (goes_to_memory(instruction, info.pipe)) {
      op.kind = ReplayOp::Kind::memory;
      op.pipe_clocks = lanes > 0 ? std::max(1.0, warp_lanes / lanes) : 1;  // one pipe for the whole SM
      op.slots = std::max(op.slots, 1U);
    }
    each_register(instruction, [&](std::uint32_t index, bool is_write) {
      if (index < function.registers.size()) (is_write ? op.writes : op.reads).push_back(index);
    });
    out.push_back(std::move(op));
  }
  return out;
}

}  // namespace corridor::ptx
