// SPDX-License-Identifier: Apache-2.0
// Values of tensor-core fragments and their product, for mma and wmma; a private part of functional.
//
// Sums go over k in order from C, each step one fused multiply-add in the type of the accumulator (f32 for f16
// accumulators, rounded at the end). Hardware adds several products at a time in wider, truncated sums: its last bits
// differ.
#pragma once

#include <cstdint>

#include "corridor/ptx/functional/op.h"
#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

inline constexpr std::uint32_t most_matrix_values = 1024;  ///< of A, B or C: 16 × 64 is the largest

/// D = A B + C, each row after row. D takes the place of C.
struct MatrixProduct {
  std::uint32_t m = 0, n = 0, k = 0;
  double a[most_matrix_values], b[most_matrix_values], c[most_matrix_values];
  void multiply(Type type_of_d);
};

/// Values of A or B that one register holds: 4 bytes ÷ their size, one of 64 bits.
[[nodiscard]] std::uint32_t values_of_register(Type type);
/// Value e of a register of A, B or C.
[[nodiscard]] double value_of(Type type, std::uint64_t word, std::uint32_t e);
/// Writes value e of a register of D; `saturates`: whole numbers stay in 32 bits.
void put_value(Type type, double value, std::uint32_t e, bool saturates, std::uint64_t& word);

[[nodiscard]] inline std::uint64_t read_register(const Exec& x, std::uint32_t slot, std::uint32_t lane, bool wide) {
  return wide ? row64(x, slot)[lane] : row32(x, slot)[lane];
}
inline void write_register(const Exec& x, std::uint32_t slot, std::uint32_t lane, bool wide, std::uint64_t word) {
  if (wide) {
    row64(x, slot)[lane] = word;
  } else {
    row32(x, slot)[lane] = static_cast<std::uint32_t>(word);
  }
}

inline constexpr std::uint32_t mma_columns = 8;
// mma, ldmatrix, stmatrix, movmatrix (tensor.cpp) and wmma (wmma.cpp); decode_tensor.cpp says how their ops are set up.
void mma_multiply(Exec& x, const Op& op);
void load_matrices(Exec& x, const Op& op);
void store_matrices(Exec& x, const Op& op);
void transpose_matrix(Exec& x, const Op& op);
void wmma_load(Exec& x, const Op& op);
void wmma_store(Exec& x, const Op& op);
void wmma_multiply(Exec& x, const Op& op);

}  // namespace corridor::ptx
