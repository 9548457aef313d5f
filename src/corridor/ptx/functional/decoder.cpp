// SPDX-License-Identifier: Apache-2.0
// Lays out a function's frame and turns its instructions into ops: operands, registers, constants.
#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/program_state.h"
#include "corridor/ptx/isa/flow.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t row32_bytes = 128, row64_bytes = 256, row_align = 64;

std::uint32_t bytes_of_width(Width width) {
  return width == Width::row64 ? row64_bytes : width == Width::row32 ? row32_bytes : 4;
}

}  // namespace

Decoder::Decoder(Program::State& state, std::uint32_t function)
    : state_(state), code_(state.codes[function]), function_(state.module.functions[function]) {
  code_.function = &function_;
}

std::uint32_t Decoder::take(std::uint32_t bytes) {
  if (bytes >= row_align) code_.frame_bytes = (code_.frame_bytes + row_align - 1) / row_align * row_align;
  const std::uint32_t slot = code_.frame_bytes;
  if (slot < most_frame_bytes) code_.frame_bytes += bytes;  // the launch refuses such a frame
  return slot;
}

bool Decoder::refuse(std::string reason) {
  if (reason_.empty()) reason_ = std::move(reason);
  return false;
}

Width Decoder::register_width(std::uint32_t index) const {
  return width_of(function_.registers[index].type);
}

std::uint32_t Decoder::register_bits(const Operand& operand, Type type) const {
  const bool is_register = operand.kind == Operand::Kind::reg && operand.index < function_.registers.size();
  return static_cast<std::uint32_t>(8 * bytes_of(is_register ? function_.registers[operand.index].type : type));
}

void Decoder::lay_out_registers() {
  register_slot_.reserve(function_.registers.size());
  for (const RegisterDeclaration& r : function_.registers) {
    const Width width = width_of(r.type);
    // Registers of 128 bits have no handlers: they get a place that no instruction may use.
    register_slot_.push_back(width == Width::none ? nowhere_slot : take(bytes_of_width(width)));
  }
}

void Decoder::lay_out_locals() {
  std::uint64_t at = 0;
  const auto place = [&](const Variable& variable) {
    const std::uint64_t align = std::clamp<std::uint64_t>(variable.align, 8, 256);
    at = (at + align - 1) / align * align;
    code_.local_offsets[&variable] = static_cast<std::uint32_t>(std::min<std::uint64_t>(at, 0x7FFFFFFF));
    at += variable.bytes;
    at = std::min<std::uint64_t>(at, std::uint64_t{1} << 32);
  };
  for (const Variable& variable : function_.variables) {
    if (variable.space == Space::local || variable.space == Space::param) place(variable);
  }
  for (const Variable& variable : state_.module.variables) {
    if (variable.space == Space::local) place(variable);
  }
  if (!function_.is_entry) {
    for (const Variable& variable : function_.parameters) place(variable);
    for (const Variable& variable : function_.results) place(variable);
  }
  code_.local_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>((at + 15) / 16 * 16, 0x7FFFFFFF));
  for (const Variable& variable : state_.module.variables) by_name_[variable.name] = &variable;
  for (const Variable& variable : function_.parameters) by_name_[variable.name] = &variable;
  for (const Variable& variable : function_.results) by_name_[variable.name] = &variable;
}

const Variable* Decoder::variable_of(const Operand& operand) const {
  if (operand.index < function_.variables.size()) return &function_.variables[operand.index];
  const auto found = by_name_.find(operand.name);
  return found == by_name_.end() ? nullptr : found->second;
}

bool Decoder::is_kernel_parameter(const Variable& variable) const {
  if (!function_.is_entry) return false;
  const Variable* const first = function_.parameters.data();
  return !function_.parameters.empty() && &variable >= first && &variable < first + function_.parameters.size();
}

std::uint32_t Decoder::constant(Width width, std::uint64_t value) {
  const auto [entry, is_new] = constant_slot_.try_emplace(fmt::format("{}:{}", static_cast<int>(width), value), 0);
  if (is_new) {
    entry->second = take(bytes_of_width(width));
    code_.constants.push_back({FrameConstant::Kind::value, width, entry->second, value, nullptr, Special::unknown});
  }
  return entry->second;
}

std::uint32_t Decoder::special(Special which, Width width) {
  const auto [entry, is_new] =
      constant_slot_.try_emplace(fmt::format("s{}:{}", static_cast<int>(which), static_cast<int>(width)), 0);
  if (is_new) {
    entry->second = take(bytes_of_width(width));
    code_.constants.push_back({FrameConstant::Kind::special, width, entry->second, 0, nullptr, which});
  }
  return entry->second;
}

std::uint32_t Decoder::variable_address(const Variable& variable, Width width, std::int64_t addend) {
  const auto [entry, is_new] = constant_slot_.try_emplace(
      fmt::format("v{}:{}:{}", static_cast<const void*>(&variable), static_cast<int>(width), addend), 0);
  if (is_new) {
    entry->second = take(bytes_of_width(width));
    code_.constants.push_back({FrameConstant::Kind::variable, width, entry->second, static_cast<std::uint64_t>(addend),
                               &variable, Special::unknown});
  }
  return entry->second;
}

bool Decoder::source(const Operand& operand, Width width, Type type, std::uint32_t& slot) {
  const std::size_t bytes = bytes_of(type);
  switch (operand.kind) {
    case Operand::Kind::reg:
      if (operand.index >= function_.registers.size()) return refuse("a register is not declared");
      if (!operand.name.empty()) return refuse("parts of registers are not read here");
      if (register_width(operand.index) != width) {
        return refuse(
            fmt::format("{} does not have the width of the instruction", function_.registers[operand.index].name));
      }
      slot = register_slot_[operand.index];
      return true;
    case Operand::Kind::integer:
    case Operand::Kind::f32_bits:
    case Operand::Kind::f64_bits: {
      if (width == Width::pred) {
        slot = operand.bits != 0 ? always_slot : never_slot;
        return true;
      }
      std::uint64_t value = operand.bits;
      if (operand.kind == Operand::Kind::f64_bits && bytes == 4) {
        const auto narrow = static_cast<float>(std::bit_cast<double>(operand.bits));
        value = std::bit_cast<std::uint32_t>(narrow);
      }
      if (width == Width::row32) value &= bytes == 2 ? 0xFFFF : bytes == 1 ? 0xFF : 0xFFFFFFFF;
      slot = constant(width, value);
      return true;
    }
    case Operand::Kind::special: {
      const Special which = special_from(operand.name);
      if (which == Special::unknown || which == Special::clock || which == Special::clock64 ||
          which == Special::globaltimer || width == Width::pred) {
        return refuse(fmt::format("{} is not known here", operand.name));
      }
      slot = special(which, width);
      return true;
    }
    default:
      return refuse("an operand of this kind is not read here");
  }
}

bool Decoder::destination(const Operand& operand, Width width, std::uint32_t& slot) {
  if (operand.kind == Operand::Kind::discard) {
    slot = width == Width::pred ? unused_predicate_slot : unused_row_slot;
    return true;
  }
  if (operand.kind != Operand::Kind::reg || operand.index >= function_.registers.size() || !operand.name.empty()) {
    return refuse("the destination is not a register");
  }
  if (register_width(operand.index) != width) {
    return refuse(
        fmt::format("{} does not have the width of the instruction", function_.registers[operand.index].name));
  }
  slot = register_slot_[operand.index];
  return true;
}

void Decoder::decode_one(std::uint32_t index, Op& op) {
  const Instruction& instruction = function_.body[index];
  reason_.clear();
  const bool guarded = instruction.guard < function_.registers.size();
  bool known = !guarded || register_width(instruction.guard) == Width::pred;
  known = known && (control(index, op) || (reason_.empty() && memory(instruction, op)) ||
                    (reason_.empty() && warp(instruction, op)) || (reason_.empty() && tensor(instruction, op)) ||
                    (reason_.empty() && async(instruction, op)) || (reason_.empty() && texture(instruction, op)) ||
                    (reason_.empty() && arithmetic(instruction, op)));
  if (!known) {
    op = Op{};
    op.run = &not_executed;
    const std::string_view listed = state_.statics.back().info.why_not;
    state_.statics.back().why_not = !reason_.empty() ? reason_ : std::string(listed);
  }
  if (guarded && register_width(instruction.guard) == Width::pred) {
    op.guard = register_slot_[instruction.guard];
    op.guard_flip = instruction.guard_negated ? all_lanes : 0;
  }
}

void Decoder::find_cleared() {
  const std::size_t registers = function_.registers.size();
  const auto clear_all = [&] {
    for (std::size_t i = 0; i < registers; ++i) {
      const Width width = width_of(function_.registers[i].type);
      if (width != Width::none) code_.cleared.push_back({register_slot_[i], bytes_of_width(width)});
    }
  };
  constexpr std::size_t most_work = 4U << 20;
  const Flow flow = flow_of(function_);
  if (registers * std::max<std::size_t>(flow.blocks.size(), 1) > most_work) return clear_all();
  // Which registers are live into each block: read before an unguarded write on some path.
  std::vector<std::vector<bool>> used(flow.blocks.size(), std::vector<bool>(registers)), written = used;
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    for (std::uint32_t i = flow.blocks[b].first; i < flow.blocks[b].last; ++i) {
      const Instruction& instruction = function_.body[i];
      each_register(instruction, [&](std::uint32_t r, bool is_write) {
        if (r >= registers) return;
        if (!is_write && !written[b][r]) used[b][r] = true;
        if (is_write && instruction.guard == no_index) written[b][r] = true;
      });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = flow.blocks.size(); b-- > 0;) {
      for (const std::uint32_t next : flow.blocks[b].successors) {
        if (next >= flow.blocks.size()) continue;
        for (std::size_t r = 0; r < registers; ++r) {
          if (!used[next][r] || used[b][r] || written[b][r]) continue;
          used[b][r] = changed = true;
        }
      }
    }
  }
  for (std::size_t r = 0; r < registers && !flow.blocks.empty(); ++r) {
    const Width width = width_of(function_.registers[r].type);
    if (used[0][r] && width != Width::none) code_.cleared.push_back({register_slot_[r], bytes_of_width(width)});
  }
}

void Decoder::decode() {
  code_.first = static_cast<std::uint32_t>(state_.ops.size());
  code_.count = static_cast<std::uint32_t>(function_.body.size());
  lay_out_registers();
  lay_out_locals();
  if (!function_.body.empty()) reconvergence_ = flow_of(function_).reconvergence;
  const auto function = static_cast<std::uint32_t>(&code_ - state_.codes.data());
  for (std::uint32_t i = 0; i < code_.count; ++i) {
    state_.ops.emplace_back();
    state_.statics.push_back({&function_.body[i], function, info_of(function_.body[i]), {}});
    Op op;
    decode_one(i, op);
    state_.ops.back() = op;
  }
  state_.ops.emplace_back();
  state_.ops.back().run = &end_of_function;
  state_.statics.push_back({nullptr, function, {}, {}});
  find_cleared();
  code_.frame_bytes = (code_.frame_bytes + row_align - 1) / row_align * row_align;
}

}  // namespace corridor::ptx
