// SPDX-License-Identifier: Apache-2.0
// wmma: matrices in fragments whose layout PTX leaves open. Here value i of register r of a lane is number
// (32 r + lane) E + i of the matrix, row after row, E values a register; where a fragment has more room than the matrix
// values (A and B of f16), it holds them again. A load or store counts one request a register where the values lie side
// by side in memory, one a value where they do not; a GPU, whose layout is another, may need more or fewer.
#include <algorithm>
#include <bit>
#include <cstring>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/matrix_math.h"
#include "corridor/ptx/functional/memory_access.h"
#include "corridor/ptx/functional/program_state.h"
#include "corridor/ptx/functional/wmma.h"

namespace corridor::ptx {
namespace {

/// One access of all lanes to global or shared memory, by the window of a generic address.
bool reach_any(Exec& x, std::uint64_t* address, Space space, std::uint32_t bytes, Touch touch, LaneAddresses& a,
               HostLanes& host) {
  const std::uint64_t first = address[std::countr_zero(x.mask)];
  std::int64_t base = 0;
  if (space == Space::generic) {
    const bool in_shared = first >= shared_window && first < local_window;
    space = in_shared ? Space::shared : Space::global;
    if (in_shared) base = -static_cast<std::int64_t>(shared_window);
  }
  lane_kernels().addresses(address, false, base, x.mask, bytes, a);
  return space == Space::shared ? reach_shared(x, a, x.mask, bytes, touch, 0, host)
                                : reach_global(x, a, x.mask, bytes, touch, 0, host);
}

/// Moves `count` values, from value `first` on, of one register of every lane.
bool move_values(Exec& x, const Op& op, const WmmaMatrix& matrix, std::uint32_t r, std::uint32_t first,
                 std::uint32_t count, bool is_load) {
  const std::uint32_t lane0 = static_cast<std::uint32_t>(std::countr_zero(x.mask));
  const std::uint64_t base = ((op.flags & access::narrow_base) != 0 ? row32(x, op.a)[lane0] : row64(x, op.a)[lane0]) +
                             static_cast<std::uint64_t>(op.offset);
  const std::uint64_t stride = row32(x, op.b)[lane0];
  const std::uint32_t slot = x.block->program().slots[op.extra + r], bytes = count * matrix.value_bytes;
  alignas(64) std::uint64_t address[32];
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t i = matrix.number(r, lane, first), row = i / matrix.columns, column = i % matrix.columns;
    address[lane] = base + (matrix.by_column ? column * stride + row : row * stride + column) * matrix.value_bytes;
  }
  LaneAddresses a;
  HostLanes host;
  if (!reach_any(x, address, matrix.space, bytes, is_load ? Touch::load : Touch::store, a, host)) return false;
  const std::uint32_t shift = 8 * first * matrix.value_bytes;
  for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    std::uint8_t* const there = lane_pointer(host, a, lane, bytes);
    std::uint64_t word = read_register(x, slot, lane, matrix.wide);
    if (!is_load) {
      word >>= shift;
      std::memcpy(there, &word, bytes);
      continue;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, there, bytes);
    write_register(x, slot, lane, matrix.wide, first == 0 ? value : word | (value << shift));
  }
  return true;
}

void move_matrix(Exec& x, const Op& op, bool is_load) {
  if (!gather_lanes(x, all_lanes)) return;
  const WmmaMatrix& matrix = x.block->program().matrices[op.d];
  const std::uint32_t in_one = matrix.by_column ? 1 : matrix.values;
  const std::uint32_t different = std::min(matrix.registers, matrix.rows * matrix.columns / (32 * matrix.values));
  for (std::uint32_t r = 0; r < different; ++r) {
    for (std::uint32_t first = 0; first < matrix.values; first += in_one) {
      if (!move_values(x, op, matrix, r, first, in_one, is_load)) return;
    }
  }
  const std::uint32_t* const slots = x.block->program().slots.data() + op.extra;
  for (std::uint32_t r = different; is_load && r < matrix.registers; ++r) {
    std::copy_n(row32(x, slots[r % different]), 32, row32(x, slots[r]));
  }
}

void read_fragment(const Exec& x, const std::uint32_t* slots, const WmmaMatrix& matrix, double* out) {
  for (std::uint32_t r = 0; r < matrix.registers; ++r) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t word = read_register(x, slots[r], lane, matrix.wide);
      for (std::uint32_t i = 0; i < matrix.values; ++i) {
        out[matrix.number(r, lane, i)] = value_of(matrix.type, word, i);
      }
    }
  }
}

}  // namespace

void wmma_load(Exec& x, const Op& op) {
  move_matrix(x, op, true);
}

void wmma_store(Exec& x, const Op& op) {
  move_matrix(x, op, false);
}

void wmma_multiply(Exec& x, const Op& op) {
  if (!gather_lanes(x, all_lanes)) return;
  const WmmaMatrix* const matrix = x.block->program().matrices.data() + op.d;  // D, A, B, C
  const std::uint32_t* slots = x.block->program().slots.data() + op.extra;
  const std::uint32_t* const slots_d = slots;
  MatrixProduct product;
  product.m = matrix[0].rows;
  product.n = matrix[0].columns;
  product.k = matrix[1].columns;
  double* const into[] = {product.a, product.b, product.c};
  for (int i = 0; i < 3; ++i) {
    slots += matrix[i].registers;
    read_fragment(x, slots, matrix[i + 1], into[i]);
  }
  product.multiply(matrix[0].type);
  for (std::uint32_t r = 0; r < matrix[0].registers; ++r) {
    for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      std::uint64_t word = 0;
      for (std::uint32_t i = 0; i < matrix[0].values; ++i) {
        put_value(matrix[0].type, product.c[matrix[0].number(r, lane, i)], i, op.bytes != 0, word);
      }
      write_register(x, slots_d[r], lane, matrix[0].wide, word);
    }
  }
}

}  // namespace corridor::ptx
