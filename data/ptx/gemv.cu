// SPDX-License-Identifier: Apache-2.0
// y = W x with weights of 16 bits, one row a warp: each weight is read once and used for two operations.
#include <cuda_fp16.h>

extern "C" __global__ void gemv_f16(int rows, int columns, const __half* __restrict__ w, const __half* __restrict__ x,
                                    __half* __restrict__ y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  const __half2* weights = reinterpret_cast<const __half2*>(w + (size_t)row * columns);
  const __half2* values = reinterpret_cast<const __half2*>(x);
  float sum = 0;
#pragma unroll 1
  for (int i = lane; i < columns / 2; i += 32) {
    const float2 a = __half22float2(weights[i]);
    const float2 b = __half22float2(values[i]);
    sum = fmaf(a.x, b.x, sum);
    sum = fmaf(a.y, b.y, sum);
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) y[row] = __float2half_rn(sum);
}
