// SPDX-License-Identifier: Apache-2.0
// The control flow of a function: basic blocks and where divergent warps meet again.
#include "corridor/ptx/isa/flow.h"

#include <algorithm>

#include "corridor/ptx/isa/dominators.h"

namespace corridor::ptx {
namespace {

enum class Leaves : std::uint8_t { no, branch, table_branch, function };

/// How control leaves an instruction otherwise than to the next one. `trap` and calls that do not return count as
/// going on: the lanes around them meet where the source says they meet.
Leaves leaves_of(const Instruction& instruction) {
  if (instruction.opcode == "bra") return Leaves::branch;
  if (instruction.opcode == "brx") return Leaves::table_branch;
  if (instruction.opcode == "ret" || instruction.opcode == "exit") return Leaves::function;
  return Leaves::no;
}

/// The label an instruction jumps to, or the table of labels of brx.idx: the operand that is a label.
const Label* label_of(const Function& function, const Instruction& instruction) {
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == Operand::Kind::label && operand.index < function.labels.size()) {
      return &function.labels[operand.index];
    }
  }
  return nullptr;
}

/// Instructions that a jump can reach; body.size() stands for the end.
std::vector<std::uint32_t> targets_of(const Function& function, const Instruction& instruction, Leaves leaves) {
  const auto end = static_cast<std::uint32_t>(function.body.size());
  if (leaves == Leaves::function) return {end};
  const Label* label = label_of(function, instruction);
  if (label == nullptr) return {end};
  if (leaves == Leaves::branch) return {std::min(label->target, end)};
  std::vector<std::uint32_t> targets;
  for (const std::uint32_t index : label->branch_targets) {
    if (index < function.labels.size()) targets.push_back(std::min(function.labels[index].target, end));
  }
  if (targets.empty()) targets.push_back(end);
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

void cut_blocks(const Function& function, Flow& flow) {
  const auto count = static_cast<std::uint32_t>(function.body.size());
  std::vector<bool> is_first(count + 1, false);
  is_first[0] = true;
  for (const Label& label : function.labels) is_first[std::min(label.target, count)] = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (leaves_of(function.body[i]) != Leaves::no) is_first[i + 1] = true;
  }
  flow.block_of.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (is_first[i]) flow.blocks.push_back({i, i, {}});
    flow.blocks.back().last = i + 1;
    flow.block_of[i] = static_cast<std::uint32_t>(flow.blocks.size() - 1);
  }
}

void join_blocks(const Function& function, Flow& flow) {
  const auto count = static_cast<std::uint32_t>(function.body.size());
  const auto block_at = [&](std::uint32_t i) { return i < count ? flow.block_of[i] : exit_block; };
  for (BasicBlock& block : flow.blocks) {
    const Instruction& last = function.body[block.last - 1];
    const Leaves leaves = leaves_of(last);
    if (leaves == Leaves::no || last.guard != no_index) block.successors.push_back(block_at(block.last));
    if (leaves == Leaves::no) continue;
    for (const std::uint32_t target : targets_of(function, last, leaves)) {
      const std::uint32_t next = block_at(target);
      const auto& known = block.successors;
      if (known.empty() || known.front() != next) block.successors.push_back(next);
    }
  }
}

/// The edges backwards, with the exit as the last node; blocks that never reach it get an edge to it, latest first.
Graph backwards(const Flow& flow) {
  const auto exit = static_cast<std::uint32_t>(flow.blocks.size());
  Graph graph(flow.blocks.size() + 1);
  for (std::uint32_t i = 0; i < exit; ++i) {
    for (const std::uint32_t next : flow.blocks[i].successors) graph[next == exit_block ? exit : next].push_back(i);
  }
  std::vector<bool> reached(graph.size(), false);
  std::vector<std::uint32_t> stack;
  const auto flood = [&](std::uint32_t root) {
    reached[root] = true;
    stack.push_back(root);
    while (!stack.empty()) {
      const std::uint32_t node = stack.back();
      stack.pop_back();
      for (const std::uint32_t next : graph[node]) {
        if (reached[next]) continue;
        reached[next] = true;
        stack.push_back(next);
      }
    }
  };
  flood(exit);
  for (std::uint32_t i = exit; i-- > 0;) {
    if (reached[i]) continue;
    graph[exit].push_back(i);
    flood(i);
  }
  return graph;
}

}  // namespace

Flow flow_of(const Function& function) {
  Flow flow;
  cut_blocks(function, flow);
  join_blocks(function, flow);
  const auto exit = static_cast<std::uint32_t>(flow.blocks.size());
  const auto end = static_cast<std::uint32_t>(function.body.size());
  const std::vector<std::uint32_t> dominators = immediate_dominators(backwards(flow), exit);
  flow.immediate_post_dominator.resize(exit);
  for (std::uint32_t i = 0; i < exit; ++i) {
    flow.immediate_post_dominator[i] = dominators[i] == exit ? exit_block : dominators[i];
  }
  flow.reconvergence.assign(end, no_index);
  for (std::uint32_t i = 0; i < end; ++i) {
    const Instruction& instruction = function.body[i];
    const Leaves leaves = leaves_of(instruction);
    const bool may_part = leaves == Leaves::table_branch || (leaves == Leaves::branch && instruction.guard != no_index);
    if (!may_part) continue;
    const std::uint32_t meet = flow.immediate_post_dominator[flow.block_of[i]];
    flow.reconvergence[i] = meet == exit_block ? end : flow.blocks[meet].first;
  }
  return flow;
}

}  // namespace corridor::ptx
