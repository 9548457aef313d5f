// SPDX-License-Identifier: Apache-2.0
// mma.sync, ldmatrix, stmatrix and movmatrix.
//
// A register of a fragment holds E values (4 bytes ÷ their size; one of 64 bits). Lane l has row g = l ÷ 4 and place
// t = l mod 4. Register r of A holds row g (+ 8 when r is odd and there are 16 rows), values k = 4·E·chunk + E·t + e;
// register r of B column g, k = 4·E·r + E·t + e; register r of C row g (+ 8 for the second pair), column 2·t + r mod 2.
// Sums go over k in order from C, each step one fused multiply-add in the type of the accumulator (f32 for f16
// accumulators, rounded at the end). Hardware adds several products at a time in wider, truncated sums: its last bits
// differ.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/memory_access.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t most_m = 16, most_n = 8, most_k = 64;

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

/// Nearest f16, ties to even.
std::uint32_t f16_round(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return 0x7FFF;
  if (magnitude >= 0x477FF000) return sign | 0x7C00;  // 65520 and more
  const auto exponent = static_cast<int>(magnitude >> 23);
  std::uint32_t mantissa = magnitude & 0x7FFFFF;
  if (exponent != 0) mantissa |= 0x800000;
  const int shift = exponent >= 113 ? 13 : 126 - exponent;
  if (shift > 24) return sign;
  const std::uint32_t kept = mantissa >> shift, rest = mantissa & ((1U << shift) - 1), half = 1U << (shift - 1);
  const std::uint32_t rounded = kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
  const std::uint32_t base = exponent >= 113 ? static_cast<std::uint32_t>(exponent - 113) << 10 : 0;
  return sign | (base + rounded);
}

/// Value e of a register as a number.
double value_of(Type type, std::uint64_t word, std::uint32_t e) {
  switch (type) {
    case Type::f16:
      return static_cast<double>(lane_kernels().f16_to_float(static_cast<std::uint32_t>(word >> (16 * e)) & 0xFFFF));
    case Type::bf16:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word >> (16 * e)) << 16));
    case Type::tf32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(word) & 0xFFFFE000U));
    case Type::f64:
      return std::bit_cast<double>(word);
    case Type::s8:
      return static_cast<double>(static_cast<std::int8_t>(word >> (8 * e)));
    default:
      return static_cast<double>(static_cast<std::uint8_t>(word >> (8 * e)));
  }
}

std::uint32_t values_of_register(Type type) {
  return type == Type::f16 || type == Type::bf16 ? 2 : type == Type::s8 || type == Type::u8 ? 4 : 1;
}

struct Tile {
  double a[most_m][most_k], b[most_k][most_n];
};

std::uint64_t read_register(const Exec& x, std::uint32_t slot, std::uint32_t lane, bool wide) {
  return wide ? row64(x, slot)[lane] : row32(x, slot)[lane];
}

/// flags: bits 0–4 m, 8–15 k; c: types of A (low byte) and B, b: type of C and D.
void multiply(Exec& x, const Op& op) {
  if (!gather_lanes(x, all_lanes)) return;
  const std::uint32_t m = op.flags & 0xFF, k = op.flags >> 8;
  const auto type_a = static_cast<Type>(op.c & 0xFF), type_b = static_cast<Type>(op.c >> 8);
  const auto type_c = static_cast<Type>(op.b & 0xFF), type_d = static_cast<Type>(op.b >> 8);
  const std::uint32_t e_a = values_of_register(type_a), chunks = k / (4 * e_a), rows = m / 8;
  const std::uint32_t* const slots = x.block->program().slots.data() + op.extra;
  const bool wide = type_a == Type::f64;
  const std::uint32_t d_registers = type_d == Type::f16 ? rows : 2 * rows;
  const std::uint32_t* const slots_a = slots + d_registers;
  const std::uint32_t* const slots_b = slots_a + chunks * rows;
  const std::uint32_t* const slots_c = slots_b + chunks;
  Tile tile;
  double c[most_m][most_n];
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t g = lane / 4, t = lane % 4;
    for (std::uint32_t r = 0; r < chunks * rows; ++r) {
      const std::uint64_t word = read_register(x, slots_a[r], lane, wide);
      const std::uint32_t row = g + 8 * (r % rows), first = r / rows * 4 * e_a + t * e_a;
      for (std::uint32_t e = 0; e < e_a; ++e) tile.a[row][first + e] = value_of(type_a, word, e);
    }
    for (std::uint32_t r = 0; r < chunks; ++r) {
      const std::uint64_t word = read_register(x, slots_b[r], lane, wide);
      for (std::uint32_t e = 0; e < e_a; ++e) tile.b[r * 4 * e_a + t * e_a + e][g] = value_of(type_b, word, e);
    }
    for (std::uint32_t i = 0; i < 2 * rows; ++i) {
      double& out = c[g + 8 * (i / 2)][2 * t + i % 2];
      if (type_c == Type::f16) {
        out = value_of(Type::f16, row32(x, slots_c[i / 2])[lane], i % 2);
      } else if (type_c == Type::s32) {
        out = static_cast<double>(static_cast<std::int32_t>(row32(x, slots_c[i])[lane]));
      } else if (type_c == Type::f64) {
        out = std::bit_cast<double>(row64(x, slots_c[i])[lane]);
      } else {
        out = static_cast<double>(std::bit_cast<float>(row32(x, slots_c[i])[lane]));
      }
    }
  }
  for (std::uint32_t i = 0; i < m; ++i) {
    for (std::uint32_t j = 0; j < most_n; ++j) {
      double sum = c[i][j];
      if (type_d == Type::f64) {
        for (std::uint32_t l = 0; l < k; ++l) sum = std::fma(tile.a[i][l], tile.b[l][j], sum);
      } else if (type_d == Type::s32) {
        for (std::uint32_t l = 0; l < k; ++l) sum += tile.a[i][l] * tile.b[l][j];  // far below 2^53: exact
      } else {
        for (std::uint32_t l = 0; l < k; ++l) {
          sum = static_cast<double>(
              std::fma(static_cast<float>(tile.a[i][l]), static_cast<float>(tile.b[l][j]), static_cast<float>(sum)));
        }
      }
      c[i][j] = sum;
    }
  }
  const bool saturates = op.bytes != 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t g = lane / 4, t = lane % 4;
    for (std::uint32_t i = 0; i < 2 * rows; ++i) {
      const double v = c[g + 8 * (i / 2)][2 * t + i % 2];
      if (type_d == Type::f64) {
        row64(x, slots[i])[lane] = v != v ? 0x7FF8000000000000ULL : std::bit_cast<std::uint64_t>(v);
      } else if (type_d == Type::s32) {
        const double limited = saturates ? std::clamp(v, -2147483648.0, 2147483647.0) : v;
        row32(x, slots[i])[lane] = static_cast<std::uint32_t>(static_cast<std::int64_t>(limited));
      } else if (type_d == Type::f16) {
        std::uint32_t& d = row32(x, slots[i / 2])[lane];
        const std::uint32_t h = f16_round(static_cast<float>(v));
        d = i % 2 == 0 ? h : (d & 0xFFFF) | (h << 16);
      } else {
        const auto f = static_cast<float>(v);
        row32(x, slots[i])[lane] = f != f ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(f);
      }
    }
  }
}

/// Values of 8 × 8 matrices of 16 bits: lane l holds row l ÷ 4, columns 2 (l mod 4) and the next; transposed: the
/// other way round.
void matrix_place(std::uint32_t lane, std::uint32_t half, bool transposed, std::uint32_t& row, std::uint32_t& column) {
  row = lane / 4;
  column = 2 * (lane % 4) + half;
  if (transposed) std::swap(row, column);
}

template <bool is_load>
void move_matrices(Exec& x, const Op& op) {
  if (!gather_lanes(x, all_lanes)) return;
  const std::uint32_t* const slots = x.block->program().slots.data() + op.extra;
  const std::uint32_t lanes = op.count == 4 ? all_lanes : (1U << (8 * op.count)) - 1;
  LaneAddresses a;
  HostLanes host;
  lane_kernels().addresses(x.frame + op.a, (op.flags & access::narrow_base) != 0, op.offset, lanes, 16, a);
  if (!reach_shared(x, a, lanes, 16, is_load ? Touch::load : Touch::store, 0, host)) return;
  const std::span<std::uint8_t> shared = x.block->shared();
  const bool transposed = op.bytes != 0;
  for (std::uint32_t i = 0; i < op.count; ++i) {
    std::uint32_t words[32] = {};
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      for (std::uint32_t half = 0; half < 2; ++half) {
        std::uint32_t row = 0, column = 0;
        matrix_place(lane, half, transposed, row, column);
        std::uint8_t* const p = shared.data() + a.of[8 * i + row] + 2 * column;
        std::uint16_t value = 0;
        if (is_load) {
          std::memcpy(&value, p, 2);
          words[lane] |= std::uint32_t{value} << (16 * half);
        } else {
          value = static_cast<std::uint16_t>(row32(x, slots[i])[lane] >> (16 * half));
          std::memcpy(p, &value, 2);
        }
      }
    }
    if (is_load) std::copy_n(words, 32, row32(x, slots[i]));
  }
}

void transpose_matrix(Exec& x, const Op& op) {
  if (!gather_lanes(x, all_lanes)) return;
  const std::uint32_t* const a = row32(x, op.a);
  std::uint16_t matrix[8][8];
  std::uint32_t out[32];
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t half = 0; half < 2; ++half) {
      matrix[lane / 4][2 * (lane % 4) + half] = static_cast<std::uint16_t>(a[lane] >> (16 * half));
    }
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    out[lane] = matrix[2 * (lane % 4)][lane / 4] | (std::uint32_t{matrix[2 * (lane % 4) + 1][lane / 4]} << 16);
  }
  std::copy_n(out, 32, row32(x, op.d));
}

bool types_fit(Type a, Type b, Type c, Type d) {
  const bool bytes = (a == Type::s8 || a == Type::u8) && (b == Type::s8 || b == Type::u8);
  if (bytes) return c == Type::s32 && d == Type::s32;
  if (a != b) return false;
  if (a == Type::f64) return c == Type::f64 && d == Type::f64;
  if (a == Type::f16) return (c == Type::f16 || c == Type::f32) && (d == Type::f16 || d == Type::f32);
  return (a == Type::bf16 || a == Type::tf32) && c == Type::f32 && d == Type::f32;
}

}  // namespace

bool Decoder::tensor(const Instruction& instruction, Op& op) {
  const Form form = form_of(instruction);
  const auto& operands = instruction.operands;
  const auto list = [&](const Operand& operand, std::size_t count, Width width, bool is_write) {
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
  };
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
    op.run = loads ? &move_matrices<true> : &move_matrices<false>;
    op.extra = static_cast<std::uint32_t>(state_.slots.size());
    return address(operands[loads ? 1 : 0], op) && list(operands[loads ? 0 : 1], op.count, Width::row32, loads);
  }
  if (!form.is("mma")) return false;
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
  op.run = &multiply;
  op.flags = static_cast<std::uint16_t>(shape.m | (shape.k << 8));
  op.c = static_cast<std::uint32_t>(a) | (static_cast<std::uint32_t>(b) << 8);
  op.b = static_cast<std::uint32_t>(c) | (static_cast<std::uint32_t>(d) << 8);
  op.bytes = form.satfinite ? 1 : 0;
  op.extra = static_cast<std::uint32_t>(state_.slots.size());
  const Width width = a == Type::f64 ? Width::row64 : Width::row32;
  const auto registers = [&](Type type) { return type == Type::f16 ? rows : 2 * rows; };
  return list(operands[0], registers(d), width, true) && list(operands[1], chunks * rows, width, false) &&
         list(operands[2], chunks, width, false) && list(operands[3], registers(c), width, false);
}

}  // namespace corridor::ptx
