// SPDX-License-Identifier: Apache-2.0
// Decodes mma, wmma, ldmatrix, stmatrix and movmatrix.
#include <algorithm>
#include <optional>

#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/matrix_math.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {
namespace {

struct Shape {
  std::uint32_t m = 0, n = 0, k = 0;
};

Shape shape_of(const Form& form) {
  for (const std::string_view word : form.instruction->modifiers) {
    if (word == "m16n8k4") return {16, 8, 4};
    if (word == "m16n8k8") return {16, 8, 8};
    if (word == "m16n8k16") return {16, 8, 16};
    if (word == "m16n8k32") return {16, 8, 32};
    if (word == "m8n8k4") return {8, 8, 4};
    if (word == "m8n8k16") return {8, 8, 16};
  }
  return {};
}

bool types_fit(Type a, Type b, Type c, Type d) {
  const bool bytes = (a == Type::s8 || a == Type::u8) && (b == Type::s8 || b == Type::u8);
  if (bytes) return c == Type::s32 && d == Type::s32;
  const auto is_small = [](Type type) { return type == Type::e4m3 || type == Type::e5m2; };
  if (is_small(a) && is_small(b)) return (c == Type::f32 && d == Type::f32) || (c == Type::f16 && d == Type::f16);
  if (a != b) return false;
  if (a == Type::f64) return c == Type::f64 && d == Type::f64;
  if (a == Type::f16) return (c == Type::f16 || c == Type::f32) && (d == Type::f16 || d == Type::f32);
  return (a == Type::bf16 || a == Type::tf32) && c == Type::f32 && d == Type::f32;
}

Shape wmma_shape(const Form& form) {
  if (form.has("m16n16k16")) return {16, 16, 16};
  if (form.has("m8n32k16")) return {8, 32, 16};
  if (form.has("m32n8k16")) return {32, 8, 16};
  if (form.has("m16n16k8")) return {16, 16, 8};
  if (form.has("m8n8k4")) return {8, 8, 4};
  return {};
}

/// Which matrices there are: tf32 and f64 have a shape of their own, the others share three.
bool wmma_has(const Shape& shape, Type type, char which) {
  const bool accumulates = which == 'c' || which == 'd';
  const bool halves = type == Type::f16 || type == Type::bf16, bytes = type == Type::s8 || type == Type::u8;
  if (type == Type::f64) return shape.k == 4;
  if (accumulates) {
    return (type == Type::f32 && shape.k != 4) || ((type == Type::f16 || type == Type::s32) && shape.k == 16);
  }
  return type == Type::tf32 ? shape.k == 8 : (halves || bytes) && shape.k == 16;
}

std::optional<WmmaMatrix> wmma_matrix(const Shape& shape, Type type, char which) {
  if (!wmma_has(shape, type, which)) return std::nullopt;
  WmmaMatrix matrix;
  matrix.type = type;
  matrix.rows = which == 'b' ? shape.k : shape.m;
  matrix.columns = which == 'a' ? shape.k : shape.n;
  matrix.values = values_of_register(type);
  matrix.wide = type == Type::f64;
  matrix.value_bytes = (matrix.wide ? 8 : 4) / matrix.values;
  const bool fixed = type == Type::f16 && (which == 'a' || which == 'b');
  matrix.registers = fixed ? 8 : matrix.rows * matrix.columns / (32 * matrix.values);
  return matrix;
}

Space wmma_space(const Form& form) {
  for (const std::string_view word : form.instruction->modifiers) {
    if (word == "global") return Space::global;
    if (word.substr(0, 6) == "shared") return Space::shared;
  }
  return Space::generic;
}

}  // namespace

bool Decoder::fragment(const Operand& operand, std::size_t count, Width width, bool is_write) {
  const bool many = operand.kind == Operand::Kind::vector;
  if ((many ? operand.parts.size() : 1) != count) return refuse("a fragment has another number of registers");
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t slot = 0;
    const Operand& part = many ? operand.parts[i] : operand;
    const bool ok = is_write ? destination(part, width, slot)
                             : source(part, width, width == Width::row64 ? Type::b64 : Type::b32, slot);
    if (!ok) return false;
    state_.slots.push_back(slot);
  }
  return true;
}

bool Decoder::tensor(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  if (form.is("movmatrix")) {
    op.run = &transpose_matrix;
    return operands.size() == 2 && destination(operands[0], Width::row32, op.d) &&
           source(operands[1], Width::row32, Type::b32, op.a);
  }
  const bool loads = form.is("ldmatrix");
  if (loads || form.is("stmatrix")) {
    if (operands.size() != 2 || !form.has("m8n8") || form.type() != Type::b16)
      return refuse("this form is not executed");
    op.count = form.has("x4") ? 4 : form.has("x2") ? 2 : 1;
    op.bytes = form.has("trans") ? 1 : 0;
    op.run = loads ? &load_matrices : &store_matrices;
    op.extra = static_cast<std::uint32_t>(state_.slots.size());
    return address(operands[loads ? 1 : 0], op) && fragment(operands[loads ? 0 : 1], op.count, Width::row32, loads);
  }
  if (form.is("wmma")) return wmma(instruction, op);
  return form.is("mma") && mma(instruction, op);
}

bool Decoder::mma(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  const Shape shape = shape_of(form);
  if (shape.m == 0 || form.type_count != 4 || operands.size() != 4 || form.has("sp") || form.has("xor") ||
      form.has("and")) {
    return refuse("this form is not executed");
  }
  const Type d = form.types[0], a = form.types[1], b = form.types[2], c = form.types[3];
  const std::uint32_t e = values_of_register(a), rows = shape.m / 8, chunks = shape.k / (4 * e);
  const bool old_layout = shape.m == 8 && a == Type::f16;
  if (!types_fit(a, b, c, d) || chunks == 0 || old_layout || !form.has("row") || !form.has("col")) {
    return refuse("this form is not executed");
  }
  op.run = &mma_multiply;
  op.flags = static_cast<std::uint16_t>(shape.m | (shape.k << 8));
  op.c = static_cast<std::uint32_t>(a) | (static_cast<std::uint32_t>(b) << 8);
  op.b = static_cast<std::uint32_t>(c) | (static_cast<std::uint32_t>(d) << 8);
  op.bytes = form.satfinite ? 1 : 0;
  op.extra = static_cast<std::uint32_t>(state_.slots.size());
  const Width width = a == Type::f64 ? Width::row64 : Width::row32;
  const auto registers = [&](Type type) { return type == Type::f16 ? rows : 2 * rows; };
  return fragment(operands[0], registers(d), width, true) && fragment(operands[1], chunks * rows, width, false) &&
         fragment(operands[2], chunks, width, false) && fragment(operands[3], registers(c), width, false);
}

bool Decoder::wmma(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  const Shape shape = wmma_shape(form);
  op.d = static_cast<std::uint32_t>(state_.matrices.size());
  op.extra = static_cast<std::uint32_t>(state_.slots.size());
  const auto width = [](const WmmaMatrix& matrix) { return matrix.wide ? Width::row64 : Width::row32; };
  if (form.has("mma")) {
    const bool of_f16 = form.type_count == 2;
    const bool directed = form.round != Round::none && form.round != Round::rn;
    if ((!of_f16 && form.type_count != 4) || operands.size() != 4 || directed)
      return refuse("this form is not executed");
    const Type a = of_f16 ? Type::f16 : form.types[1], b = of_f16 ? Type::f16 : form.types[2];
    const Type d = form.types[0], c = of_f16 ? form.types[1] : form.types[3];
    if (!types_fit(a, b, c, d) || (form.satfinite && d != Type::s32)) return refuse("this form is not executed");
    const Type types[] = {d, a, b, c};
    for (int i = 0; i < 4; ++i) {
      const auto matrix = wmma_matrix(shape, types[i], "dabc"[i]);
      if (!matrix) return refuse("there is no such shape");
      state_.matrices.push_back(*matrix);
      if (!fragment(operands[static_cast<std::size_t>(i)], matrix->registers, width(*matrix), i == 0)) return false;
    }
    op.run = &wmma_multiply;
    op.bytes = form.satfinite ? 1 : 0;
    return true;
  }
  const bool loads = form.has("load");
  const char which = form.has("a")            ? 'a'
                     : form.has("b")          ? 'b'
                     : form.has("c") && loads ? 'c'
                     : form.has("d")          ? 'd'
                                              : ' ';
  if (form.type_count != 1 || operands.size() < 2 || which == ' ') return refuse("this form is not executed");
  auto matrix = wmma_matrix(shape, form.type(), which);
  if (!matrix || form.has("row") == form.has("col")) return refuse("there is no such shape");
  matrix->by_column = form.has("col");
  matrix->space = wmma_space(form);
  state_.matrices.push_back(*matrix);
  op.run = loads ? &wmma_load : &wmma_store;
  op.b = constant(Width::row32, matrix->by_column ? matrix->rows : matrix->columns);
  return address(operands[loads ? 1 : 0], op) &&
         fragment(operands[loads ? 0 : 1], matrix->registers, width(*matrix), loads) &&
         (operands.size() < 3 || source(operands[2], Width::row32, Type::u32, op.b));
}

}  // namespace corridor::ptx
