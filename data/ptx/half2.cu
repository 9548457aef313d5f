// SPDX-License-Identifier: Apache-2.0
// y = a x + y in packed 16-bit arithmetic: one instruction does two multiply-adds a lane.
#include <cuda_fp16.h>

extern "C" __global__ void axpy_half2(int n2, __half2 a, const __half2* __restrict__ x, __half2* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n2) y[i] = __hfma2(a, x[i], y[i]);
}
