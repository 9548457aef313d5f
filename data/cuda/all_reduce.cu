// SPDX-License-Identifier: Apache-2.0
// One-shot all-reduce over GPUs that can read each other's memory: every rank reads the input of all ranks and adds.
//
// Ranks tell each other by flags: a rank writes the number of the stage into its place of every rank's flags and waits
// until all places of its own flags hold that number. The wait is bounded: a rank that never comes must not hang a GPU.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ void tell(u32* flag, u32 stage) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(stage) : "memory");
}
__device__ __forceinline__ u32 ask(const u32* flag) {
  u32 stage;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(stage) : "l"(flag) : "memory");
  return stage;
}
__device__ __forceinline__ u64 clock_cycles() {
  u64 t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

// Thread `t` < ranks speaks with rank t. Returns false for all threads when a rank did not come in time.
__device__ bool meet(u32* const* flags, u32 rank, u32 ranks, u32 stage, u64 patience_cycles, u32* late) {
  __syncthreads();
  if (threadIdx.x < ranks) {
    tell(flags[threadIdx.x] + rank, stage);
    const u64 start = clock_cycles();
    while (ask(flags[rank] + threadIdx.x) < stage) {
      if (clock_cycles() - start > patience_cycles) {
        *late = 1;
        break;
      }
    }
  }
  __syncthreads();
  return *late == 0;
}

// inputs[r] and flags[r] lie on GPU r; status[0] becomes 1 when a rank was late. One block.
extern "C" __global__ void all_reduce(const float* const* inputs, u32* const* flags, float* out, u32 rank, u32 ranks,
                                      u32 words, u32 rounds, u32 first_stage, u64 patience_cycles, u32* status) {
  __shared__ u32 late;
  if (threadIdx.x == 0) late = 0;
  u32 stage = first_stage;
  for (u32 round = 0; round < rounds; ++round) {
    if (!meet(flags, rank, ranks, ++stage, patience_cycles, &late)) break;  // all inputs are ready
    for (u32 i = threadIdx.x; i < words; i += blockDim.x) {
      float sum = 0;
      for (u32 r = 0; r < ranks; ++r) {
        float value;
        asm volatile("ld.relaxed.sys.global.f32 %0, [%1];" : "=f"(value) : "l"(inputs[r] + i) : "memory");
        sum += value;
      }
      out[i] = sum;
    }
    if (!meet(flags, rank, ranks, ++stage, patience_cycles, &late)) break;  // all inputs may be written again
  }
  if (threadIdx.x == 0) status[0] = late;
}
