// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as PTX. They are a module or one line of error; flow, facts and occupancy are sound.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "corridor/ptx/isa/flow.h"
#include "corridor/ptx/isa/static_facts.h"
#include "corridor/ptx/syntax/parse.h"
#include "corridor/ptx/timing/occupancy.h"

namespace {

using namespace corridor::ptx;

bool in_range(std::uint32_t index, std::size_t size, bool can_be_none) {
  return index < size || (can_be_none && index == no_index);
}

/// Every index points at something.
void check_operand(const Function& function, const Operand& operand) {
  const bool at_register = operand.kind == Operand::Kind::reg || operand.base == Operand::Base::reg;
  const bool at_symbol = operand.kind == Operand::Kind::symbol || operand.base == Operand::Base::symbol;
  if (at_register && !in_range(operand.index, function.registers.size(), false)) std::abort();
  if (at_symbol && !in_range(operand.index, function.variables.size(), true)) std::abort();
  const bool at_label = operand.kind == Operand::Kind::label;
  if (at_label && !in_range(operand.index, function.labels.size(), false)) std::abort();
  for (const Operand& part : operand.parts) check_operand(function, part);
}

void check_labels(const Function& function) {
  for (const Label& label : function.labels) {
    if (label.target > function.body.size()) std::abort();
    for (const std::uint32_t target : label.branch_targets) {
      if (!in_range(target, function.labels.size(), false)) std::abort();
    }
  }
}

void check_function(const Module& module, const Function& function) {
  check_labels(function);
  for (const Instruction& instruction : function.body) {
    if (instruction.guard != no_index && instruction.guard >= function.registers.size()) std::abort();
    for (const Operand& operand : instruction.operands) check_operand(function, operand);
  }
  const Flow flow = flow_of(function);
  if (flow.block_of.size() != function.body.size()) std::abort();
  for (const BasicBlock& block : flow.blocks) {
    if (block.first >= block.last || block.successors.empty()) std::abort();
  }
  for (const std::uint32_t meet : flow.reconvergence) {
    if (meet != no_index && meet > function.body.size()) std::abort();
  }
  const StaticFacts facts = static_facts(module, function);
  if (facts.instructions != function.body.size() || facts.registers > 255) std::abort();
  Machine machine;
  machine.shared_bytes_per_sm = 228 * 1024;
  machine.shared_bytes_per_block = 227 * 1024;
  const BlockNeeds needs{function.max_threads.value_or(256), facts.registers, facts.static_shared_bytes};
  const auto fits = occupancy(needs, machine);
  if (fits && (fits->blocks == 0 || fits->share > 1)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto module = parse_module(std::string(reinterpret_cast<const char*>(data), size), "t.ptx");
  if (!module) return module.error().line().empty() ? (std::abort(), 1) : 0;
  for (const Variable& variable : module->variables) {
    if (variable.initial.size() > variable.bytes) std::abort();
  }
  for (const Function& function : module->functions) check_function(*module, function);
  return 0;
}
