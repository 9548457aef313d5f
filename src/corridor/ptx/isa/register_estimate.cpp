// SPDX-License-Identifier: Apache-2.0
// How many registers the assembler is likely to give a kernel, from those that are live.
#include "corridor/ptx/isa/register_estimate.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "corridor/ptx/isa/op_info.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t most_registers = 255, file_registers = 65536, register_step = 8;

/// What an operand brings in: nothing a lane must keep in a register of its own, as long as `held` is right so far.
bool is_held(const Operand& operand, const std::vector<bool>& held) {
  switch (operand.kind) {
    case Operand::Kind::reg:
      return operand.index < held.size() && held[operand.index];
    case Operand::Kind::special:
      return operand.name.substr(0, 6) == "%ctaid" || operand.name.substr(0, 2) == "%n";
    case Operand::Kind::integer:
    case Operand::Kind::f32_bits:
    case Operand::Kind::f64_bits:
    case Operand::Kind::symbol:
      return true;
    default:
      return false;
  }
}

bool is_load_of_parameter(const Instruction& instruction) {
  if (instruction.opcode != "ld") return false;
  const auto& words = instruction.modifiers;
  return std::any_of(words.begin(), words.end(), [](std::string_view word) { return word.substr(0, 5) == "param"; });
}

/// Copies, and the integer arithmetic that the uniform data path can do.
bool is_uniform_opcode(std::string_view opcode) {
  constexpr std::array<std::string_view, 13> opcodes = {"add", "and", "cvt", "cvta", "mad", "mov", "mul",
                                                        "not", "or",  "shl", "shr",  "sub", "xor"};
  return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
}

/// Whether the results of an instruction need no register of the lane, given which sources need none.
bool gives_held(const Instruction& instruction, const std::vector<bool>& held) {
  if (is_load_of_parameter(instruction)) return true;
  if (!is_uniform_opcode(instruction.opcode) || instruction.guard != no_index) return false;
  return std::all_of(instruction.operands.begin() + 1, instruction.operands.end(),
                     [&](const Operand& operand) { return is_held(operand, held); });
}

}  // namespace

std::vector<bool> held_elsewhere(const Function& function) {
  std::vector<std::uint32_t> writes(function.registers.size(), 0);
  for (const Instruction& instruction : function.body) {
    each_register(instruction, [&](std::uint32_t reg, bool is_write) { writes[reg] += is_write ? 1 : 0; });
  }
  std::vector<bool> held(function.registers.size(), false);
  for (const Instruction& instruction : function.body) {  // compilers write a copy after what it copies
    if (destinations_of(instruction) == 0 || !gives_held(instruction, held)) continue;
    each_register(instruction, [&](std::uint32_t reg, bool is_write) {
      if (is_write && writes[reg] == 1) held[reg] = true;
    });
  }
  return held;
}

std::uint32_t estimated_registers(std::uint32_t live, const Function& function) {
  constexpr std::uint32_t least = 16, base = 8;
  std::uint64_t registers = std::max<std::uint64_t>(least, std::uint64_t{live} + base);
  registers = (registers + register_step - 1) / register_step * register_step;
  std::uint64_t cap = most_registers;
  if (function.max_registers) cap = std::min<std::uint64_t>(cap, *function.max_registers);
  const auto threads = function.required_threads ? function.required_threads : function.max_threads;
  if (threads && *threads > 0) {
    const std::uint64_t warps =
        (std::uint64_t{*threads} + 31) / 32 * std::max(1U, function.min_blocks_per_sm.value_or(1));
    const std::uint64_t of_thread =
        file_registers / std::max<std::uint64_t>(1, warps * 32) / register_step * register_step;
    if (of_thread > 0) cap = std::min(cap, of_thread);
  }
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(registers, 1, std::max<std::uint64_t>(1, cap)));
}

}  // namespace corridor::ptx
