// SPDX-License-Identifier: Apache-2.0
// Whole-number instructions: products of four bytes, bytes picked and moved, bits counted, fields cut out.
extern "C" __global__ void integer_mix(int n, const unsigned* __restrict__ x, const unsigned* __restrict__ y,
                                       unsigned* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned a = x[i], b = y[i];
  unsigned v = static_cast<unsigned>(__dp4a(static_cast<int>(a), static_cast<int>(b), 7));
  v ^= __byte_perm(a, b, 0x5410);
  v += __popc(a) + 32 * __clz(static_cast<int>(b)) + __ffs(static_cast<int>(a));
  unsigned field;
  asm("bfe.u32 %0, %1, 5, 11;" : "=r"(field) : "r"(b));
  v = __funnelshift_l(v, field, 13);
  v ^= __brev(a) + __umulhi(a, b);
  out[i] = v;
}
