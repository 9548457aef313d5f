// SPDX-License-Identifier: Apache-2.0
// Counts of 256 kinds: atomics in shared memory first, then one in global memory for each kind of a block.
extern "C" __global__ void histogram(int n, const unsigned char* __restrict__ kinds, unsigned* __restrict__ counts) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&local[kinds[i]], 1u);
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&counts[k], local[k]);
}
