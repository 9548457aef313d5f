// SPDX-License-Identifier: Apache-2.0
// Decodes loads, stores, atomics and conversions of addresses.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/parameters.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {
namespace {

Space space_of(const Form& form) {
  for (const std::string_view word : form.instruction->modifiers) {
    if (word.substr(0, 6) == "global") return Space::global;
    if (word == "shared" || word == "shared::cta" || word == "shared::cluster") return Space::shared;
    if (word.substr(0, 5) == "local") return Space::local;
    if (word.substr(0, 5) == "param") return Space::param;
    if (word.substr(0, 5) == "const") return Space::constant;
  }
  return Space::generic;
}

bool any_of_words(const Form& form, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return form.has(word); });
}

bool orders(const Form& form) {
  return any_of_words(form, {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"});
}

std::optional<AtomicKind> atomic_kind(const Form& form) {
  static constexpr std::array<std::pair<std::string_view, AtomicKind>, 10> table{{{"add", AtomicKind::add},
                                                                                  {"min", AtomicKind::minimum},
                                                                                  {"max", AtomicKind::maximum},
                                                                                  {"and", AtomicKind::conjunction},
                                                                                  {"or", AtomicKind::disjunction},
                                                                                  {"xor", AtomicKind::exclusive},
                                                                                  {"exch", AtomicKind::exchange},
                                                                                  {"cas", AtomicKind::swap},
                                                                                  {"inc", AtomicKind::increment},
                                                                                  {"dec", AtomicKind::decrement}}};
  for (const auto& [word, kind] : table) {
    if (form.has(word)) return kind;
  }
  return std::nullopt;
}

bool atomic_fits(AtomicKind kind, Type type, bool is_vector) {
  const bool integer = type == Type::u32 || type == Type::s32 || type == Type::u64 || type == Type::s64;
  const bool bits = type == Type::b32 || type == Type::b64;
  switch (kind) {
    case AtomicKind::add:
      return integer || type == Type::f32 || type == Type::f64 || type == Type::f16 || type == Type::bf16 ||
             type == Type::f16x2 || type == Type::bf16x2;
    case AtomicKind::minimum:
    case AtomicKind::maximum:
      return integer ||
             (is_vector && (type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2));
    case AtomicKind::exchange:
      return bits || integer || type == Type::f32 || type == Type::f64;
    case AtomicKind::swap:
      return bits || integer || type == Type::b16;
    case AtomicKind::increment:
    case AtomicKind::decrement:
      return type == Type::u32;
    default:
      return bits || integer;
  }
}

}  // namespace

std::vector<std::uint64_t> parameter_offsets(const Function& function, std::uint64_t& total) {
  std::vector<std::uint64_t> offsets;
  total = 0;
  for (const Variable& p : function.parameters) {
    std::uint64_t align = std::max<std::uint64_t>(p.align, 1);
    if (p.align == 0) align = std::max<std::uint64_t>(bytes_of(p.type), 1);
    total = (total + align - 1) / align * align;
    offsets.push_back(total);
    total += p.bytes;
  }
  return offsets;
}

bool Decoder::address(const Operand& operand, Op& op) {
  if (operand.kind == Operand::Kind::symbol ||
      (operand.kind == Operand::Kind::address && operand.base == Operand::Base::symbol)) {
    const Variable* const variable = variable_of(operand);
    if (variable == nullptr) return refuse(fmt::format("{} is not a variable", operand.name));
    op.a = variable_address(*variable);
    op.offset += operand.offset;
    return true;
  }
  if (operand.kind != Operand::Kind::address || !operand.parts.empty()) return refuse("an address is expected");
  op.offset += operand.offset;
  if (operand.base == Operand::Base::none) {
    op.a = constant(Width::row64, 0);
    return true;
  }
  if (operand.index >= function_.registers.size()) return refuse("a register is not declared");
  const Width width = register_width(operand.index);
  if (width != Width::row32 && width != Width::row64) return refuse("an address needs 32 or 64 bits");
  if (width == Width::row32) op.flags |= access::narrow_base;
  op.a = register_slot_[operand.index];
  return true;
}

bool Decoder::vector(const Operand& operand, bool is_write, Type type, Op& op) {
  const bool many = operand.kind == Operand::Kind::vector;
  const std::size_t count = many ? operand.parts.size() : 1;
  if (count == 0 || count > 8) return refuse("vectors have up to 8 elements");
  Width width = width_of(type);
  for (std::size_t i = 0; i < count; ++i) {  // registers may be wider than the data
    const Operand& part = many ? operand.parts[i] : operand;
    if (part.kind == Operand::Kind::reg && part.index < function_.registers.size()) width = register_width(part.index);
  }
  if (width != Width::row32 && width != Width::row64) return refuse("the data register has no such width");
  if (bytes_of(type) == 8 && width != Width::row64) return refuse("the data register is too narrow");
  if (width == Width::row64) op.flags |= access::wide_rows;
  op.count = static_cast<std::uint8_t>(count);
  op.extra = static_cast<std::uint32_t>(state_.slots.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Operand& part = many ? operand.parts[i] : operand;
    std::uint32_t slot = 0;
    if (!(is_write ? destination(part, width, slot) : source(part, width, type, slot))) return false;
    state_.slots.push_back(slot);
  }
  op.d = state_.slots[op.extra];
  return true;
}

bool Decoder::memory(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  if (form.has("async") && (form.is("st") || form.is("red"))) return refuse("it arrives at an mbarrier");
  if (form.is("atom") || form.is("red")) return atomic(instruction, op);
  if (form.is("cvta") || form.is("isspacep")) return address_space(instruction, op);
  if (form.is("prefetch") || form.is("prefetchu") || form.is("applypriority") || form.is("discard")) {
    op.run = &prefetch;
    return true;
  }
  const bool is_load = form.is("ld") || form.is("ldu");
  if (!is_load && !form.is("st")) return false;
  const Type type = form.type();
  const auto& operands = instruction.operands;
  if (operands.size() < 2 || bytes_of(type) == 0 || bytes_of(type) > 8) return refuse("this access is not executed");
  op.bytes = static_cast<std::uint8_t>(bytes_of(type));
  if (type == Type::s8 || type == Type::s16 || type == Type::s32) op.flags |= access::sign;
  if (!address(operands[is_load ? 1 : 0], op) || !vector(operands[is_load ? 0 : 1], is_load, type, op)) return false;
  const Operand& place = operands[is_load ? 1 : 0];
  const bool has_symbol = place.kind == Operand::Kind::symbol || place.base == Operand::Base::symbol;
  const Variable* const variable = has_symbol ? variable_of(place) : nullptr;
  if (orders(form)) op.flags |= access::synchronises | access::skips_l1;
  if (any_of_words(form, {"cg", "cv"})) op.flags |= access::skips_l1;
  switch (space_of(form)) {
    case Space::global:
      op.run = is_load ? &load_global : &store_global;
      break;
    case Space::constant:
      op.flags |= access::uncounted;
      op.run = is_load ? &load_global : nullptr;
      break;
    case Space::shared:
      op.run = is_load ? &load_shared : &store_shared;
      if (op.bytes == 4 && op.count == 1 && (op.flags & (access::wide_rows | access::synchronises)) == 0) {
        const bool is_wide = (op.flags & access::narrow_base) == 0;
        op.run = (is_load ? shared_kernels().load_word : shared_kernels().store_word)[is_wide];
      }
      break;
    case Space::local:
      op.run = is_load ? &load_local : &store_local;
      break;
    case Space::param:
      if (variable != nullptr && is_kernel_parameter(*variable)) {
        std::uint64_t total = 0;
        const auto offsets = parameter_offsets(function_, total);
        op.offset +=
            static_cast<std::int64_t>(offsets[static_cast<std::size_t>(variable - function_.parameters.data())]);
        op.run = is_load ? &load_parameter : nullptr;
      } else if (variable == nullptr && function_.is_entry) {
        op.offset += static_cast<std::int64_t>(parameter_window);
        op.run = is_load ? &load_generic : nullptr;
      } else {
        op.flags |= access::uncounted;
        op.run = is_load ? &load_local : &store_local;
      }
      break;
    case Space::generic:
      op.run = is_load ? &load_generic : &store_generic;
      break;
    default:
      break;
  }
  if ((op.flags & access::synchronises) != 0 && (space_of(form) == Space::global || space_of(form) == Space::generic)) {
    code_.ordered = true;
  }
  return op.run != nullptr || refuse("this space is not written");
}

bool Decoder::address_space(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  if (operands.size() < 2) return refuse("operands are missing");
  std::uint64_t window = 0;
  switch (space_of(form)) {
    case Space::shared:
      window = shared_window;
      break;
    case Space::local:
      window = local_window;
      break;
    case Space::param:
      window = parameter_window;
      break;
    default:
      break;
  }
  if (form.is("isspacep")) {
    op.run = &is_space;
    op.offset = static_cast<std::int64_t>(window);
    return destination(operands[0], Width::pred, op.d) && source(operands[1], Width::row64, Type::b64, op.a);
  }
  if (width_of(form.type()) != Width::row64) return refuse("generic addresses have 64 bits here");
  op.offset = form.has("to") ? -static_cast<std::int64_t>(window) : static_cast<std::int64_t>(window);
  op.run = &to_generic;
  if (!destination(operands[0], Width::row64, op.d)) return false;
  if (operands[1].kind != Operand::Kind::symbol) return source(operands[1], Width::row64, Type::b64, op.a);
  const Variable* const variable = variable_of(operands[1]);
  if (variable == nullptr) return refuse(fmt::format("{} is not a variable", operands[1].name));
  op.a = variable_address(*variable);
  op.offset += operands[1].offset;
  return true;
}

bool Decoder::atomic(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  const std::optional<AtomicKind> kind = atomic_kind(form);
  const bool has_result = form.is("atom");
  const std::size_t first = has_result ? 1 : 0;
  const Type type = form.type();
  const std::size_t count = form.has("v8") ? 8 : form.has("v4") ? 4 : form.has("v2") ? 2 : 1;
  if (!kind || !atomic_fits(*kind, type, count > 1)) return refuse("this atomic is not executed");
  const std::size_t needed = first + (*kind == AtomicKind::swap ? 3 : 2);
  if (operands.size() < needed) return refuse("operands are missing");
  const Width width = width_of(type);
  op.bytes = static_cast<std::uint8_t>(bytes_of(type));
  op.count = static_cast<std::uint8_t>(count);
  if (!address(operands[first], op)) return false;
  if (count > 1) return vector_atomic(instruction, *kind, op);
  if (!source(operands[first + 1], width, type, op.b)) return false;
  if (*kind == AtomicKind::swap && !source(operands[first + 2], width, type, op.c)) return false;
  op.d = unused_row_slot;
  if (has_result && !destination(operands[0], width, op.d)) return false;
  if (width == Width::row64) op.flags |= access::wide_rows;
  return place_atomic(form, *kind, op);
}

bool Decoder::vector_atomic(const Instruction& instruction, AtomicKind kind, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  const bool has_result = form.is("atom"), of_float = form.type() == Type::f32 && kind == AtomicKind::add;
  const bool of_halves = bytes_of(form.type()) == 2 || form.type() == Type::f16x2 || form.type() == Type::bf16x2;
  if ((!of_float && !of_halves) || bytes_of(form.type()) * op.count > 16 || space_of(form) == Space::shared) {
    return refuse("this vector atomic is not executed");
  }
  op.c = static_cast<std::uint32_t>(state_.slots.size());
  const auto take_list = [&](const Operand& list, bool is_write) {
    if (list.kind != Operand::Kind::vector || list.parts.size() != op.count) return refuse("a vector is expected");
    for (const Operand& part : list.parts) {
      std::uint32_t slot = 0;
      if (!(is_write ? destination(part, Width::row32, slot) : source(part, Width::row32, form.type(), slot)))
        return false;
      state_.slots.push_back(slot);
    }
    return true;
  };
  if (!take_list(operands[has_result ? 2 : 1], false)) return false;
  if (has_result && operands[0].kind != Operand::Kind::discard) {
    if (!take_list(operands[0], true)) return false;
  } else {
    state_.slots.insert(state_.slots.end(), op.count, unused_row_slot);
  }
  return place_atomic(form, kind, op);
}

bool Decoder::place_atomic(const Form& form, AtomicKind kind, Op& op) {
  if (any_of_words(form, {"acquire", "release", "acq_rel"})) op.flags |= access::synchronises;
  op.extra = static_cast<std::uint32_t>(kind) | (static_cast<std::uint32_t>(form.type()) << 8);
  const Space space = space_of(form);
  op.run = space == Space::shared ? &atomic_shared : space == Space::global ? &atomic_global : &atomic_generic;
  if (space != Space::shared) code_.ordered = true;
  return space == Space::shared || space == Space::global || space == Space::generic ||
         refuse("this space has no atomics");
}

}  // namespace corridor::ptx
