// SPDX-License-Identifier: Apache-2.0
// y = a x + y, one value a thread: two reads, one write, two operations.
extern "C" __global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
