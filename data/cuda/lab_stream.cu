// SPDX-License-Identifier: Apache-2.0
// Passes over memory for the experiments of `corridor lab --on cuda:N`: operations a value, passes apart and fused,
// strides, lanes of a warp, and reads by few or many resident blocks. No header is needed.

typedef unsigned int u32;
typedef unsigned long long u64;

#define FIRST ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define LANES ((u64)gridDim.x * blockDim.x)

// The L1 is passed by (.cg); "volatile" keeps the compiler from leaving out a load.
__device__ __forceinline__ u32 load_word(const u32* p) {
  u32 v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}
__device__ __forceinline__ float4 load_four(const float4* p) {
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
  return v;
}

// Reads each value once and puts it through `steps` multiply-adds: 2 · steps + 1 FLOP a value. Eight chains a thread.
extern "C" __global__ void lab_intensity(const float4* data, u64 vectors, u32 steps, float* sink) {
  const float f = 0.999f, c = 0.001f;
  float sum = 0;
#pragma unroll 1
  for (u64 i = FIRST; i < vectors; i += 2 * LANES) {
    float4 a = load_four(data + i);
    float4 b = make_float4(0, 0, 0, 0);
    if (i + LANES < vectors) b = load_four(data + i + LANES);
#pragma unroll 4
    for (u32 s = 0; s < steps; ++s) {
      a.x = __fmaf_rn(a.x, f, c);
      a.y = __fmaf_rn(a.y, f, c);
      a.z = __fmaf_rn(a.z, f, c);
      a.w = __fmaf_rn(a.w, f, c);
      b.x = __fmaf_rn(b.x, f, c);
      b.y = __fmaf_rn(b.y, f, c);
      b.z = __fmaf_rn(b.z, f, c);
      b.w = __fmaf_rn(b.w, f, c);
    }
    sum += ((a.x + a.y) + (a.z + a.w)) + ((b.x + b.y) + (b.z + b.w));
  }
  if (sum == -12345.0f) *sink = sum;
}

// Element-wise passes in place: each reads and writes every value once.
#define PASS(NAME, OPERATION)                                                     \
  extern "C" __global__ void NAME(float4* data, u64 vectors, float p, float q, float r) { \
    for (u64 i = FIRST; i < vectors; i += LANES) {                                \
      float4 v = load_four(data + i);                                             \
      v.x = OPERATION(v.x);                                                       \
      v.y = OPERATION(v.y);                                                       \
      v.z = OPERATION(v.z);                                                       \
      v.w = OPERATION(v.w);                                                       \
      data[i] = v;                                                                \
    }                                                                             \
  }
#define SCALE(x) ((x) * p)
#define SHIFT(x) ((x) + q)
#define CLAMP(x) (fmaxf((x), r))
#define FUSED(x) (fmaxf(__fmaf_rn((x), p, q), r))
PASS(lab_scale, SCALE)
PASS(lab_shift, SHIFT)
PASS(lab_clamp, CLAMP)
PASS(lab_fused, FUSED)

// Every `stride`-th word: `count` words are used. Four loads are under way in each thread.
extern "C" __global__ void lab_strided(const u32* data, u64 count, u32 stride, u32* sink, u32 unlikely) {
  u32 sum = 0;
  u64 i = FIRST;
#pragma unroll 1
  for (; i + 3 * LANES < count; i += 4 * LANES) {
    u32 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = load_word(data + (i + k * LANES) * stride);
    sum += (v[0] ^ v[1]) + (v[2] ^ v[3]);
  }
  for (; i < count; i += LANES) sum += load_word(data + i * stride);
  if (sum == unlikely) *sink = sum;
}

// A number below a power of two for each number below it, none twice, neighbours far apart.
__device__ __forceinline__ u64 scatter(u64 i, u64 mask) {
  i ^= i >> 7;
  i = (i * 0x9E3779B97F4A7C15ull) & mask;
  i ^= i >> 9;
  return (i * 0xD1342543DE82EF95ull) & mask;
}

// The first word of each sector of eight words, sectors in a scattered order; their number is a power of two.
extern "C" __global__ void lab_scattered(const u32* data, u64 sectors, u32* sink, u32 unlikely) {
  u32 sum = 0;
  u64 i = FIRST;
#pragma unroll 1
  for (; i + 3 * LANES < sectors; i += 4 * LANES) {
    u32 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = load_word(data + scatter(i + k * LANES, sectors - 1) * 8);
    sum += (v[0] ^ v[1]) + (v[2] ^ v[3]);
  }
  for (; i < sectors; i += LANES) sum += load_word(data + scatter(i, sectors - 1) * 8);
  if (sum == unlikely) *sink = sum;
}

// `rounds` loads of each warp inside words [0, mask], a power of two less one. Lane i reads word i · stride of its warp's
// place (mode 0), the same words in another order of lanes (mode 1), or a word anywhere (mode 2).
extern "C" __global__ void lab_lanes(const u32* data, u64 mask, u32 rounds, u32 stride, u32 mode, u32* sink,
                                     u32 unlikely) {
  const u64 warp = FIRST >> 5, warps = LANES >> 5;
  const u32 lane = threadIdx.x & 31;
  const u64 mine = (mode == 1 ? (lane * 5 + 3) & 31 : lane) * (u64)stride;
  u32 sum = 0;
#pragma unroll 1
  for (u32 r = 0; r < rounds; r += 4) {
    u32 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const u64 turn = (r + k) * warps + warp;
      const u64 place = mode == 2 ? scatter((turn * 32 + lane) & mask, mask) : (turn * 32 * stride + mine) & mask;
      v[k] = load_word(data + place);
    }
    sum += (v[0] ^ v[1]) + (v[2] ^ v[3]);
  }
  if (sum == unlikely) *sink = sum;
}

// Each thread has one load of 16 bytes under way. Shared memory that is asked for and not used limits the blocks that
// are resident on an SM.
extern "C" __global__ void lab_resident(const float4* data, u64 vectors, float* sink) {
  float sum = 0;
#pragma unroll 1
  for (u64 i = FIRST; i < vectors; i += LANES) {
    const float4 v = load_four(data + i);
    sum += (v.x + v.y) + (v.z + v.w);
  }
  if (sum == -12345.0f) *sink = sum;
}
