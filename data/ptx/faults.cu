// SPDX-License-Identifier: Apache-2.0
// Kernels that are wrong on purpose, one mistake each.
extern "C" __global__ void fault_out_of_bounds(int n, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = 1.0f;  // one too far
}

extern "C" __global__ void fault_missing_barrier(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ float tile[256];
  tile[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = tile[255 - threadIdx.x];  // another warp's value, without __syncthreads() between
}

extern "C" __global__ void fault_race(unsigned* out) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  count = count + 1;  // every warp, no atomic
  __syncthreads();
  if (threadIdx.x == 0) *out = count;
}

extern "C" __global__ void fault_uninitialised(float* y) {
  __shared__ float tile[64];
  if (threadIdx.x < 32) tile[threadIdx.x] = 1.0f;
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];  // the upper half was never written
}

extern "C" __global__ void fault_misaligned(const char* x, float* y) {
  y[threadIdx.x] = *reinterpret_cast<const float*>(x + 4 * threadIdx.x + 1);
}

extern "C" __global__ void fault_divergent_barrier(float* y) {
  if (threadIdx.x < 16) __syncthreads();  // half of a warp
  y[threadIdx.x] = 1.0f;
}

extern "C" __global__ void fault_endless(volatile float* y) {
  while (y[0] == 0.0f) {
  }
}
