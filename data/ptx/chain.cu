// SPDX-License-Identifier: Apache-2.0
// A chain of additions, shifts and multiply-adds in registers: arithmetic with hardly any memory.
extern "C" __global__ void alu_chain(int steps, unsigned* out) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  float f = static_cast<float>(v);
  const unsigned i = v;
#pragma unroll 4
  for (int s = 0; s < steps; ++s) {
    v ^= v << 3;
    v += 0x9e3779b9u;
    v ^= v >> 5;
    f = fmaf(f, 0.999f, 1.0f);
  }
  out[i] = v ^ __float_as_uint(f);
}
