// SPDX-License-Identifier: Apache-2.0
// The same f32 product C = A · B of square matrices twice: every value from global memory for each use, and in tiles
// that stand in shared memory and registers. Also the largest difference of two arrays.

typedef unsigned int u32;
typedef unsigned long long u64;

// One thread a value of C, 32 columns a warp: each multiply-add loads a value of A and one of B.
extern "C" __global__ void lab_product_naive(const float* a, const float* b, float* c, u32 n) {
  const u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const u32 row = (u32)(at / n), column = (u32)(at % n);
  if (row >= n) return;
  float sum = 0;
#pragma unroll 4
  for (u32 k = 0; k < n; ++k) sum = __fmaf_rn(a[(u64)row * n + k], b[(u64)k * n + column], sum);
  c[at] = sum;
}

#define SIDE 128  // of a block's tile of C
#define DEEP 8    // of a tile of A and B

// 256 threads make 128 × 128 values of C, 8 × 8 each: a multiply-add loads a quarter of a value from shared memory. n is
// a multiple of 128; one block a tile.
extern "C" __global__ void __launch_bounds__(256) lab_product_tiled(const float* a, const float* b, float* c, u32 n) {
  __shared__ __align__(16) float ta[DEEP][SIDE];  // A turned: depth first
  __shared__ __align__(16) float tb[DEEP][SIDE];
  const u32 tiles = n / SIDE;
  const u32 row = blockIdx.x / tiles * SIDE, column = blockIdx.x % tiles * SIDE;
  const u32 t = threadIdx.x, ty = t / 16, tx = t % 16;
  float sum[8][8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) sum[i][j] = 0;
  }
  for (u32 k = 0; k < n; k += DEEP) {
    const float4 va = *(const float4*)(a + (u64)(row + t / 2) * n + k + t % 2 * 4);
    const float4 vb = *(const float4*)(b + (u64)(k + t / 32) * n + column + t % 32 * 4);
    ta[t % 2 * 4 + 0][t / 2] = va.x;
    ta[t % 2 * 4 + 1][t / 2] = va.y;
    ta[t % 2 * 4 + 2][t / 2] = va.z;
    ta[t % 2 * 4 + 3][t / 2] = va.w;
    *(float4*)&tb[t / 32][t % 32 * 4] = vb;
    __syncthreads();
#pragma unroll
    for (int d = 0; d < DEEP; ++d) {
      // Two groups of four columns, 64 apart: neighbouring threads read neighbouring 16 bytes.
      float x[8], y[8];
      *(float4*)&x[0] = *(const float4*)&ta[d][ty * 4];
      *(float4*)&x[4] = *(const float4*)&ta[d][64 + ty * 4];
      *(float4*)&y[0] = *(const float4*)&tb[d][tx * 4];
      *(float4*)&y[4] = *(const float4*)&tb[d][64 + tx * 4];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] = __fmaf_rn(x[i], y[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float* line = c + (u64)(row + i / 4 * 64 + ty * 4 + i % 4) * n + column + tx * 4;
    *(float4*)line = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    *(float4*)(line + 64) = make_float4(sum[i][4], sum[i][5], sum[i][6], sum[i][7]);
  }
}

// out[0] = the largest |a − b|, a NaN counting as the largest number; one block of at most 1024 threads.
extern "C" __global__ void lab_difference(const float* a, const float* b, u64 count, float* out) {
  __shared__ float best[1024];
  float mine = 0;
  for (u64 i = threadIdx.x; i < count; i += blockDim.x) {
    const float d = fabsf(a[i] - b[i]);
    mine = d <= mine ? mine : d == d ? d : 3.0e38f;
  }
  best[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (u32 i = 1; i < blockDim.x; ++i) mine = fmaxf(mine, best[i]);
  out[0] = mine;
}
