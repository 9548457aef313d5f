// SPDX-License-Identifier: Apache-2.0
// y = a x, one value a thread, and four values a thread in one load of 16 bytes.
extern "C" __global__ void scale(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}

extern "C" __global__ void scale4(int n4, float a, const float4* __restrict__ x, float4* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n4) {
    const float4 v = x[i];
    y[i] = make_float4(a * v.x, a * v.y, a * v.z, a * v.w);
  }
}
