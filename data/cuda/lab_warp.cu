// SPDX-License-Identifier: Apache-2.0
// What warps do, for the experiments of `corridor lab --on cuda:N`: many chases at once, warps that take turns on one
// SM, and lanes of one warp that take different paths.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ u64 cycles_now() {
  u64 t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

// The first `active` threads of each block follow the chain of build_chain (slot i at i · pitch bytes) from starts that
// lie far apart, each `steps` loads one after the other.
extern "C" __global__ void lab_chases(const char* base, u64 slots, u64 pitch, u32 active, u32 steps, u64* sink) {
  if (threadIdx.x >= active) return;
  const u64 chases = (u64)gridDim.x * active;
  const u64 me = (u64)blockIdx.x * active + threadIdx.x;
  u64 place = (u64)(base + me * slots / chases * pitch);
#pragma unroll 1
  for (u32 i = 0; i < steps; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(place)::"memory");
  if (place == 0) *sink = place;
}

// One block: every lane of every warp follows a chain of its own in shared memory that stays in its own bank, so that a
// load of a warp is one access. out[0] = cycles from the first load to the end of the last warp.
extern "C" __global__ void lab_switch(u32 steps, u64* out) {
  __shared__ u32 chain[1024];
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) chain[i] = (u32)__cvta_generic_to_shared(&chain[(i + 96) & 1023]);
  __syncthreads();
  u32 place = (u32)__cvta_generic_to_shared(&chain[threadIdx.x & 31]);
  const u64 start = cycles_now();
#pragma unroll 1
  for (u32 i = 0; i < steps; i += 8) {
#pragma unroll
    for (int k = 0; k < 8; ++k) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(place)::"memory");
  }
  __syncthreads();
  if (place == 0xffffffffu) out[1] = place;
  if (threadIdx.x == 0) out[0] = cycles_now() - start;
}

// One path: `rounds` times 16 multiply-adds in two chains. The constant differs from path to path and stands in the
// instruction, so that paths cannot be joined.
#define TWO(BITS)                                                      \
  asm volatile("fma.rn.f32 %0, %0, 0f3F400000, 0f" BITS ";" : "+f"(a)); \
  asm volatile("fma.rn.f32 %0, %0, 0f3F400000, 0f" BITS ";" : "+f"(b));
#define PATH(N, BITS)                                                                        \
  case N: {                                                                                  \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                   \
      TWO(BITS) TWO(BITS) TWO(BITS) TWO(BITS) TWO(BITS) TWO(BITS) TWO(BITS) TWO(BITS)        \
    }                                                                                        \
    break;                                                                                   \
  }

// Paths are chosen by lane (whole = 0) or by warp (whole = 1): number mod `paths`, at most 32.
extern "C" __global__ void lab_paths(u32 rounds, u32 paths, u32 whole, float* sink) {
  const u32 choice = (whole ? threadIdx.x >> 5 : threadIdx.x & 31) % paths;
  float a = threadIdx.x, b = threadIdx.x + 1.0f;
  switch (choice) {
    PATH(0, "3F000000") PATH(1, "3F010000") PATH(2, "3F020000") PATH(3, "3F030000")
    PATH(4, "3F040000") PATH(5, "3F050000") PATH(6, "3F060000") PATH(7, "3F070000")
    PATH(8, "3F080000") PATH(9, "3F090000") PATH(10, "3F0A0000") PATH(11, "3F0B0000")
    PATH(12, "3F0C0000") PATH(13, "3F0D0000") PATH(14, "3F0E0000") PATH(15, "3F0F0000")
    PATH(16, "3F100000") PATH(17, "3F110000") PATH(18, "3F120000") PATH(19, "3F130000")
    PATH(20, "3F140000") PATH(21, "3F150000") PATH(22, "3F160000") PATH(23, "3F170000")
    PATH(24, "3F180000") PATH(25, "3F190000") PATH(26, "3F1A0000") PATH(27, "3F1B0000")
    PATH(28, "3F1C0000") PATH(29, "3F1D0000") PATH(30, "3F1E0000") PATH(31, "3F1F0000")
  }
  if (a + b == -12345.0f) *sink = a;
}
