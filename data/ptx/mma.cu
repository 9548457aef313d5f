// SPDX-License-Identifier: Apache-2.0
// C = A B in bf16 with sums of 32 bits: tiles come by cp.async, go to registers by ldmatrix, products by mma.sync. One
// warp a block makes a tile of 16 × 8; A is m × k row-major, B is n × k row-major (its transpose), C is m × n.
#include <cuda_bf16.h>

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

extern "C" __global__ void mma_bf16(int n, int k, const __nv_bfloat16* __restrict__ a,
                                    const __nv_bfloat16* __restrict__ b, float* __restrict__ c) {
  __shared__ __align__(16) __nv_bfloat16 tile_a[16][24], tile_b[8][24];  // 48-byte rows: ldmatrix without conflicts
  const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
  float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
#pragma unroll 1
  for (int first = 0; first < k; first += 16) {
    const __nv_bfloat16* from = a + (size_t)(row + lane / 2) * k + first + lane % 2 * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&tile_a[lane / 2][lane % 2 * 8])),
                 "l"(from));
    if (lane < 16) {
      const __nv_bfloat16* other = b + (size_t)(column + lane / 2) * k + first + lane % 2 * 8;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&tile_b[lane / 2][lane % 2 * 8])),
                   "l"(other));
    }
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    unsigned a0, a1, a2, a3, b0, b1;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3)
                 : "r"(shared_address(&tile_a[lane % 16][lane / 16 * 8])));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b0), "=r"(b1)
                 : "r"(shared_address(&tile_b[lane % 8][lane / 8 % 2 * 8])));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    __syncthreads();
  }
  float* out = c + (size_t)(row + lane / 4) * n + column + lane % 4 * 2;
  out[0] = d0;
  out[1] = d1;
  out[(size_t)8 * n] = d2;
  out[(size_t)8 * n + 1] = d3;
}
