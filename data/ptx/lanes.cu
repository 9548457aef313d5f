// SPDX-License-Identifier: Apache-2.0
// Which lane a thread is, and how many lanes of its warp live: the last warp of 250 threads has 26.
extern "C" __global__ void lanes(unsigned* lane, unsigned* live) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  lane[i] = threadIdx.x % 32;
  live[i] = __popc(__activemask());
}

// Nothing: what is left is the start of a kernel.
extern "C" __global__ void nothing() {}
