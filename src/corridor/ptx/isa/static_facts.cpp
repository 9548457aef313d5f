// SPDX-License-Identifier: Apache-2.0
// What can be said of a function without running it.
#include "corridor/ptx/isa/static_facts.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "corridor/ptx/isa/flow.h"
#include "corridor/ptx/isa/lane_dependence.h"
#include "corridor/ptx/isa/register_estimate.h"

namespace corridor::ptx {
namespace {

/// Adds a variable at its alignment to a running total.
void place(std::uint64_t& total, const Variable& variable) {
  constexpr std::uint64_t enough = std::uint64_t{1} << 60;  // far beyond any device: sums must not wrap
  if (total >= enough) return;
  const std::uint64_t align = std::max<std::uint32_t>(1, variable.align);
  total = (total + align - 1) / align * align + variable.bytes;
}

bool has_word(const Instruction& instruction, std::string_view word) {
  const auto& all = instruction.modifiers;
  return std::find(all.begin(), all.end(), word) != all.end();
}

std::string spelled(const Instruction& instruction) {
  std::string out(instruction.opcode);
  for (const std::string_view modifier : instruction.modifiers) {
    out += '.';
    out += modifier;
  }
  return out;
}

/// Bytes one thread moves to or from global memory (or an address whose space is not told); 0 of other instructions.
std::uint64_t global_bytes_of(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode != "ld" && opcode != "st" && opcode != "atom" && opcode != "red" && opcode != "ldu") return 0;
  std::uint64_t width = 0;
  std::uint64_t elements = 1;
  for (const std::string_view modifier : instruction.modifiers) {
    if (modifier == "v2" || modifier == "v4" || modifier == "v8")
      elements = static_cast<std::uint64_t>(modifier[1] - '0');
    if (const auto type = type_from(modifier)) width = bytes_of(*type);
    const std::string_view space = modifier.substr(0, modifier.find(':'));
    if (space == "shared" || space == "local" || space == "param" || space == "const") return 0;
  }
  return width * elements;
}

constexpr std::size_t most_callees = 1000;

/// The shared variables and functions of a module by name.
struct ModuleIndex {
  explicit ModuleIndex(const Module& module) {
    for (const Variable& variable : module.variables) {
      if (variable.space == Space::shared) shared.emplace(variable.name, &variable);
    }
    for (const Function& function : module.functions) functions.emplace(function.name, &function);
    for (const auto& [name, target] : module.aliases) {
      const auto found = functions.find(target);
      if (found != functions.end()) functions.emplace(name, found->second);
    }
  }
  std::unordered_map<std::string_view, const Variable*> shared;
  std::unordered_map<std::string_view, const Function*> functions;
};

/// Shared memory of a function and of all it calls by name.
class SharedWalk {
 public:
  SharedWalk(const ModuleIndex& index, StaticFacts& facts) : index_(index), facts_(facts) {}
  void from(const Function& function) {
    waiting_.push_back(&function);
    seen_.insert(function.name);
    while (!waiting_.empty()) {
      const Function* next = waiting_.back();
      waiting_.pop_back();
      for (const Variable& variable : next->variables) count(variable);
      for (const Instruction& instruction : next->body) {
        for (const Operand& operand : instruction.operands) visit(operand);
      }
    }
  }

 private:
  void count(const Variable& variable) {
    if (variable.space != Space::shared) return;
    if (variable.is_extern && variable.bytes == 0) {
      facts_.uses_dynamic_shared = true;
    } else {
      place(facts_.static_shared_bytes, variable);
    }
  }
  void visit(const Operand& operand) {
    for (const Operand& part : operand.parts) visit(part);
    if (operand.name.empty() || operand.index != no_index || operand.kind == Operand::Kind::special) return;
    if (const auto variable = index_.shared.find(operand.name); variable != index_.shared.end()) {
      if (counted_.insert(operand.name).second) count(*variable->second);
      return;
    }
    const auto function = index_.functions.find(operand.name);
    if (function == index_.functions.end() || seen_.size() > most_callees) return;
    if (seen_.insert(function->first).second) waiting_.push_back(function->second);
  }
  const ModuleIndex& index_;
  StaticFacts& facts_;
  std::unordered_set<std::string_view> seen_, counted_;
  std::vector<const Function*> waiting_;
};

void count_instruction(const Instruction& instruction, StaticFacts& facts) {
  const OpInfo info = info_of(instruction);
  ++facts.instructions;
  ++facts.by_opcode[std::string(instruction.opcode)];
  ++facts.by_pipe[static_cast<std::size_t>(info.pipe)];
  ++facts.by_tier[info.tier];
  facts.issue_slots += info.issue_slots;
  facts.flops += info.work.flops;
  facts.global_bytes += global_bytes_of(instruction);
  if (info.tier == 0) {
    facts.refused.push_back({spelled(instruction), instruction.line, std::string(info.why_not)});
  }
  const bool is_barrier = instruction.opcode == "bar" || instruction.opcode == "barrier";
  if (is_barrier && !has_word(instruction, "warp")) ++facts.barriers;
  if (instruction.opcode == "bra" || instruction.opcode == "brx") ++facts.branches;
}

StaticFacts facts_of(const ModuleIndex& index, const Function& function) {
  StaticFacts facts;
  facts.name = function.name;
  facts.max_threads = function.max_threads;
  facts.required_threads = function.required_threads;
  for (const Variable& parameter : function.parameters) place(facts.parameter_bytes, parameter);
  if (function.body.empty()) return facts;
  for (const Variable& variable : function.variables) {
    if (variable.space == Space::local) place(facts.local_bytes, variable);
  }
  for (const Instruction& instruction : function.body) count_instruction(instruction, facts);
  SharedWalk(index, facts).from(function);
  facts.may_diverge = lane_dependent_branches(function).size();
  const Flow flow = flow_of(function);
  facts.live_registers = live_registers(function, flow);
  facts.registers = estimated_registers(live_registers(function, flow, held_elsewhere(function)), function);
  return facts;
}

}  // namespace

StaticFacts static_facts(const Module& module, const Function& function) {
  return facts_of(ModuleIndex(module), function);
}

std::vector<StaticFacts> static_facts(const Module& module) {
  const ModuleIndex index(module);
  std::vector<StaticFacts> out;
  out.reserve(module.functions.size());
  for (const Function& function : module.functions) out.push_back(facts_of(index, function));
  return out;
}

}  // namespace corridor::ptx
