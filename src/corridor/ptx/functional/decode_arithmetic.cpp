// SPDX-License-Identifier: Apache-2.0
// Decodes arithmetic, conversions and moves.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {
namespace {

bool is_directed(Round round) {
  return round == Round::rz || round == Round::rm || round == Round::rp;
}

/// A type of operand b where it differs from the instruction's: shift amounts and bit positions are words.
Type type_of_operand(const Form& form, Width width, Width of_type) {
  if (width == of_type) return form.type();
  return width == Width::row32 ? Type::b32 : width == Width::row64 ? Type::b64 : Type::pred;
}

void apply_rounding(Round round, Op& op) {
  if (!is_directed(round)) return;
  op.inner = op.run;
  op.run = rounded_handler(round);
}

std::uint16_t value_for_true(Type type) {
  return type == Type::f16 || type == Type::f16x2     ? 0x3C00
         : type == Type::bf16 || type == Type::bf16x2 ? 0x3F80
                                                      : 0xFFFF;
}

}  // namespace

Handler rounded_handler(Round round) {
  return round == Round::rz ? &run_rounded_rz : round == Round::rm ? &run_rounded_rm : &run_rounded_rp;
}

bool Decoder::bind(const Picked& picked, const Form& form, Op& op) {
  const auto& operands = form.instruction->operands;
  const Width widths[3] = {picked.a, picked.b, picked.c};
  std::size_t needed = 1;
  for (const Width w : widths) needed += w != Width::none ? 1 : 0;
  if (operands.size() < needed) return refuse("operands are missing");
  op.run = picked.run;
  op.flags = picked.flags;
  op.extra = picked.extra;
  if (!destination(operands[0], picked.d, op.d)) return false;
  std::uint32_t* const slots[3] = {&op.a, &op.b, &op.c};
  const Width of_type = width_of(form.type());
  for (std::size_t i = 0; i + 1 < needed; ++i) {
    if (!source(operands[i + 1], widths[i], type_of_operand(form, widths[i], of_type), *slots[i])) return false;
  }
  return true;
}

bool Decoder::bind_compare(const Form& form, Op& op) {
  const auto& operands = form.instruction->operands;
  const bool packed = form.type() == Type::f16x2 || form.type() == Type::bf16x2;
  const bool compares = form.is("setp") || form.is("set");
  Picked picked = packed && compares ? pick_half(form) : pick_compare(form);
  if (!picked) return refuse("this comparison is not executed");
  const Width combine = picked.c;
  if (compares) picked.c = Width::none;
  op.extra = unused_predicate_slot;
  op.c = never_slot;
  if (operands.size() < 3) return refuse("operands are missing");
  Instruction plain = *form.instruction;
  if (form.is("setp") && operands[0].kind == Operand::Kind::pair && operands[0].parts.size() == 2) {
    plain.operands[0] = operands[0].parts[0];
  }
  Form bound = form;
  bound.instruction = &plain;
  // slct and selp: the first type is that of the data.
  if (form.is("slct")) {
    if (operands.size() < 4) return refuse("operands are missing");
    op.run = picked.run;
    return destination(operands[0], picked.d, op.d) && source(operands[1], picked.a, form.types[0], op.a) &&
           source(operands[2], picked.b, form.types[0], op.b) && source(operands[3], picked.c, form.type(), op.c);
  }
  if (!bind(picked, bound, op)) return false;
  op.extra = unused_predicate_slot;
  if (form.is("setp") && operands[0].kind == Operand::Kind::pair && operands[0].parts.size() == 2 &&
      !destination(operands[0].parts[1], Width::pred, op.extra)) {
    return false;
  }
  if (form.is("selp") && operands.size() > 3 && operands[3].negated) op.flags |= 4;
  if (!compares) return true;
  if (form.is("set")) {
    const Type to = form.types[0];
    const bool pairs = packed && (to == Type::u32 || to == Type::s32);
    op.offset = to == Type::f32     ? 0x3F800000
                : packed            ? (pairs ? 0xFFFF : value_for_true(to))
                : bytes_of(to) == 2 ? value_for_true(to)
                                    : 0xFFFFFFFF;
  }
  if (combine == Width::none) return true;
  if (operands.size() < 4) return refuse("operands are missing");
  if (operands[3].negated) op.flags |= 4;
  return source(operands[3], Width::pred, Type::pred, op.c);
}

bool Decoder::convert(const Instruction& instruction, Op& op) {
  Form form = form_of(instruction);
  if (instruction.operands.size() < 2 || form.type_count != 2) return refuse("this conversion is not executed");
  const Type to = form.types[0], from = form.types[1];
  form.destination_bits = register_bits(instruction.operands[0], to);
  form.source_bits = register_bits(instruction.operands[1], from);
  Picked picked = pick_byte_convert(form);
  if (!picked) picked = pick_packed_convert(form);
  if (!picked) picked = pick_convert(form);
  if (!picked) return refuse("this conversion is not executed");
  if (!bind(picked, form, op)) return false;
  const auto rest = [](std::size_t bits) { return static_cast<std::uint8_t>(64 - std::min<std::size_t>(bits, 64)); };
  op.bytes = rest(8 * bytes_of(from));
  op.count = rest(8 * bytes_of(to));
  const bool float_source = from == Type::f16 || from == Type::bf16 || from == Type::f32 || from == Type::f64;
  const bool top = float_source && (from == Type::f64 || bytes_of(to) == 8);
  op.flags = static_cast<std::uint16_t>(rest(form.destination_bits) | (top ? 0x100 : 0));
  apply_rounding(form.round, op);
  return true;
}

bool Decoder::move(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  if (operands.size() != 2) return refuse("operands are missing");
  const Width width = width_of(form.type());
  const Operand& from = operands[1];
  if (operands[0].kind == Operand::Kind::vector || from.kind == Operand::Kind::vector) {
    // d or a lists narrower registers; the low one first.
    const bool packs = from.kind == Operand::Kind::vector;
    const auto& parts = packs ? from.parts : operands[0].parts;
    if (width == Width::none || parts.empty() || parts.size() > 8) return refuse("this mov is not executed");
    op.run = packs ? &pack : &unpack;
    op.bytes = static_cast<std::uint8_t>(bytes_of(form.type()) / parts.size());
    op.count = static_cast<std::uint8_t>(parts.size());
    op.flags = width == Width::row64 ? access::wide_rows : 0;
    if (op.bytes == 0 || op.bytes > 4) return refuse("this mov is not executed");
    op.extra = static_cast<std::uint32_t>(state_.slots.size());
    const Type part_type = op.bytes == 1 ? Type::b8 : op.bytes == 2 ? Type::b16 : Type::b32;
    for (const Operand& part : parts) {
      std::uint32_t slot = 0;
      const bool ok = packs ? source(part, Width::row32, part_type, slot) : destination(part, Width::row32, slot);
      if (!ok) return false;
      state_.slots.push_back(slot);
    }
    return packs ? destination(operands[0], width, op.d) : source(from, width, form.type(), op.a);
  }
  if (from.kind == Operand::Kind::special) {
    const Special which = special_from(from.name);
    if (which == Special::clock || which == Special::clock64 || which == Special::globaltimer) {
      op.run = &read_clock;
      op.flags = width == Width::row64 ? access::wide_rows : 0;
      op.extra = which == Special::globaltimer ? 1 : 0;
      return destination(operands[0], width, op.d);
    }
  }
  if (from.kind == Operand::Kind::symbol) {
    const Picked picked = pick_bits(form);
    if (!picked || (width != Width::row64 && width != Width::row32))
      return refuse("this register cannot hold an address");
    op.run = picked.run;
    if (!destination(operands[0], width, op.d)) return false;
    if (const Variable* const variable = variable_of(from)) {
      op.a = variable_address(*variable, width, from.offset);
      return true;
    }
    if (width != Width::row64) return refuse("the address of a function needs a 64-bit register");
    const std::uint32_t index = state_.function_index(from.name);
    if (index == no_index) return refuse(fmt::format("{} is not declared", from.name));
    op.a = constant(Width::row64, (std::uint64_t{4} << 40) + index);
    return true;
  }
  const Picked picked = pick_bits(form);
  if (!picked) return refuse("this mov is not executed");
  if (width == Width::pred && from.negated) op.flags = 1;
  const std::uint16_t flags = op.flags;
  if (!bind(picked, form, op)) return false;
  op.flags = flags;
  return true;
}

bool Decoder::arithmetic(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  if (form.is("mov")) return move(instruction, op);
  if (form.is("cvt")) return convert(instruction, op);
  if (form.is("setp") || form.is("set") || form.is("selp") || form.is("slct") || form.is("testp")) {
    return bind_compare(form, op);
  }
  if (form.is("bfi")) {
    const Picked picked = pick_bits(form);
    if (!picked || instruction.operands.size() != 5) return refuse("operands are missing");
    return bind(picked, form, op) && source(instruction.operands[4], Width::row32, Type::b32, op.extra);
  }
  if (form.is("lop3")) {
    const Picked picked = pick_bits(form);
    if (!picked || instruction.operands.size() != 5 || instruction.operands[4].kind != Operand::Kind::integer) {
      return refuse("this lop3 is not executed");
    }
    op.bytes = static_cast<std::uint8_t>(instruction.operands[4].bits);
    return bind(picked, form, op);
  }
  Picked picked = pick_carry(form);
  if (!picked) picked = pick_packed_float(form);
  if (!picked) picked = pick_float(form);
  if (!picked) picked = pick_half(form);
  if (!picked) picked = pick_integer(form);
  if (!picked) picked = pick_bits(form);
  if (!picked) return refuse("this form is not executed");
  if (!bind(picked, form, op)) return false;
  if (width_of(form.type()) == Width::pred) {
    const auto& operands = instruction.operands;
    op.flags = static_cast<std::uint16_t>((operands.size() > 1 && operands[1].negated ? 1 : 0) |
                                          (operands.size() > 2 && operands[2].negated ? 2 : 0));
  }
  apply_rounding(form.round, op);
  return true;
}

}  // namespace corridor::ptx
