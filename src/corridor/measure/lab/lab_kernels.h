// SPDX-License-Identifier: Apache-2.0
// The inner loops of the experiments, one version for each width of vector, chosen at run time.
//
// Matrices are row-major. Counts of values are multiples of `lab_grain` unless said otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace corridor::measure {

inline constexpr std::size_t lab_grain = 256;       ///< values
inline constexpr std::size_t quantised_group = 32;  ///< weights that share one 16-bit scale

/// How the weights of a matrix are stored.
enum class LabWeights { f32, bf16, int8, int4 };
[[nodiscard]] std::string_view name(LabWeights);
/// Bits a weight takes, its share of the scale counted: 32, 16, 8.5, 4.5.
[[nodiscard]] double bits_of(LabWeights);

/// A stored matrix. int8 and int4 keep one bf16 scale a group of 32 in `scales`; int4 packs weight i in the low half of
/// byte i of its group and weight i + 16 in the high half, each as value + 8.
struct LabMatrix {
  const void* codes = nullptr;
  const std::uint16_t* scales = nullptr;
  std::size_t rows = 0, depth = 0;  ///< depth is a multiple of 64
};

struct LabKernels {
  std::string_view name;  ///< Highway's name of the instruction set
  /// Reads each value once and puts it through `steps` multiply-adds; returns the sum. 2 · steps + 1 FLOP a value.
  float (*intensity)(const float* data, std::size_t count, std::size_t steps) = nullptr;
  /// In place: d · a, d + b, max(d, c); and the three in one pass.
  void (*scale)(float* data, std::size_t count, float a) = nullptr;
  void (*shift)(float* data, std::size_t count, float b) = nullptr;
  void (*clamp)(float* data, std::size_t count, float c) = nullptr;
  void (*fused)(float* data, std::size_t count, float a, float b, float c) = nullptr;
  /// y[batch][rows] = x[batch][depth] · Wᵀ for rows [first, last) (any number); weights are read once.
  void (*product)(LabWeights format, const LabMatrix& w, std::size_t first, std::size_t last, const float* x,
                  std::size_t batch, float* y) = nullptr;
  /// C[m][n] = A[m][k] · B[k][n] one value of A against one row of B at a time: B is read again for each row of A.
  void (*row_product)(const float* a, std::size_t lda, const float* b, std::size_t ldb, float* c, std::size_t ldc,
                      std::size_t m, std::size_t n, std::size_t k) = nullptr;
  /// The same in blocks: a tile of B stays in the nearest cache for all rows. n is a multiple of 32. `scratch` holds
  /// block_scratch_floats and is aligned to 64 bytes. With `add` the product is added to C.
  void (*block_product)(const float* a, std::size_t lda, const float* b, std::size_t ldb, float* c, std::size_t ldc,
                        std::size_t m, std::size_t n, std::size_t k, bool add, float* scratch) = nullptr;
  /// row = exp(scale · row − largest) in place; returns the sum. `largest` is scale · the row's largest.
  float (*exp_row)(float* row, std::size_t count, float scale, float largest) = nullptr;
  float (*max_row)(const float* row, std::size_t count) = nullptr;
  /// row ·= factor.
  void (*scale_row)(float* row, std::size_t count, float factor) = nullptr;
  /// One KV head with bf16 keys and values of `head_dim` (a multiple of 16, at most 256); `heads` queries (at most 16)
  /// share it. Keys stand in tiles of `key_tile` tokens, component by component: key_index tells where. Values stand
  /// token by token. out[heads][head_dim] = softmax(q · K / √head_dim) · V, tile by tile. Whole tiles must be readable.
  void (*cached_attention)(const float* q, std::size_t heads, std::size_t head_dim, const std::uint16_t* keys,
                           const std::uint16_t* values, std::size_t length, float* out) = nullptr;
};

inline constexpr std::size_t block_scratch_floats = 256 * 32;
inline constexpr std::size_t key_tile = 64;
/// Place of component `d` of token `t`'s key.
[[nodiscard]] constexpr std::size_t key_index(std::size_t t, std::size_t d, std::size_t head_dim) {
  return t / key_tile * key_tile * head_dim + d * key_tile + t % key_tile;
}

/// The widest version this processor runs.
[[nodiscard]] const LabKernels& lab_kernels();

// Parts of the table, one file each.
void take_stream_kernels(LabKernels& table);
void take_product_kernels(LabKernels& table);
void take_attention_kernels(LabKernels& table);

/// Sum of every `stride`-th value of `count`; stride is 1, 2, 4, 8 or 16, count a multiple of 8 · stride.
[[nodiscard]] std::uint32_t sum_strided(const std::uint32_t* data, std::size_t count, std::size_t stride);
/// Sum of the first value of each 64-byte line, lines visited in a scattered order that no prefetcher follows and in
/// which no read waits for another. `lines` is a power of two; each line is read once.
[[nodiscard]] std::uint32_t sum_scattered(const std::uint32_t* data, std::size_t lines);

/// Weight (row, column) of a stored matrix, one at a time: what the vector loops must agree with.
[[nodiscard]] float weight_at(LabWeights format, const LabMatrix& w, std::size_t row, std::size_t column);
/// Bytes of the codes and number of scales of `count` weights.
[[nodiscard]] std::size_t code_bytes(LabWeights format, std::size_t count);
[[nodiscard]] std::size_t scale_count(LabWeights format, std::size_t count);

[[nodiscard]] std::uint16_t to_bf16(float value);
[[nodiscard]] float from_bf16(std::uint16_t bits);

}  // namespace corridor::measure
