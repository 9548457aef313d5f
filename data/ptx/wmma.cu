// SPDX-License-Identifier: Apache-2.0
// C = A B in f16 with sums of 32 bits through wmma: one warp makes a tile of 16 × 16 from fragments that it loads from
// global memory. A is m × k, B is k × n, C is m × n, all row after row.
#include <mma.h>

extern "C" __global__ void wmma_f16(int n, int k, const __half* __restrict__ a, const __half* __restrict__ b,
                                    float* __restrict__ c) {
  using namespace nvcuda;
  const int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
#pragma unroll 1
  for (int first = 0; first < k; first += 16) {
    wmma::load_matrix_sync(left, a + (size_t)row * k + first, k);
    wmma::load_matrix_sync(right, b + (size_t)first * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  wmma::store_matrix_sync(c + (size_t)row * n + column, sum, n, wmma::mem_row_major);
}
