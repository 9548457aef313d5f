// SPDX-License-Identifier: Apache-2.0
// Attention of many queries twice, f32, head dimension 64: with the score matrix in memory, and in blocks with a running
// softmax. Arrays are [heads][tokens][64], scores [heads][tokens][tokens]; tokens is a multiple of 64. No mask.
//
// Blocks of 256 threads take 64 queries of one head; thread (ty, tx) has four queries and two keys or four components.

typedef unsigned int u32;
typedef unsigned long long u64;

#define D 64
#define QUERIES 64
#define KEYS 32
#define Q_LINE (D + 1)  // one word more than the data, so that columns lie in different banks
#define P_LINE (KEYS + 1)

struct Place {
  u32 head, query, ty, tx;
};

__device__ __forceinline__ Place place_of_block(u32 tokens) {
  const u32 blocks = tokens / QUERIES;
  return Place{blockIdx.x / blocks, blockIdx.x % blocks * QUERIES, threadIdx.x / 16, threadIdx.x % 16};
}

// 64 queries, query by query.
__device__ void take_queries(float* to, const float* from) {
  for (u32 i = threadIdx.x; i < QUERIES * D; i += 256) to[i / D * Q_LINE + i % D] = from[i];
}
// 32 keys, component by component.
__device__ void take_keys(float* to, const float* from) {
  for (u32 i = threadIdx.x; i < KEYS * D; i += 256) to[i % D * P_LINE + i / D] = from[i];
}
__device__ void take_values(float* to, const float* from) {
  for (u32 i = threadIdx.x; i < KEYS * D; i += 256) to[i] = from[i];
}

__device__ __forceinline__ void score(float (&s)[4][2], const float* q, const float* keys, const Place& at) {
#pragma unroll
  for (int i = 0; i < 4; ++i) s[i][0] = s[i][1] = 0;
#pragma unroll 8
  for (int d = 0; d < D; ++d) {
    const float k0 = keys[d * P_LINE + at.tx * 2], k1 = keys[d * P_LINE + at.tx * 2 + 1];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float x = q[(at.ty * 4 + i) * Q_LINE + d];
      s[i][0] = __fmaf_rn(x, k0, s[i][0]);
      s[i][1] = __fmaf_rn(x, k1, s[i][1]);
    }
  }
}

__device__ __forceinline__ void weigh(float (&o)[4][4], const float* p, const float* values, const Place& at) {
#pragma unroll 8
  for (int k = 0; k < KEYS; ++k) {
    const float4 v = *(const float4*)(values + k * D + at.tx * 4);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float x = p[(at.ty * 4 + i) * P_LINE + k];
      o[i][0] = __fmaf_rn(x, v.x, o[i][0]);
      o[i][1] = __fmaf_rn(x, v.y, o[i][1]);
      o[i][2] = __fmaf_rn(x, v.z, o[i][2]);
      o[i][3] = __fmaf_rn(x, v.w, o[i][3]);
    }
  }
}

__device__ __forceinline__ void put(float* out, const float (&o)[4][4], const float (&sum)[4], const Place& at) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float f = 1.0f / sum[i];
    *(float4*)(out + (at.ty * 4 + i) * D + at.tx * 4) = make_float4(o[i][0] * f, o[i][1] * f, o[i][2] * f, o[i][3] * f);
  }
}

// scores = q · kᵀ ÷ 8.
extern "C" __global__ void __launch_bounds__(256) lab_scores(const float* q, const float* k, float* scores, u32 tokens) {
  __shared__ float tq[QUERIES * Q_LINE], tk[D * P_LINE];
  const Place at = place_of_block(tokens);
  take_queries(tq, q + ((u64)at.head * tokens + at.query) * D);
  for (u32 t = 0; t < tokens; t += KEYS) {
    __syncthreads();
    take_keys(tk, k + ((u64)at.head * tokens + t) * D);
    __syncthreads();
    float s[4][2];
    score(s, tq, tk, at);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float* line = scores + ((u64)at.head * tokens + at.query + at.ty * 4 + i) * tokens + t;
      *(float2*)(line + at.tx * 2) = make_float2(0.125f * s[i][0], 0.125f * s[i][1]);
    }
  }
}

// Each row of the scores becomes exp(x − the row's largest) ÷ their sum, in place; one block of 256 threads a row, which
// is read once and written once: a thread keeps up to 32 values (tokens at most 8192).
extern "C" __global__ void __launch_bounds__(256) lab_softmax(float* scores, u32 tokens) {
  __shared__ float part[8];
  float* row = scores + (u64)blockIdx.x * tokens;
  float x[32];
  float largest = -3.0e38f;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const u32 at = i * 256 + threadIdx.x;
    x[i] = at < tokens ? row[at] : -3.0e38f;
    largest = fmaxf(largest, x[i]);
  }
  for (int s = 16; s > 0; s /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, s));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = largest;
  __syncthreads();
  for (int w = 0; w < 8; ++w) largest = fmaxf(largest, part[w]);
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    x[i] = __expf(x[i] - largest);
    sum += x[i];
  }
  for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < 8; ++w) sum += part[w];
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    const u32 at = i * 256 + threadIdx.x;
    if (at < tokens) row[at] = x[i] / sum;
  }
}

// out = probabilities · v.
extern "C" __global__ void __launch_bounds__(256) lab_weigh(const float* scores, const float* v, float* out, u32 tokens) {
  __shared__ float tp[QUERIES * P_LINE];
  __shared__ __align__(16) float tv[KEYS * D];
  const Place at = place_of_block(tokens);
  float o[4][4] = {};
  const float one[4] = {1, 1, 1, 1};
  const float* lines = scores + ((u64)at.head * tokens + at.query) * tokens;
  for (u32 t = 0; t < tokens; t += KEYS) {
    __syncthreads();
    for (u32 i = threadIdx.x; i < QUERIES * KEYS; i += 256) {
      tp[i / KEYS * P_LINE + i % KEYS] = lines[(u64)(i / KEYS) * tokens + t + i % KEYS];
    }
    take_values(tv, v + ((u64)at.head * tokens + t) * D);
    __syncthreads();
    weigh(o, tp, tv, at);
  }
  put(out + ((u64)at.head * tokens + at.query) * D, o, one, at);
}

// The same in one kernel: scores stay in shared memory, the largest score and the sum run along.
extern "C" __global__ void __launch_bounds__(256) lab_attention(const float* q, const float* k, const float* v,
                                                                float* out, u32 tokens) {
  __shared__ float tq[QUERIES * Q_LINE], tk[D * P_LINE], tp[QUERIES * P_LINE];
  __shared__ __align__(16) float tv[KEYS * D];
  const Place at = place_of_block(tokens);
  take_queries(tq, q + ((u64)at.head * tokens + at.query) * D);
  float o[4][4] = {};
  float sum[4] = {0, 0, 0, 0};
  float largest[4] = {-3.0e38f, -3.0e38f, -3.0e38f, -3.0e38f};
  for (u32 t = 0; t < tokens; t += KEYS) {
    __syncthreads();
    take_keys(tk, k + ((u64)at.head * tokens + t) * D);
    take_values(tv, v + ((u64)at.head * tokens + t) * D);
    __syncthreads();
    float s[4][2];
    score(s, tq, tk, at);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float now = fmaxf(s[i][0], s[i][1]) * 0.125f;
      for (int w = 8; w > 0; w /= 2) now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, w));  // the 16 lanes of a query
      now = fmaxf(now, largest[i]);
      const float keep = __expf(largest[i] - now);
      const float p0 = __expf(s[i][0] * 0.125f - now), p1 = __expf(s[i][1] * 0.125f - now);
      float more = p0 + p1;
      for (int w = 8; w > 0; w /= 2) more += __shfl_xor_sync(0xffffffffu, more, w);
      sum[i] = sum[i] * keep + more;
      largest[i] = now;
#pragma unroll
      for (int j = 0; j < 4; ++j) o[i][j] *= keep;
      tp[(at.ty * 4 + i) * P_LINE + at.tx * 2] = p0;
      tp[(at.ty * 4 + i) * P_LINE + at.tx * 2 + 1] = p1;
    }
    __syncthreads();
    weigh(o, tp, tv, at);
  }
  put(out + ((u64)at.head * tokens + at.query) * D, o, sum, at);
}
