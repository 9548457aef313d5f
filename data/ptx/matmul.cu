// SPDX-License-Identifier: Apache-2.0
// C = A B, row-major: naive, where each thread reads a whole row and column, and in tiles of 32 × 32 kept in shared
// memory, where each value read from memory is used 32 times. Tiles: m, n, k are multiples of 32.
extern "C" __global__ void matmul_naive(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                                        float* __restrict__ c) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum = fmaf(a[(size_t)row * k + i], b[(size_t)i * n + column], sum);
  c[(size_t)row * n + column] = sum;
}

extern "C" __global__ void matmul_tiled(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                                        float* __restrict__ c) {
  __shared__ float tile_a[32][33], tile_b[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int row = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
  for (int first = 0; first < k; first += 32) {
    tile_a[threadIdx.y][threadIdx.x] = a[(size_t)row * k + first + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(size_t)(first + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 32; ++i) sum = fmaf(tile_a[threadIdx.y][i], tile_b[i][threadIdx.x], sum);
    __syncthreads();
  }
  c[(size_t)row * n + column] = sum;
}
