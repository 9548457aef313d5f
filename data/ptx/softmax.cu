// SPDX-License-Identifier: Apache-2.0
// Softmax of one row a block: the row's largest value, exponentials and their sum, division; each a pass over memory.
template <class Combine>
__device__ float over_block(float v, float* scratch, Combine combine) {
  scratch[threadIdx.x] = v;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] = combine(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  const float all = scratch[0];
  __syncthreads();
  return all;
}

extern "C" __global__ void softmax_row(int columns, const float* __restrict__ x, float* y) {
  extern __shared__ float scratch[];
  const float* row = x + (size_t)blockIdx.x * columns;
  float* out = y + (size_t)blockIdx.x * columns;
  float largest = -3.402823466e38f;
#pragma unroll 1
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, row[i]);
  largest = over_block(largest, scratch, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
#pragma unroll 1
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float e = exp2f((row[i] - largest) * 1.44269504f);
    out[i] = e;
    sum += e;
  }
  sum = over_block(sum, scratch, [](float a, float b) { return a + b; });
  const float factor = 1.0f / sum;
#pragma unroll 1
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] *= factor;
}
