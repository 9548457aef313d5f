// SPDX-License-Identifier: Apache-2.0
// How types, roundings and shapes change what the opcode table says.
#include "corridor/ptx/isa/op_variants.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace corridor::ptx {
namespace {

constexpr std::string_view why_no_clusters = "clusters of blocks are not simulated";
constexpr std::string_view why_no_tensor_copies = "copies of tensors and reducing copies (TMA) are not simulated";
constexpr std::string_view why_no_sparse = "sparse and block-scaled products are not simulated";
constexpr std::string_view why_no_such_textures = "of textures only those of one and two dimensions are simulated";
constexpr std::string_view why_no_small_types = "types of less than 8 bits are not simulated";

bool has_modifier(const Instruction& instruction, std::string_view modifier) {
  const auto& all = instruction.modifiers;
  return std::find(all.begin(), all.end(), modifier) != all.end();
}

/// The types among the modifiers, in their order: result first, then sources.
struct TypeList {
  std::array<Type, 4> type{};
  std::size_t count = 0;
  [[nodiscard]] Type first() const { return type[0]; }
  [[nodiscard]] Type second() const { return count > 1 ? type[1] : type[0]; }
};

TypeList types_of(const Instruction& instruction) {
  TypeList out;
  for (const std::string_view modifier : instruction.modifiers) {
    if (out.count == out.type.size()) break;
    if (const auto type = type_from(modifier)) out.type[out.count++] = *type;
  }
  return out;
}

bool is_half(Type type) {
  return type == Type::f16 || type == Type::f16x2 || type == Type::bf16 || type == Type::bf16x2;
}

bool is_float(Type type) {
  return is_half(type) || type == Type::f32 || type == Type::f32x2 || type == Type::f64;
}

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

std::uint32_t elements_of(Type type) {
  return type == Type::f16x2 || type == Type::bf16x2 || type == Type::f32x2 ? 2 : 1;
}

Pipe float_pipe(Type type) {
  if (type == Type::f64) return Pipe::fp64;
  return is_half(type) ? Pipe::fp16 : Pipe::fma;
}

void arithmetic(OpInfo& info, Type type, Work::Kind kind) {
  if (!is_float(type)) return;
  info.pipe = float_pipe(type);
  info.work.kind = kind;
  info.work.type = type;
  info.work.flops = elements_of(type) * (kind == Work::Kind::fma ? 2 : 1);
  info.issue_slots = type == Type::f32x2 ? 2 : 1;
}

void integer_product(const Instruction& instruction, OpInfo& info, Type type) {
  const bool is_64_bit = bytes_of(type) == 8;
  if (!is_64_bit) return;
  info.issue_slots = has_modifier(instruction, "hi") ? 8 : 4;
}

/// Machine instructions on the path that ordinary values take; the rare path (denormals, huge quotients) is left out.
double divide_slots(const Instruction& instruction, Type type, bool is_remainder) {
  if (type == Type::f64) return 13;
  if (type == Type::f32 && has_modifier(instruction, "approx")) return has_modifier(instruction, "ftz") ? 2 : 6;
  if (type == Type::f32) return has_modifier(instruction, "full") ? 8 : 10;
  if (bytes_of(type) == 8) return 97;
  if (bytes_of(type) == 2) return 20;
  return is_signed(type) ? (is_remainder ? 30 : 32) : 26;
}

double reciprocal_slots(const Instruction& instruction, Type type) {
  const bool is_approximate = has_modifier(instruction, "approx");
  if (type == Type::f64) return is_approximate ? 2 : 14;
  if (is_approximate) return has_modifier(instruction, "ftz") ? 1 : 4;
  return 8;
}

void special_function(OpInfo& info, Type type) {
  info.pipe = Pipe::xu;
  info.work.kind = Work::Kind::special;
  info.work.type = type;
}

double special_slots(const Instruction& instruction, Type type) {
  if (type == Type::f16x2 || type == Type::bf16x2) return 2;
  if (instruction.opcode == "sin" || instruction.opcode == "cos") return 2;
  const bool scales = instruction.opcode == "ex2" || instruction.opcode == "lg2";
  return scales && type == Type::f32 && !has_modifier(instruction, "ftz") ? 4 : 1;
}

/// Between integers: a copy or a sign extension; between short floats: the ALU; all other pairs: the slow unit.
void conversion(const TypeList& types, OpInfo& info) {
  const Type to = types.first();
  const Type from = types.second();
  const bool is_short = to != Type::f64 && from != Type::f64;
  if (!is_float(to) && !is_float(from)) {
    info.pipe = Pipe::alu;
    info.issue_slots = bytes_of(to) == 8 && bytes_of(from) < 8 ? 0.5 : 1;
    return;
  }
  const auto is_wide_float = [](Type type) { return type == Type::f32 || type == Type::f64; };
  const bool both_float = (is_float(to) || to == Type::tf32 || bytes_of(to) <= 2) &&
                          (is_float(from) || bytes_of(from) <= 2) && !is_signed(to) && !is_signed(from);
  const bool narrows = is_half(to) || is_half(from) || to == Type::tf32 || to == Type::e4m3x2 || to == Type::e5m2x2;
  if (both_float && is_short && narrows && (is_wide_float(to) || is_wide_float(from) || to == Type::tf32)) {
    info.pipe = Pipe::alu;
  }
}

void memory_access(const Instruction& instruction, OpInfo& info) {
  if (has_modifier(instruction, "async")) {
    info.tier = 0;
    info.why_not = why_no_clusters;
  }
  const bool is_parameter = has_modifier(instruction, "param");
  if (is_parameter) info.issue_slots = 0.5;  // most are operands from constant memory
  const bool is_shared = has_modifier(instruction, "shared") || has_modifier(instruction, "shared::cta");
  const bool is_float_sum = has_modifier(instruction, "add") && is_float(types_of(instruction).first());
  if (is_shared && is_float_sum) info.issue_slots = 6;  // a loop of compare-and-swap
}

/// "m16n8k16" → 16 · 8 · 16; 0 when a modifier is no shape.
std::uint32_t volume_of(std::string_view shape) {
  if (shape.size() < 6 || shape.size() > 12 || shape[0] != 'm') return 0;
  std::uint32_t volume = 1;
  std::size_t i = 0;
  for (const char axis : {'m', 'n', 'k'}) {
    if (i >= shape.size() || shape[i] != axis) return 0;
    std::uint32_t length = 0;
    for (++i; i < shape.size() && shape[i] >= '0' && shape[i] <= '9' && length < 1000; ++i) {
      length = length * 10 + static_cast<std::uint32_t>(shape[i] - '0');
    }
    volume *= length;
  }
  return i == shape.size() ? volume : 0;
}

bool has_small_type(const Instruction& instruction) {
  constexpr std::array<std::string_view, 9> small = {"s4",   "u4",      "b1",     "e2m1",  "e3m2",
                                                     "e2m3", "ue8m0x2", "e2m1x2", "e3m2x2"};
  return std::any_of(small.begin(), small.end(),
                     [&](std::string_view type) { return has_modifier(instruction, type); });
}

void refuse(OpInfo& info, std::string_view why) {
  info.tier = 0;
  info.why_not = why;
}

void matrix_product(const Instruction& instruction, OpInfo& info) {
  const bool is_wmma = instruction.opcode == "wmma";
  if (has_modifier(instruction, "sp") || has_modifier(instruction, "block_scale")) refuse(info, why_no_sparse);
  if (has_small_type(instruction)) refuse(info, why_no_small_types);
  if (is_wmma && !has_modifier(instruction, "mma")) {  // load, store
    info.pipe = Pipe::lsu;
    info.issue_slots = 4;
    return;
  }
  if (instruction.opcode == "wgmma" && !has_modifier(instruction, "mma_async")) return;
  const TypeList types = types_of(instruction);
  std::uint32_t volume = 0;
  for (const std::string_view modifier : instruction.modifiers) volume = std::max(volume, volume_of(modifier));
  info.work.kind = Work::Kind::tensor;
  info.work.type = types.count < 3 && is_wmma ? Type::f16 : types.second();
  info.work.flops = 2 * volume;
  constexpr std::uint32_t largest_step = 16 * 8 * 16;  // what one HMMA does
  info.issue_slots = is_wmma ? std::max(1.0, static_cast<double>(volume) / largest_step) : 1;
}

void fixed_variant(const Instruction& instruction, OpInfo& info) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "cp" && (has_modifier(instruction, "tensor") || has_modifier(instruction, "reduce"))) {
    refuse(info, why_no_tensor_copies);
  }
  if (opcode == "barrier" && has_modifier(instruction, "cluster")) refuse(info, why_no_clusters);
  if (opcode == "tex" &&
      (has_modifier(instruction, "1d") == has_modifier(instruction, "2d") || has_modifier(instruction, "grad"))) {
    refuse(info, why_no_such_textures);
  }
  const TypeList types = types_of(instruction);
  const bool is_pair_of_words = types.count > 0 && bytes_of(types.first()) == 8;
  if (opcode == "cvta") info.issue_slots = 0;
  if (opcode == "bfe") info.issue_slots = 5;
  if (opcode == "bfi" || opcode == "clz") info.issue_slots = 2;
  const bool is_logic = opcode == "and" || opcode == "or" || opcode == "xor" || opcode == "not" || opcode == "shl" ||
                        opcode == "shr" || opcode == "selp" || opcode == "popc" || opcode == "brev";
  if (is_logic && is_pair_of_words) info.issue_slots = 2;
  if (opcode != "mov" || instruction.operands.size() < 2) return;
  // Copies between registers, packing and unpacking mostly vanish; constants often become operands.
  const Operand::Kind source = instruction.operands[1].kind;
  info.issue_slots = source == Operand::Kind::special || source == Operand::Kind::symbol ? 1
                     : source == Operand::Kind::reg || source == Operand::Kind::vector   ? 0
                                                                                         : 0.5;
}

}  // namespace

void adjust_variant(const Instruction& instruction, const OpRow& row, OpInfo& info) {
  if (row.family == Family::fixed) {
    fixed_variant(instruction, info);
    return;
  }
  const TypeList types = types_of(instruction);
  const Type type = types.first();
  switch (row.family) {
    case Family::fixed:
      break;
    case Family::add:
      arithmetic(info, type, Work::Kind::add);
      if (!is_float(type) && bytes_of(type) == 8) info.issue_slots = 2;
      break;
    case Family::mul:
      arithmetic(info, type, Work::Kind::mul);
      if (!is_float(type)) integer_product(instruction, info, type);
      break;
    case Family::fma:
      arithmetic(info, type, Work::Kind::fma);
      if (!is_float(type)) integer_product(instruction, info, type);
      break;
    case Family::compare: {
      const Type compared = types.second();
      if (compared == Type::f64 || is_half(compared)) info.pipe = float_pipe(compared);
      if (!is_float(compared) && bytes_of(compared) == 8) info.issue_slots = 2;
      break;
    }
    case Family::divide:
      if (is_float(type)) special_function(info, type);
      info.issue_slots = divide_slots(instruction, type, instruction.opcode == "rem");
      break;
    case Family::reciprocal:
      special_function(info, type);
      info.issue_slots = reciprocal_slots(instruction, type);
      break;
    case Family::special:
      special_function(info, type);
      info.issue_slots = special_slots(instruction, type);
      break;
    case Family::convert:
      conversion(types, info);
      if (has_small_type(instruction)) refuse(info, why_no_small_types);
      break;
    case Family::memory:
      memory_access(instruction, info);
      break;
    case Family::matrix:
      matrix_product(instruction, info);
      break;
  }
}

}  // namespace corridor::ptx
