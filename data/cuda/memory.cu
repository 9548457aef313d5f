// SPDX-License-Identifier: Apache-2.0
// Memory traffic by the SMs: fill, read, write, copy and triad, each in versions of vector width (4, 8, 16 bytes) and of
// loads in flight a thread (1, 2, 4, 8). No header is needed, so that NVRTC compiles this text alone.
//
// read_v16_u4 reads 16 bytes with each load and issues 4 loads before it uses the first. Global loads pass by the L1
// (.cg); read_l1_* keep them in the L1 (.ca) and let every block read the whole buffer.

typedef unsigned int u32;
typedef unsigned long long u64;

struct V4 { u32 x; };
struct V8 { u32 x, y; };
struct V16 { u32 x, y, z, w; };

// "asm volatile" keeps the compiler from leaving out a load whose value is already known.
#define LOADERS(CACHE)                                                                                           \
  __device__ __forceinline__ void load_##CACHE(V4& v, const char* p) {                                           \
    asm volatile("ld.global." #CACHE ".u32 %0, [%1];" : "=r"(v.x) : "l"(p) : "memory");                          \
  }                                                                                                              \
  __device__ __forceinline__ void load_##CACHE(V8& v, const char* p) {                                           \
    asm volatile("ld.global." #CACHE ".v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p) : "memory");      \
  }                                                                                                              \
  __device__ __forceinline__ void load_##CACHE(V16& v, const char* p) {                                          \
    asm volatile("ld.global." #CACHE ".v4.u32 {%0, %1, %2, %3}, [%4];"                                           \
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                                    \
                 : "l"(p)                                                                                        \
                 : "memory");                                                                                    \
  }
LOADERS(cg)
LOADERS(ca)

__device__ __forceinline__ void store(const V4& v, char* p) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v.x) : "memory");
}
__device__ __forceinline__ void store(const V8& v, char* p) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}
__device__ __forceinline__ void store(const V16& v, char* p) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

__device__ __forceinline__ u32 fold(const V4& v) { return v.x; }
__device__ __forceinline__ u32 fold(const V8& v) { return v.x ^ v.y; }
__device__ __forceinline__ u32 fold(const V16& v) { return v.x ^ v.y ^ v.z ^ v.w; }

__device__ __forceinline__ void spread(V4& v, u32 word) { v.x = word; }
__device__ __forceinline__ void spread(V8& v, u32 word) { v.x = v.y = word; }
__device__ __forceinline__ void spread(V16& v, u32 word) { v.x = v.y = v.z = v.w = word; }

// b + 3 · c on floats that travel as words.
__device__ __forceinline__ u32 triad_word(u32 b, u32 c) {
  return __float_as_uint(__fmaf_rn(3.0f, __uint_as_float(c), __uint_as_float(b)));
}
__device__ __forceinline__ V4 triad(const V4& b, const V4& c) {
  V4 a = {triad_word(b.x, c.x)};
  return a;
}
__device__ __forceinline__ V8 triad(const V8& b, const V8& c) {
  V8 a = {triad_word(b.x, c.x), triad_word(b.y, c.y)};
  return a;
}
__device__ __forceinline__ V16 triad(const V16& b, const V16& c) {
  V16 a = {triad_word(b.x, c.x), triad_word(b.y, c.y), triad_word(b.z, c.z), triad_word(b.w, c.w)};
  return a;
}

// One pass of a thread over its part: `at` and `step` are bytes; BODY(k) handles the vector at `at + k · step`.
#define WALK(VEC, UNROLL, FIRST, LANES, BYTES, GROUP, SINGLE)                     \
  const u64 step = (LANES) * sizeof(VEC);                                         \
  u64 at = (FIRST) * sizeof(VEC);                                                 \
  for (; at + (UNROLL - 1) * step < (BYTES); at += UNROLL * step) { GROUP }       \
  for (; at < (BYTES); at += step) { SINGLE }

#define GRID_LANES ((u64)gridDim.x * blockDim.x)
#define GRID_FIRST ((u64)blockIdx.x * blockDim.x + threadIdx.x)

#define READ(NAME, VEC, UNROLL, CACHE, FIRST, LANES)                                                   \
  extern "C" __global__ void NAME(const char* data, u64 bytes, u32 repeats, u32* sink, u32 unlikely) { \
    u32 sum = 0;                                                                                       \
    _Pragma("unroll 1") for (u32 r = 0; r < repeats; ++r) {                                            \
      WALK(VEC, UNROLL, FIRST, LANES, bytes,                                                           \
           VEC v[UNROLL];                                                                              \
           _Pragma("unroll") for (int k = 0; k < UNROLL; ++k) load_##CACHE(v[k], data + at + k * step); \
           _Pragma("unroll") for (int k = 0; k < UNROLL; ++k) sum ^= fold(v[k]) + r;                   \
           , VEC v; load_##CACHE(v, data + at); sum ^= fold(v) + r;)                                   \
    }                                                                                                  \
    if (sum == unlikely) *sink = sum;                                                                  \
  }

#define WRITE(NAME, VEC, UNROLL)                                                                       \
  extern "C" __global__ void NAME(char* data, u64 bytes, u32 repeats, u32 word) {                      \
    _Pragma("unroll 1") for (u32 r = 0; r < repeats; ++r) {                                            \
      VEC v;                                                                                           \
      spread(v, word + r);                                                                             \
      WALK(VEC, UNROLL, GRID_FIRST, GRID_LANES, bytes,                                                 \
           _Pragma("unroll") for (int k = 0; k < UNROLL; ++k) store(v, data + at + k * step);          \
           , store(v, data + at);)                                                                     \
    }                                                                                                  \
  }

#define COPY(NAME, VEC, UNROLL)                                                                        \
  extern "C" __global__ void NAME(char* to, const char* from, u64 bytes, u32 repeats) {                \
    _Pragma("unroll 1") for (u32 r = 0; r < repeats; ++r) {                                            \
      WALK(VEC, UNROLL, GRID_FIRST, GRID_LANES, bytes,                                                 \
           VEC v[UNROLL];                                                                              \
           _Pragma("unroll") for (int k = 0; k < UNROLL; ++k) load_cg(v[k], from + at + k * step);     \
           _Pragma("unroll") for (int k = 0; k < UNROLL; ++k) store(v[k], to + at + k * step);         \
           , VEC v; load_cg(v, from + at); store(v, to + at);)                                         \
    }                                                                                                  \
  }

#define TRIAD(NAME, VEC, UNROLL)                                                                       \
  extern "C" __global__ void NAME(char* a, const char* b, const char* c, u64 bytes, u32 repeats) {     \
    _Pragma("unroll 1") for (u32 r = 0; r < repeats; ++r) {                                            \
      WALK(VEC, UNROLL, GRID_FIRST, GRID_LANES, bytes,                                                 \
           VEC v[UNROLL]; VEC w[UNROLL];                                                               \
           _Pragma("unroll") for (int k = 0; k < UNROLL; ++k) load_cg(v[k], b + at + k * step);        \
           _Pragma("unroll") for (int k = 0; k < UNROLL; ++k) load_cg(w[k], c + at + k * step);        \
           _Pragma("unroll") for (int k = 0; k < UNROLL; ++k) store(triad(v[k], w[k]), a + at + k * step); \
           , VEC v; VEC w; load_cg(v, b + at); load_cg(w, c + at); store(triad(v, w), a + at);)        \
    }                                                                                                  \
  }

#define VERSIONS_OF(VEC, BYTES, UNROLL)                                              \
  READ(read_v##BYTES##_u##UNROLL, VEC, UNROLL, cg, GRID_FIRST, GRID_LANES)           \
  READ(read_l1_v##BYTES##_u##UNROLL, VEC, UNROLL, ca, (u64)threadIdx.x, (u64)blockDim.x) \
  WRITE(write_v##BYTES##_u##UNROLL, VEC, UNROLL)                                     \
  COPY(copy_v##BYTES##_u##UNROLL, VEC, UNROLL)                                       \
  TRIAD(triad_v##BYTES##_u##UNROLL, VEC, UNROLL)

#define WIDTH(VEC, BYTES)       \
  VERSIONS_OF(VEC, BYTES, 1)    \
  VERSIONS_OF(VEC, BYTES, 2)    \
  VERSIONS_OF(VEC, BYTES, 4)    \
  VERSIONS_OF(VEC, BYTES, 8)

WIDTH(V4, 4)
WIDTH(V8, 8)
WIDTH(V16, 16)

// Words that look random (memory may compress constant data, arithmetic on it draws less power): the caller chooses by
// mask and exponent that they are numbers of a type without infinities.
extern "C" __global__ void fill(u32* data, u64 words, u32 seed, u32 mask, u32 exponent) {
  for (u64 i = GRID_FIRST; i < words; i += GRID_LANES) {
    u32 h = (u32)i * 2654435761u + seed;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    data[i] = (h & mask) | exponent;
  }
}
