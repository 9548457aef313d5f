// SPDX-License-Identifier: Apache-2.0
// k branches of equal work. `diverge_lanes`: neighbouring lanes take different ones, so a warp runs all k one after the
// other; `diverge_warps`: a warp's lanes agree, neighbouring warps differ.
__device__ __forceinline__ float branches(unsigned path, unsigned k, int steps, float v) {
#pragma unroll 1
  for (unsigned p = 0; p < k; ++p) {
    if (path == p) {
#pragma unroll 1
      for (int i = 0; i < steps; ++i) v = fmaf(v, 0.5f, 1.0f);
    }
  }
  return v;
}

extern "C" __global__ void diverge_lanes(unsigned k, int steps, float* v) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  v[i] = branches(threadIdx.x % k, k, steps, v[i]);
}

extern "C" __global__ void diverge_warps(unsigned k, int steps, float* v) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  v[i] = branches(i / 32 % k, k, steps, v[i]);
}
