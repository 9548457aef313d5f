// SPDX-License-Identifier: Apache-2.0
// y = a x in a block that asks for shared memory it hardly uses: how many blocks an SM holds decides how many reads are
// under way.
extern "C" __global__ void held_back(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  extern __shared__ float unused[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0 && n < 0) unused[0] = a;
  if (i < n) y[i] = a * x[i];
}
