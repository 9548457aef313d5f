// SPDX-License-Identifier: Apache-2.0
// One head of attention over `tokens` tokens of 64 components, row-major. Naive: scores and their softmax go through
// memory. Flash: one pass over keys and values with a running softmax; scores stay in registers.
constexpr int width = 64;

extern "C" __global__ void attention_scores(int tokens, const float* __restrict__ q, const float* __restrict__ key,
                                            float* __restrict__ scores) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column >= tokens) return;
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < width; ++i) sum = fmaf(q[row * width + i], key[column * width + i], sum);
  scores[(size_t)row * tokens + column] = sum * 0.125f;
}

// One row a warp; in place.
extern "C" __global__ void attention_softmax(int tokens, float* scores) {
  float* row = scores + (size_t)blockIdx.x * tokens;
  const int lane = threadIdx.x;
  float largest = -3.402823466e38f, sum = 0;
#pragma unroll 1
  for (int i = lane; i < tokens; i += 32) largest = fmaxf(largest, row[i]);
#pragma unroll
  for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
#pragma unroll 1
  for (int i = lane; i < tokens; i += 32) {
    const float e = exp2f((row[i] - largest) * 1.44269504f);
    row[i] = e;
    sum += e;
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  const float factor = 1.0f / sum;
#pragma unroll 1
  for (int i = lane; i < tokens; i += 32) row[i] *= factor;
}

// A block of 64 threads a row, one component a thread.
extern "C" __global__ void attention_values(int tokens, const float* __restrict__ scores,
                                            const float* __restrict__ value, float* __restrict__ out) {
  const int row = blockIdx.x, i = threadIdx.x;
  float sum = 0;
#pragma unroll 4
  for (int t = 0; t < tokens; ++t) sum = fmaf(scores[(size_t)row * tokens + t], value[t * width + i], sum);
  out[row * width + i] = sum;
}

// One query row a thread, tiles of 32 tokens of keys and values in shared memory; a block is 64 threads.
extern "C" __global__ void attention_flash(int tokens, const float* __restrict__ q, const float* __restrict__ key,
                                           const float* __restrict__ value, float* __restrict__ out) {
  __shared__ float tile_key[32][width], tile_value[32][width];
  const int row = blockIdx.x * 64 + threadIdx.x;
  float query[width], sum[width];
#pragma unroll
  for (int i = 0; i < width; ++i) {
    query[i] = q[(size_t)row * width + i] * 0.125f;
    sum[i] = 0;
  }
  float largest = -3.402823466e38f, total = 0;
#pragma unroll 1
  for (int first = 0; first < tokens; first += 32) {
    __syncthreads();
    for (int t = 0; t < 32; ++t) {
      tile_key[t][threadIdx.x] = key[(first + t) * width + threadIdx.x];
      tile_value[t][threadIdx.x] = value[(first + t) * width + threadIdx.x];
    }
    __syncthreads();
#pragma unroll 1
    for (int t = 0; t < 32; ++t) {
      float score = 0;
#pragma unroll
      for (int i = 0; i < width; ++i) score = fmaf(query[i], tile_key[t][i], score);
      const float now = fmaxf(largest, score);
      const float shrink = exp2f((largest - now) * 1.44269504f);
      const float weight = exp2f((score - now) * 1.44269504f);
      largest = now;
      total = fmaf(total, shrink, weight);
#pragma unroll
      for (int i = 0; i < width; ++i) sum[i] = fmaf(sum[i], shrink, weight * tile_value[t][i]);
    }
  }
  const float factor = 1.0f / total;
#pragma unroll
  for (int i = 0; i < width; ++i) out[(size_t)row * width + i] = sum[i] * factor;
}
