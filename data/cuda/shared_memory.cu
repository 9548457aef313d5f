// SPDX-License-Identifier: Apache-2.0
// Shared-memory bandwidth: every warp reads rows of 16 bytes a lane, without bank conflicts.

typedef unsigned int u32;

// Each thread reads 16 · 8 bytes in a round from 16 KiB of shared memory.
extern "C" __global__ void read_shared(u32 rounds, u32* sink, u32 unlikely) {
  __shared__ __align__(16) u32 words[4096];
  for (u32 i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = i * 2654435761u;
  __syncthreads();
  const u32 base = (u32)__cvta_generic_to_shared(words);
  u32 sum = 0;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {
    u32 x[8], y[8], z[8], w[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const u32 place = base + (((threadIdx.x + k * 128 + r * 32) & 1023) << 4);
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x[k]), "=r"(y[k]), "=r"(z[k]), "=r"(w[k])
                   : "r"(place)
                   : "memory");
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += x[k] ^ y[k] ^ z[k] ^ w[k];
  }
  if (sum == unlikely) *sink = sum;
}
