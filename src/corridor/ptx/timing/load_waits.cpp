// SPDX-License-Identifier: Apache-2.0
// Walks each basic block with the set of registers that loads have still to fill.
#include "corridor/ptx/timing/load_waits.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "corridor/ptx/isa/flow.h"
#include "corridor/ptx/isa/op_info.h"

namespace corridor::ptx {
namespace {

bool is_far_load(const Instruction& instruction) {
  if (instruction.opcode != "ld" && instruction.opcode != "ldu" && instruction.opcode != "atom") return false;
  return std::none_of(instruction.modifiers.begin(), instruction.modifiers.end(), [](std::string_view modifier) {
    return modifier.starts_with("param") || modifier.starts_with("shared") || modifier == "const";
  });
}

}  // namespace

double loads_per_wait(const Function& function) {
  double loads = 0, waits = 0;
  for (const BasicBlock& block : flow_of(function).blocks) {
    std::set<std::uint32_t> pending;  // registers
    const auto wait = [&] {
      waits += pending.empty() ? 0 : 1;
      pending.clear();
    };
    for (std::uint32_t i = block.first; i < block.last && i < function.body.size(); ++i) {
      const Instruction& instruction = function.body[i];
      const bool is_load = is_far_load(instruction);
      bool reads_pending = false;
      each_register(instruction, [&](std::uint32_t index, bool is_write) {
        reads_pending = reads_pending || (!is_write && pending.contains(index));
      });
      if (reads_pending) wait();  // loads come back in order: those before it are there as well
      if (!is_load) continue;
      ++loads;
      each_register(instruction, [&](std::uint32_t index, bool is_write) {
        if (is_write) pending.insert(index);
      });
    }
    wait();
  }
  return waits > 0 ? loads / waits : 0;
}

}  // namespace corridor::ptx
