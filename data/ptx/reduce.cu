// SPDX-License-Identifier: Apache-2.0
// Sum of n values: lanes exchange by shuffles, warps by shared memory, blocks by one atomic each.
extern "C" __global__ void reduce_sum(int n, const float* __restrict__ x, float* sum) {
  __shared__ float of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  if (lane == 0) of_warp[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < blockDim.x / 32 ? of_warp[lane] : 0.0f;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
    if (lane == 0) atomicAdd(sum, v);
  }
}
