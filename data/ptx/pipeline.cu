// SPDX-License-Identifier: Apache-2.0
// C = A B in f32 with two tiles of 16 × 16 of each operand in flight: cp.async brings them and arrives at a barrier
// object (mbarrier) that says "full"; who has read a tile arrives at another one that says "empty". No barrier of the
// whole block stands in the loop. A is m × k, B is k × n, all row after row.
constexpr int tile = 16, stages = 2;

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void make_barrier(unsigned long long* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void arrive_after_copies(unsigned long long* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void wait(unsigned long long* barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void copy(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

extern "C" __global__ void matmul_pipelined(int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                                            float* __restrict__ c) {
  __shared__ float left[stages][tile][tile], right[stages][tile][tile];
  __shared__ unsigned long long full[stages], empty[stages];
  const int x = threadIdx.x, y = threadIdx.y;
  const float* from_a = a + (size_t)(blockIdx.y * tile + y) * k + x;
  const float* from_b = b + (size_t)y * n + blockIdx.x * tile + x;
  if (x == 0 && y == 0) {
    for (int s = 0; s < stages; ++s) {
      make_barrier(&full[s], tile * tile);
      make_barrier(&empty[s], tile * tile);
    }
  }
  __syncthreads();
  for (int s = 0; s < stages; ++s) {  // k has at least two tiles
    copy(&left[s][y][x], from_a + s * tile);
    copy(&right[s][y][x], from_b + (size_t)s * tile * n);
    arrive_after_copies(&full[s]);
  }
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step < k / tile; ++step) {
    const int s = step % stages;
    const unsigned parity = step / stages % 2;
    wait(&full[s], parity);
#pragma unroll
    for (int i = 0; i < tile; ++i) sum = fmaf(left[s][y][i], right[s][i][x], sum);
    arrive(&empty[s]);
    const int next = step + stages;
    if (next < k / tile) {
      wait(&empty[s], parity);
      copy(&left[s][y][x], from_a + next * tile);
      copy(&right[s][y][x], from_b + (size_t)next * tile * n);
      arrive_after_copies(&full[s]);
    }
  }
  c[(size_t)(blockIdx.y * tile + y) * n + blockIdx.x * tile + x] = sum;
}
