// SPDX-License-Identifier: Apache-2.0
// Peak of the matrix units through mma.sync: each warp multiplies small tiles that stay in registers, 8 independent
// accumulators at a time. The operands look random: constant ones draw less power and clock higher than real products.

typedef unsigned int u32;

#define TILES 8

// A word of two or four small numbers: random signs and mantissas, one exponent.
__device__ __forceinline__ u32 operand(u32 i, u32 seed, u32 mask, u32 exponent) {
  u32 h = (i + blockIdx.x * 977u + threadIdx.x * 31u) * 2654435761u + seed;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return (h & mask) | exponent;
}

// KERNEL(name, words of A, of B, of C, type of C, masks of an operand word, the instruction as a statement on a, b, c)
#define KERNEL(NAME, A, B, C, ACC, MASK, EXPONENT, MMA)                                       \
  extern "C" __global__ void NAME(u32 rounds, u32 seed, u32* sink) {                          \
    u32 a[A], b[B];                                                                           \
    ACC d[TILES][C];                                                                          \
    _Pragma("unroll") for (int i = 0; i < A; ++i) a[i] = operand(i, seed, MASK, EXPONENT);    \
    _Pragma("unroll") for (int i = 0; i < B; ++i) b[i] = operand(A + i, seed, MASK, EXPONENT); \
    _Pragma("unroll") for (int t = 0; t < TILES; ++t) {                                       \
      _Pragma("unroll") for (int i = 0; i < C; ++i) d[t][i] = (ACC)(t + i);                   \
    }                                                                                         \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                    \
      _Pragma("unroll") for (int t = 0; t < TILES; ++t) {                                     \
        ACC* c = d[t];                                                                        \
        MMA;                                                                                  \
      }                                                                                       \
    }                                                                                         \
    ACC sum = 0;                                                                              \
    _Pragma("unroll") for (int t = 0; t < TILES; ++t) {                                       \
      _Pragma("unroll") for (int i = 0; i < C; ++i) sum += d[t][i];                           \
    }                                                                                         \
    if (sum == (ACC)-12345) *sink = (u32)sum;                                                 \
  }

#define MMA_F32_4_2(SHAPE, TYPES)                                                                    \
  asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPES ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, " \
               "{%8,%9}, {%0,%1,%2,%3};"                                                             \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                      \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

#if __CUDA_ARCH__ >= 700 && __CUDA_ARCH__ < 750
// Four 8 × 8 × 4 products at once in a warp.
KERNEL(mma_f16, 2, 2, 8, float, 0x83ff83ffu, 0x38003800u,
       asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "
                    "{%0,%1,%2,%3,%4,%5,%6,%7};"
                    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7])
                    : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1])))
#endif

#if __CUDA_ARCH__ >= 750 && __CUDA_ARCH__ < 800
KERNEL(mma_f16, 2, 1, 4, float, 0x83ff83ffu, 0x38003800u,
       asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                    : "r"(a[0]), "r"(a[1]), "r"(b[0])))
KERNEL(mma_s8, 1, 1, 2, int, 0xffffffffu, 0u,
       asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                    : "+r"(c[0]), "+r"(c[1])
                    : "r"(a[0]), "r"(b[0])))
#endif

#if __CUDA_ARCH__ >= 800
KERNEL(mma_f16, 4, 2, 4, float, 0x83ff83ffu, 0x38003800u, MMA_F32_4_2("m16n8k16", "f16.f16"))
KERNEL(mma_bf16, 4, 2, 4, float, 0x807f807fu, 0x3f003f00u, MMA_F32_4_2("m16n8k16", "bf16.bf16"))
KERNEL(mma_tf32, 4, 2, 4, float, 0x807fe000u, 0x3f000000u, MMA_F32_4_2("m16n8k8", "tf32.tf32"))
KERNEL(mma_s8, 4, 2, 4, int, 0xffffffffu, 0u,
       asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                    "{%0,%1,%2,%3};"
                    : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])))
#endif

#if __CUDA_ARCH__ >= 890
KERNEL(mma_e4m3, 4, 2, 4, float, 0x87878787u, 0x30303030u, MMA_F32_4_2("m16n8k32", "e4m3.e4m3"))
#endif
