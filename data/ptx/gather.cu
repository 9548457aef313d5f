// SPDX-License-Identifier: Apache-2.0
// y[i] = table[index[i]]: as many sectors as the indices touch.
extern "C" __global__ void gather(int n, const int* __restrict__ index, const float* __restrict__ table,
                                  float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[index[i]];
}
