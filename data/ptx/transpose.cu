// SPDX-License-Identifier: Apache-2.0
// Transpose through a tile in shared memory. Without padding a column lies in one bank: 32 passes; with one more value
// a row it lies in all banks. n is a multiple of 32; a block is 32 × 32.
template <int width>
__device__ void transpose_tile(int n, const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float tile[32][width];
  tile[threadIdx.y][threadIdx.x] = x[(size_t)(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  y[(size_t)(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

extern "C" __global__ void transpose(int n, const float* __restrict__ x, float* __restrict__ y) {
  transpose_tile<32>(n, x, y);
}

extern "C" __global__ void transpose_padded(int n, const float* __restrict__ x, float* __restrict__ y) {
  transpose_tile<33>(n, x, y);
}
