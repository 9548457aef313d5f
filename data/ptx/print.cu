// SPDX-License-Identifier: Apache-2.0
// printf and assert on the device.
#include <assert.h>
#include <stdio.h>

extern "C" __global__ void print_lanes(int limit) {
  if (threadIdx.x % 16 == 0) printf("block %d thread %d: %.2f\n", blockIdx.x, threadIdx.x, threadIdx.x * 0.5);
  assert(static_cast<int>(threadIdx.x) < limit);
}
