// SPDX-License-Identifier: Apache-2.0
// Three element-wise operations as three passes over memory, or as one.
extern "C" __global__ void pass_scale(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * a;
}

extern "C" __global__ void pass_shift(int n, float b, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + b;
}

extern "C" __global__ void pass_clamp(int n, float least, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], least);
}

extern "C" __global__ void fused(int n, float a, float b, float least, const float* __restrict__ x,
                                 float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(__fadd_rn(__fmul_rn(x[i], a), b), least);
}
