// SPDX-License-Identifier: Apache-2.0
// The table of opcodes: tier, pipe, work, estimated machine instructions, and why some are refused.
#include "corridor/ptx/isa/op_info.h"

#include <algorithm>

#include "corridor/ptx/isa/op_table.h"
#include "corridor/ptx/isa/op_variants.h"

namespace corridor::ptx {
namespace {

constexpr std::string_view unknown_opcode = "no PTX opcode known here";

bool has(const Instruction& instruction, std::string_view modifier) {
  const auto& all = instruction.modifiers;
  return std::find(all.begin(), all.end(), modifier) != all.end();
}

}  // namespace

OpInfo info_of(const Instruction& instruction) {
  const OpRow* row = op_row(instruction.opcode);
  if (row == nullptr) {
    OpInfo unknown;
    unknown.why_not = unknown_opcode;
    return unknown;
  }
  OpInfo info;
  info.tier = row->tier;
  info.pipe = row->pipe;
  info.issue_slots = row->slots;
  info.why_not = row->why_not;
  adjust_variant(instruction, *row, info);
  return info;
}

std::uint32_t destinations_of(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (operands.empty()) return 0;
  const std::string_view opcode = instruction.opcode;
  const OpRow* row = op_row(opcode);
  const Writes writes = row == nullptr ? Writes::first : row->writes;
  switch (writes) {
    case Writes::nothing:
      return 0;
    case Writes::first:
      return 1;
    case Writes::list_first:
      return operands[0].kind == Operand::Kind::list && operands.size() > 1 ? 1 : 0;
    case Writes::unless_address:
      return operands[0].kind == Operand::Kind::address ? 0 : 1;
    case Writes::bar:
      return has(instruction, "red") ? 1 : 0;
    case Writes::load:
      return has(instruction, "load") || has(instruction, "mma") || has(instruction, "ld") ? 1 : 0;
    case Writes::wgmma:
      return has(instruction, "mma_async") ? 1 : 0;
    case Writes::query:
      return has(instruction, "query_cancel") ? 1 : 0;
    case Writes::multimem:
      return has(instruction, "ld_reduce") ? 1 : 0;
  }
  return 1;
}

bool reads_destination(const Instruction& instruction) {
  return instruction.opcode == "wgmma";
}

}  // namespace corridor::ptx
