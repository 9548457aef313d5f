// SPDX-License-Identifier: Apache-2.0
// mma.sync, ldmatrix, stmatrix and movmatrix.
//
// A register of a fragment holds E values (4 bytes ÷ their size; one of 64 bits). Lane l has row g = l ÷ 4 and place
// t = l mod 4. Register r of A holds row g (+ 8 when r is odd and there are 16 rows), values k = 4·E·chunk + E·t + e;
// register r of B column g, k = 4·E·r + E·t + e; register r of C row g (+ 8 for the second pair), column 2·t + r mod 2.
#include <algorithm>
#include <cstring>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/matrix_math.h"
#include "corridor/ptx/functional/memory_access.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {

/// flags: bits 0–4 m, 8–15 k; c: types of A (low byte) and B, b: type of C and D.
void mma_multiply(Exec& x, const Op& op) {
  if (!gather_lanes(x, all_lanes)) return;
  MatrixProduct product;
  product.m = op.flags & 0xFF;
  product.n = mma_columns;
  product.k = op.flags >> 8;
  const auto type_a = static_cast<Type>(op.c & 0xFF), type_b = static_cast<Type>(op.c >> 8);
  const auto type_c = static_cast<Type>(op.b & 0xFF), type_d = static_cast<Type>(op.b >> 8);
  const std::uint32_t e = values_of_register(type_a), chunks = product.k / (4 * e), rows = product.m / 8;
  const std::uint32_t e_c = values_of_register(type_c), e_d = values_of_register(type_d);
  const bool wide = type_a == Type::f64;
  const std::uint32_t* const slots_d = x.block->program().slots.data() + op.extra;
  const std::uint32_t* const slots_a = slots_d + 2 * rows / e_d;
  const std::uint32_t* const slots_b = slots_a + chunks * rows;
  const std::uint32_t* const slots_c = slots_b + chunks;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t g = lane / 4, t = lane % 4;
    for (std::uint32_t r = 0; r < chunks * rows; ++r) {
      const std::uint64_t word = read_register(x, slots_a[r], lane, wide);
      double* const row = product.a + (g + 8 * (r % rows)) * product.k + r / rows * 4 * e + t * e;
      for (std::uint32_t i = 0; i < e; ++i) row[i] = value_of(type_a, word, i);
    }
    for (std::uint32_t r = 0; r < chunks; ++r) {
      const std::uint64_t word = read_register(x, slots_b[r], lane, wide);
      for (std::uint32_t i = 0; i < e; ++i) {
        product.b[(r * 4 * e + t * e + i) * mma_columns + g] = value_of(type_b, word, i);
      }
    }
    for (std::uint32_t i = 0; i < 2 * rows; ++i) {
      const std::uint64_t word = read_register(x, slots_c[i / e_c], lane, wide);
      product.c[(g + 8 * (i / 2)) * mma_columns + 2 * t + i % 2] = value_of(type_c, word, i % e_c);
    }
  }
  product.multiply(type_d);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t g = lane / 4, t = lane % 4;
    std::uint64_t word = 0;
    for (std::uint32_t i = 0; i < 2 * rows; ++i) {
      put_value(type_d, product.c[(g + 8 * (i / 2)) * mma_columns + 2 * t + i % 2], i % e_d, op.bytes != 0, word);
      if (i % e_d == e_d - 1) write_register(x, slots_d[i / e_d], lane, wide, word);
    }
  }
}

namespace {

/// Values of 8 × 8 matrices of 16 bits: lane l holds row l ÷ 4, columns 2 (l mod 4) and the next; transposed: the
/// other way round.
void matrix_place(std::uint32_t lane, std::uint32_t half, bool transposed, std::uint32_t& row, std::uint32_t& column) {
  row = lane / 4;
  column = 2 * (lane % 4) + half;
  if (transposed) std::swap(row, column);
}

void move_matrices(Exec& x, const Op& op, bool is_load) {
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

}  // namespace

void load_matrices(Exec& x, const Op& op) {
  move_matrices(x, op, true);
}

void store_matrices(Exec& x, const Op& op) {
  move_matrices(x, op, false);
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

}  // namespace corridor::ptx
