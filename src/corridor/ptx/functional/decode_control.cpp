// SPDX-License-Identifier: Apache-2.0
// Decodes branches, calls, barriers and what the lanes of a warp do together.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {
namespace {

bool is_nothing(std::string_view opcode) {
  return opcode == "griddepcontrol" || opcode == "pmevent" || opcode == "setmaxnreg";
}

}  // namespace

bool Decoder::control(std::uint32_t index, Op& op) {
  const Instruction& instruction = function_.body[index];
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  const auto target_of = [&](const Operand& label, std::uint32_t& target) {
    if (label.kind != Operand::Kind::label || label.index >= function_.labels.size())
      return refuse("a label is expected");
    target = code_.first + std::min(function_.labels[label.index].target, code_.count);
    return true;
  };
  const std::uint32_t meet = index < reconvergence_.size() ? reconvergence_[index] : no_index;
  op.b = meet == no_index ? 0xFFFFFFFF : code_.first + std::min(meet, code_.count);
  if (form.is("bra")) {
    op.run = &branch;
    return operands.size() == 1 ? target_of(operands[0], op.d) : refuse("a label is expected");
  }
  if (form.is("brx")) {
    if (operands.size() != 2 || operands[1].kind != Operand::Kind::label ||
        operands[1].index >= function_.labels.size()) {
      return refuse("a table of labels is expected");
    }
    op.run = &branch_indexed;
    std::vector<std::uint32_t> table;
    for (const std::uint32_t label : function_.labels[operands[1].index].branch_targets) {
      if (label >= function_.labels.size()) return refuse("a table of labels is expected");
      table.push_back(code_.first + std::min(function_.labels[label].target, code_.count));
    }
    op.extra = static_cast<std::uint32_t>(state_.jumps.size());
    state_.jumps.push_back(std::move(table));
    return source(operands[0], Width::row32, Type::u32, op.a);
  }
  op.b = 0;
  if (form.is("ret")) op.run = &return_or_leave;
  if (form.is("exit")) op.run = &leave_kernel;
  if (form.is("trap") || form.is("brkpt")) op.run = &trap;
  if (form.is("membar") || form.is("fence")) {
    op.run = &fence;
    if (form.has("gl") || form.has("gpu") || form.has("sys") || form.has("cluster")) code_.ordered = true;
  }
  if (form.is("nanosleep")) op.run = &give_way;
  if (is_nothing(form.op)) op.run = &nothing;
  if (op.run != nullptr) return true;
  if (form.is("call")) return call(instruction, op);
  if (form.is("bar") || form.is("barrier")) return barrier(instruction, op);
  return false;
}

bool Decoder::barrier(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  if (form.has("cluster")) return refuse("barriers of a cluster are not executed");
  if (form.has("warp")) {
    op.run = &warp_barrier;
    return operands.size() == 1 ? source(operands[0], Width::row32, Type::b32, op.a) : refuse("operands are missing");
  }
  // flags: 1 not aligned, 2 has a thread count, 4 the predicate is negated, 8·kind of reduction.
  op.flags = form.is("barrier") && !form.has("aligned") ? 1 : 0;
  const bool reduces = form.has("red");
  const std::size_t first = reduces ? 1 : 0, last = operands.size() - (reduces && !operands.empty() ? 1 : 0);
  if (last <= first || last > first + 2) return refuse("operands are missing");
  if (!source(operands[first], Width::row32, Type::u32, op.a)) return false;
  if (last == first + 2) {
    op.flags |= 2;
    if (!source(operands[first + 1], Width::row32, Type::u32, op.b)) return false;
  }
  op.run = form.has("arrive") ? &barrier_arrive : &barrier_wait;
  if (!reduces) return true;
  op.run = &barrier_reduce;
  const bool popc = form.has("popc");
  op.flags = static_cast<std::uint16_t>(op.flags | (popc ? 8 : form.has("and") ? 16 : 24));
  if (operands.back().negated) op.flags |= 4;
  return destination(operands[0], popc ? Width::row32 : Width::pred, op.d) &&
         source(operands.back(), Width::pred, Type::pred, op.c);
}

bool Decoder::warp(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  const bool sync = form.has("sync");
  const auto split = [&](const Operand& operand, Operand& first, Operand& second) {
    const bool pair = operand.kind == Operand::Kind::pair && operand.parts.size() == 2;
    first = pair ? operand.parts[0] : operand;
    second = pair ? operand.parts[1] : Operand{};
  };
  if (form.is("activemask")) {
    op.run = &active_mask;
    return operands.size() == 1 && destination(operands[0], Width::row32, op.d);
  }
  Operand data, flag;
  if (!operands.empty()) split(operands[0], data, flag);
  if (form.is("shfl")) {
    if (operands.size() < 4) return refuse("operands are missing");
    op.run = &shuffle;
    op.flags = form.has("up") ? 0 : form.has("down") ? 1 : form.has("bfly") ? 2 : 3;
    std::uint32_t members = constant(Width::row32, all_lanes);
    if (operands.size() > 4 && !source(operands[4], Width::row32, Type::b32, members)) return false;
    op.offset = sync ? members : 0;
    op.extra = unused_predicate_slot;
    return destination(data, Width::row32, op.d) && destination(flag, Width::pred, op.extra) &&
           source(operands[1], Width::row32, Type::b32, op.a) && source(operands[2], Width::row32, Type::b32, op.b) &&
           source(operands[3], Width::row32, Type::b32, op.c);
  }
  if (form.is("vote")) {
    op.run = &vote;
    if (operands.size() < 2) return refuse("operands are missing");
    op.flags = form.has("all") ? 0 : form.has("any") ? 1 : form.has("uni") ? 2 : 3;
    if (operands[1].negated) op.flags |= 4;
    op.b = constant(Width::row32, all_lanes);
    op.extra = sync ? 1 : 0;
    if (operands.size() > 2 && !source(operands[2], Width::row32, Type::b32, op.b)) return false;
    return destination(operands[0], (op.flags & 3) == 3 ? Width::row32 : Width::pred, op.d) &&
           source(operands[1], Width::pred, Type::pred, op.a);
  }
  if (form.is("match")) {
    op.run = &ptx::match;
    if (operands.size() < 3) return refuse("operands are missing");
    const Width width = width_of(form.type());
    op.flags = static_cast<std::uint16_t>((form.has("all") ? 1 : 0) | (width == Width::row64 ? 2 : 0));
    op.extra = unused_predicate_slot;
    return destination(data, Width::row32, op.d) && destination(flag, Width::pred, op.extra) &&
           source(operands[1], width, form.type(), op.a) && source(operands[2], Width::row32, Type::b32, op.b);
  }
  if (form.is("redux")) {
    if (operands.size() < 3 || bytes_of(form.type()) != 4 || form.type() == Type::f32) {
      return refuse("this redux is not executed");
    }
    op.run = &reduce_lanes;
    op.flags = form.has("add")   ? 0
               : form.has("min") ? 1
               : form.has("max") ? 2
               : form.has("and") ? 3
               : form.has("or")  ? 4
                                 : 5;
    op.extra = form.type() == Type::s32 ? 1 : 0;
    return destination(operands[0], Width::row32, op.d) && source(operands[1], Width::row32, Type::b32, op.a) &&
           source(operands[2], Width::row32, Type::b32, op.b);
  }
  if (form.is("elect")) {
    op.run = &elect;
    if (operands.size() < 2) return refuse("operands are missing");
    return destination(data, Width::row32, op.d) && destination(flag, Width::pred, op.extra) &&
           source(operands[1], Width::row32, Type::b32, op.b);
  }
  return false;
}

bool Decoder::indirect_call(const Operand& target, const Operand* results, const Operand* arguments, Op& op) {
  Call call;
  call.target = Call::Target::indirect;
  if (!source(target, Width::row64, Type::b64, call.function)) return false;
  const auto pass = [&](const Operand* list, bool is_result, std::vector<Passed>& out) {
    for (std::size_t i = 0; list != nullptr && i < list->parts.size(); ++i) {
      const Operand& operand = list->parts[i];
      Passed passed;
      passed.callee = static_cast<std::uint32_t>(i);
      const Variable* const variable = operand.kind == Operand::Kind::symbol ? variable_of(operand) : nullptr;
      if (variable != nullptr) {
        const auto found = code_.local_offsets.find(variable);
        if (found == code_.local_offsets.end()) return refuse("an argument is not a parameter variable");
        passed.caller = found->second;
        passed.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(variable->bytes, 1U << 20));
      } else {
        if (operand.kind != Operand::Kind::reg || operand.index >= function_.registers.size()) {
          return refuse("an argument of an indirect call is a parameter variable or a register");
        }
        passed.in_row = true;
        passed.width = register_width(operand.index);
        passed.bytes = passed.width == Width::row64 ? 8 : 4;
        if (passed.width != Width::row32 && passed.width != Width::row64)
          return refuse("an argument has no such width");
        if (!(is_result ? destination(operand, passed.width, passed.caller)
                        : source(operand, passed.width, Type::b64, passed.caller))) {
          return false;
        }
      }
      out.push_back(passed);
    }
    return true;
  };
  if (!pass(results, true, call.results) || !pass(arguments, false, call.arguments)) return false;
  code_.calls_indirectly = true;
  op.run = &call_function;
  op.extra = static_cast<std::uint32_t>(state_.calls.size());
  state_.calls.push_back(std::move(call));
  return true;
}

bool Decoder::call(const Instruction& instruction, Op& op) {
  // [results]?, target, [arguments]?, [prototype]?
  const auto& operands = instruction.operands;
  std::size_t at = 0;
  const Operand* results = nullptr;
  const Operand* arguments = nullptr;
  if (at < operands.size() && operands[at].kind == Operand::Kind::list) results = &operands[at++];
  if (at >= operands.size()) return refuse("a function is expected");
  const Operand& target = operands[at++];
  if (at < operands.size() && operands[at].kind == Operand::Kind::list) arguments = &operands[at++];
  Call call;
  if (target.kind == Operand::Kind::reg) return indirect_call(target, results, arguments, op);
  if (target.kind != Operand::Kind::symbol) return refuse("a function is expected");
  call.function = state_.function_index(target.name);
  if (call.function == no_index) return refuse(fmt::format("{} is not declared", target.name));
  const Function& callee = state_.module.functions[call.function];
  if (callee.name == "vprintf") call.target = Call::Target::print;
  if (callee.name == "__assertfail") call.target = Call::Target::assertion;
  if (call.target == Call::Target::function && (callee.is_declaration || callee.is_entry)) {
    return refuse(fmt::format("{} has no body", target.name));
  }
  const auto pass = [&](const Operand* list, const std::vector<Variable>& formal, bool is_result,
                        std::vector<Passed>& out) {
    const std::size_t count = list == nullptr ? 0 : list->parts.size();
    if (count != formal.size())
      return refuse(fmt::format("{} takes {} values, not {}", target.name, formal.size(), count));
    for (std::size_t i = 0; i < count; ++i) {
      const Operand& operand = list->parts[i];
      Passed passed;
      passed.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(formal[i].bytes, 1U << 20));
      passed.callee = static_cast<std::uint32_t>(i);
      if (formal[i].space == Space::reg) return refuse("parameters in registers are not executed");
      const Variable* const variable = operand.kind == Operand::Kind::symbol ? variable_of(operand) : nullptr;
      if (variable != nullptr) {
        const auto found = code_.local_offsets.find(variable);
        if (found == code_.local_offsets.end() || variable->bytes < passed.bytes) {
          return refuse("an argument is not a parameter variable of its size");
        }
        passed.caller = found->second;
      } else {
        passed.in_row = true;
        passed.width = width_of(formal[i].type);
        if (passed.width != Width::row32 && passed.width != Width::row64)
          return refuse("an argument has no such width");
        if (!(is_result ? destination(operand, passed.width, passed.caller)
                        : source(operand, passed.width, formal[i].type, passed.caller))) {
          return false;
        }
      }
      out.push_back(passed);
    }
    return true;
  };
  if (!pass(results, callee.results, true, call.results)) return false;
  if (!pass(arguments, callee.parameters, false, call.arguments)) return false;
  if (call.target == Call::Target::function) code_.callees.push_back(call.function);
  op.run = &call_function;
  op.extra = static_cast<std::uint32_t>(state_.calls.size());
  state_.calls.push_back(std::move(call));
  return true;
}

}  // namespace corridor::ptx
