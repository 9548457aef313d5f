// SPDX-License-Identifier: Apache-2.0
// Each thread reads one 4-byte value, `stride` values from its neighbour's: how many sectors a warp needs. `scattered`
// reads at places of a table.
extern "C" __global__ void strided_load(int stride, const float* __restrict__ x, float* __restrict__ y) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i * stride];
}
