// SPDX-License-Identifier: Apache-2.0
// Load-to-use latency: one thread follows a chain of pointers, so that each load waits for the one before it.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ u64 clock_cycles() {
  u64 t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
__device__ __forceinline__ u64 clock_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

// Slot i (at i · pitch bytes) points to slot (i + step) mod slots. The caller chooses a step without a common factor with
// slots, so that one cycle visits every slot, and far from its ends, so that neighbours in the cycle lie far apart.
extern "C" __global__ void build_chain(char* base, u64 slots, u64 pitch, u64 step) {
  const u64 lanes = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += lanes) {
    const u64 next = (i + step) % slots;
    *(u64*)(base + i * pitch) = (u64)(base + next * pitch);
  }
}

__device__ __forceinline__ u64 follow(u64 place) {
  u64 next;
  asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(place) : "memory");
  return next;
}

// out[0] = cycles, out[1] = nanoseconds, out[2] = where it ended; `steps` is rounded up to a multiple of 16.
extern "C" __global__ void chase(u64 start, u32 warm_up, u32 steps, u64* out) {
  u64 place = start;
#pragma unroll 1
  for (u32 i = 0; i < warm_up; ++i) place = follow(place);
  if (place == 0) return;  // the clock is read when the last load is back, not when it is issued
  const u64 ns = clock_ns();
  const u64 cycles = clock_cycles();
#pragma unroll 1
  for (u32 i = 0; i < steps; i += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) place = follow(place);
  }
  if (place == 0) return;
  out[0] = clock_cycles() - cycles;
  out[1] = clock_ns() - ns;
  out[2] = place;
}

// The same in shared memory: 1024 words, each holding the index of the next.
extern "C" __global__ void chase_shared(u32 warm_up, u32 steps, u64* out) {
  __shared__ u32 chain[1024];
  for (u32 i = 0; i < 1024; ++i) chain[i] = (u32)__cvta_generic_to_shared(&chain[(i + 97) & 1023]);
  u32 place = (u32)__cvta_generic_to_shared(chain);
#pragma unroll 1
  for (u32 i = 0; i < warm_up; ++i) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(place)::"memory");
  if (place == 0xffffffffu) return;
  const u64 ns = clock_ns();
  const u64 cycles = clock_cycles();
#pragma unroll 1
  for (u32 i = 0; i < steps; i += 16) {
#pragma unroll
    for (int k = 0; k < 16; ++k) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(place)::"memory");
  }
  if (place == 0xffffffffu) return;
  out[0] = clock_cycles() - cycles;
  out[1] = clock_ns() - ns;
  out[2] = place;
}
