// SPDX-License-Identifier: Apache-2.0
// A chain of reads in which each waits for the one before: the whole wait of one level of memory, step by step.
extern "C" __global__ void chase(int steps, const unsigned* __restrict__ next, unsigned* last) {
  unsigned at = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) at = next[at];
  last[threadIdx.x] = at;
}
