// SPDX-License-Identifier: Apache-2.0
// Fused multiply-adds that stay in registers, without the matrix units: 16 chains a thread, 64 multiply-adds a round.

typedef unsigned int u32;

#define CHAINS 16
#define DEEP 4

#define MULTIPLY_ADD(NAME, TYPE, START, FMA, UNLIKELY)                                    \
  extern "C" __global__ void NAME(u32 rounds, TYPE factor, TYPE addend, TYPE* sink) {     \
    TYPE a[CHAINS];                                                                       \
    _Pragma("unroll") for (int k = 0; k < CHAINS; ++k) a[k] = (TYPE)(START);              \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                \
      _Pragma("unroll") for (int d = 0; d < DEEP; ++d) {                                  \
        _Pragma("unroll") for (int k = 0; k < CHAINS; ++k) a[k] = FMA(a[k], factor, addend); \
      }                                                                                   \
    }                                                                                     \
    TYPE sum = 0;                                                                         \
    _Pragma("unroll") for (int k = 0; k < CHAINS; ++k) sum += a[k];                       \
    if (sum == (TYPE)(UNLIKELY)) *sink = sum;                                             \
  }

MULTIPLY_ADD(multiply_add_f32, float, threadIdx.x + k, __fmaf_rn, -12345)
MULTIPLY_ADD(multiply_add_f64, double, threadIdx.x + k, __fma_rn, -12345)
