// SPDX-License-Identifier: Apache-2.0
// RMS normalisation of one row a block: sum of squares by shuffles, then each value times its weight.
extern "C" __global__ void rmsnorm(int columns, float epsilon, const float* __restrict__ x,
                                   const float* __restrict__ weight, float* __restrict__ y) {
  __shared__ float of_warp[32];
  const float* row = x + (size_t)blockIdx.x * columns;
  float* out = y + (size_t)blockIdx.x * columns;
  float sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum = fmaf(row[i], row[i], sum);
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = threadIdx.x % 32 < blockDim.x / 32 ? of_warp[threadIdx.x % 32] : 0.0f;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  const float factor = rsqrtf(sum / columns + epsilon);
#pragma unroll 1
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = row[i] * factor * weight[i];
}
