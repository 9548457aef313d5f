// SPDX-License-Identifier: Apache-2.0
// Which branches can part the lanes of a warp: follows data from lane numbers and loads to conditions.
#include "corridor/ptx/isa/lane_dependence.h"

#include <algorithm>
#include <string_view>

#include "corridor/ptx/isa/op_info.h"

namespace corridor::ptx {
namespace {

bool is_lane_register(std::string_view name) {
  return name.substr(0, 4) == "%tid" || name.substr(0, 5) == "%lane" || name.substr(0, 6) == "%clock" ||
         name.substr(0, 12) == "%globaltimer";
}

bool names_a_lane(const Operand& operand) {
  if (operand.kind == Operand::Kind::special) return is_lane_register(operand.name);
  return std::any_of(operand.parts.begin(), operand.parts.end(), names_a_lane);
}

/// Whether an instruction brings in values that can differ between lanes, whatever its registers hold.
bool is_lane_source(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "ld" || opcode == "ldu") {
    const auto& words = instruction.modifiers;
    return std::none_of(words.begin(), words.end(), [](std::string_view word) {
      return word.substr(0, 5) == "param" || word.substr(0, 5) == "const";
    });
  }
  if (opcode == "atom" || opcode == "shfl" || opcode == "tex" || opcode == "elect" || opcode == "match") return true;
  if (opcode == "ldmatrix" || opcode == "mma" || opcode == "wmma" || opcode == "call") return true;
  return std::any_of(instruction.operands.begin(), instruction.operands.end(), names_a_lane);
}

/// Votes give every lane the same.
bool is_uniform_result(const Instruction& instruction) {
  return instruction.opcode == "vote" || instruction.opcode == "redux" || instruction.opcode == "activemask";
}

}  // namespace

std::vector<std::uint32_t> lane_dependent_branches(const Function& function) {
  std::vector<std::vector<std::uint32_t>> readers(function.registers.size());
  std::vector<bool> differs(function.registers.size(), false);
  std::vector<std::uint32_t> waiting;
  const auto taint = [&](const Instruction& instruction) {
    if (is_uniform_result(instruction)) return;
    each_register(instruction, [&](std::uint32_t reg, bool is_write) {
      if (!is_write || differs[reg]) return;
      differs[reg] = true;
      waiting.push_back(reg);
    });
  };
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    each_register(function.body[i], [&](std::uint32_t reg, bool is_write) {
      if (!is_write) readers[reg].push_back(i);
    });
    if (is_lane_source(function.body[i])) taint(function.body[i]);
  }
  while (!waiting.empty()) {
    const std::uint32_t reg = waiting.back();
    waiting.pop_back();
    for (const std::uint32_t reader : readers[reg]) taint(function.body[reader]);
  }
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    const Instruction& instruction = function.body[i];
    if (instruction.opcode != "bra" && instruction.opcode != "brx") continue;
    bool parts = false;
    each_register(instruction, [&](std::uint32_t reg, bool) { parts = parts || differs[reg]; });
    if (parts) out.push_back(i);
  }
  return out;
}

}  // namespace corridor::ptx
