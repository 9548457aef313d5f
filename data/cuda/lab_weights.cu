// SPDX-License-Identifier: Apache-2.0
// Passes over a weight matrix for one or several tokens, weights in 16, 8 and 4 bits, and attention of one token over a
// cache of keys and values: the bytes of a decode step.
//
// y[batch][rows] = x[batch][depth] · Wᵀ, f32 sums. depth is a multiple of 1024. One warp makes ROWS rows at a time, so
// that a value of x that it loads serves ROWS weights. The caller keeps x in the order in which lanes need it: neighbouring
// lanes load neighbouring 16 bytes.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ uint4 load_once(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
__device__ __forceinline__ float high(u32 w) { return __uint_as_float(w & 0xffff0000u); }
__device__ __forceinline__ float low(u32 w) { return __uint_as_float(w << 16); }
__device__ __forceinline__ float half_at(const unsigned short* p) { return __uint_as_float((u32)*p << 16); }

// Sixteen bytes of weights as floats; `at` is the number of the first weight.
struct Bf16 {
  static const int count = 8;
  __device__ static void widen(float* w, const uint4& v, const unsigned short*, u64) {
    const u32 words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      w[2 * i] = low(words[i]);
      w[2 * i + 1] = high(words[i]);
    }
  }
};
// One bf16 scale for 32 weights.
struct Int8 {
  static const int count = 16;
  __device__ static void widen(float* w, const uint4& v, const unsigned short* scales, u64 at) {
    const u32 words[4] = {v.x, v.y, v.z, v.w};
    const float scale = half_at(scales + at / 32);
#pragma unroll
    for (int i = 0; i < 16; ++i) w[i] = scale * (float)(signed char)(words[i / 4] >> (i % 4 * 8));
  }
};
struct Int4 {
  static const int count = 32;
  __device__ static void widen(float* w, const uint4& v, const unsigned short* scales, u64 at) {
    const u32 words[4] = {v.x, v.y, v.z, v.w};
    const float scale = half_at(scales + at / 32);
#pragma unroll
    for (int i = 0; i < 32; ++i) w[i] = scale * ((float)((words[i / 8] >> (i % 8 * 4)) & 15u) - 8.0f);
  }
};

template <class Format, int ROWS, int BATCH>
__device__ __forceinline__ void pass(const void* weights, const unsigned short* scales, const float* x, float* y, u32 rows,
                                     u32 depth, u32 turns) {
  const u32 lane = threadIdx.x & 31;
  const u32 warps = gridDim.x * blockDim.x / 32, all = rows / ROWS;
#pragma unroll 1
  for (u32 i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < all * turns; i += warps) {
    const u32 row = i % all * ROWS;
    float sum[ROWS][BATCH];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int b = 0; b < BATCH; ++b) sum[r][b] = 0;
    }
#pragma unroll 1
    for (u32 k = lane * Format::count; k < depth; k += 32 * Format::count) {
      uint4 v[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        v[r] = load_once((const uint4*)weights + ((u64)(row + r) * depth + k) / Format::count);
      }
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        float w[Format::count];
        Format::widen(w, v[r], scales, (u64)(row + r) * depth + k);
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
#pragma unroll
          for (int i = 0; i < Format::count; i += 4) {
            const float4 t = *(const float4*)(x + (u64)b * depth + (k - lane * Format::count) + i * 32 + lane * 4);
            sum[r][b] = __fmaf_rn(w[i], t.x, sum[r][b]);
            sum[r][b] = __fmaf_rn(w[i + 1], t.y, sum[r][b]);
            sum[r][b] = __fmaf_rn(w[i + 2], t.z, sum[r][b]);
            sum[r][b] = __fmaf_rn(w[i + 3], t.w, sum[r][b]);
          }
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int b = 0; b < BATCH; ++b) {
        for (int s = 16; s > 0; s /= 2) sum[r][b] += __shfl_xor_sync(0xffffffffu, sum[r][b], s);
        if (lane == 0) y[(u64)b * rows + row + r] = sum[r][b];
      }
    }
  }
}

#define PASS(NAME, FORMAT, ROWS, BATCH)                                                                                \
  extern "C" __global__ void __launch_bounds__(256)                                                                    \
      NAME(const void* weights, const unsigned short* scales, const float* x, float* y, u32 rows, u32 depth,           \
           u32 turns) {                                                                                                \
    pass<FORMAT, ROWS, BATCH>(weights, scales, x, y, rows, depth, turns);                                              \
  }
PASS(lab_pass_b1, Bf16, 4, 1)
PASS(lab_pass_b2, Bf16, 8, 2)
PASS(lab_pass_b4, Bf16, 8, 4)
PASS(lab_pass_b8, Bf16, 8, 8)
PASS(lab_pass_b16, Bf16, 4, 16)
PASS(lab_pass_b32, Bf16, 2, 32)
PASS(lab_pass_int8, Int8, 4, 1)
PASS(lab_pass_int4, Int4, 4, 1)

// One query for each of four heads that share a KV head, over tokens [0, length) of a bf16 cache
// [kv_heads][room][128] of keys and one of values. Each warp of the grid takes every `splits`-th token of one KV head and
// leaves its largest score, sum and weighted values: parts[kv_head][split][head][2 + 128].
extern "C" __global__ void __launch_bounds__(256) lab_cache(const uint2* keys, const uint2* values, const float* q,
                                                            float* parts, u32 length, u32 room, u32 splits) {
  const u32 lane = threadIdx.x & 31;
  const u32 warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const u32 kv_head = warp / splits, split = warp % splits;
  float query[4][4], o[4][4] = {}, largest[4], sum[4] = {0, 0, 0, 0};
#pragma unroll
  for (int h = 0; h < 4; ++h) {
    largest[h] = -3.0e38f;
#pragma unroll
    for (int i = 0; i < 4; ++i) query[h][i] = q[(kv_head * 4 + h) * 128 + lane * 4 + i];
  }
#pragma unroll 2
  for (u32 t = split; t < length; t += splits) {
    const u64 at = ((u64)kv_head * room + t) * 32 + lane;
    const uint2 k = keys[at], v = values[at];
    const float key[4] = {low(k.x), high(k.x), low(k.y), high(k.y)};
    const float value[4] = {low(v.x), high(v.x), low(v.y), high(v.y)};
#pragma unroll
    for (int h = 0; h < 4; ++h) {
      float s = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) s = __fmaf_rn(query[h][i], key[i], s);
      for (int w = 16; w > 0; w /= 2) s += __shfl_xor_sync(0xffffffffu, s, w);
      const float now = fmaxf(largest[h], 0.08838835f * s);  // 1 ÷ √128
      const float keep = __expf(largest[h] - now), p = __expf(0.08838835f * s - now);
      largest[h] = now;
      sum[h] = sum[h] * keep + p;
#pragma unroll
      for (int i = 0; i < 4; ++i) o[h][i] = o[h][i] * keep + p * value[i];
    }
  }
#pragma unroll
  for (int h = 0; h < 4; ++h) {
    float* part = parts + (((u64)kv_head * splits + split) * 4 + h) * 130;
    if (lane == 0) {
      part[0] = largest[h];
      part[1] = sum[h];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) part[2 + lane * 4 + i] = o[h][i];
  }
}

// Joins the parts: one block of 128 threads a head, one component a thread; out[heads][128].
extern "C" __global__ void lab_join(const float* parts, float* out, u32 splits) {
  const u32 kv_head = blockIdx.x / 4, h = blockIdx.x % 4;
  const float* first = parts + ((u64)kv_head * splits * 4 + h) * 130;
  float largest = -3.0e38f, sum = 0, value = 0;
  for (u32 s = 0; s < splits; ++s) largest = fmaxf(largest, first[(u64)s * 4 * 130]);
  for (u32 s = 0; s < splits; ++s) {
    const float* part = first + (u64)s * 4 * 130;
    const float f = __expf(part[0] - largest);
    sum += f * part[1];
    value += f * part[2 + threadIdx.x];
  }
  out[(u64)blockIdx.x * 128 + threadIdx.x] = value / sum;
}
