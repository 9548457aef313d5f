// SPDX-License-Identifier: Apache-2.0
// Peak of Hopper's matrix units through wgmma (sm_90a only): four warps multiply 64 x 256 tiles from shared memory into
// registers. mma.sync reaches only part of the rate there.

typedef unsigned int u32;
typedef unsigned long long u64;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

#define PRODUCTS 8  // of one round, each 64 x 256 x 32 bytes of depth

__device__ __forceinline__ u32 operand(u32 i, u32 seed, u32 mask, u32 exponent) {
  u32 h = (i + blockIdx.x * 977u) * 2654435761u + seed;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return (h & mask) | exponent;
}

// Where an operand lies: 8 x 16-byte cores of 128 contiguous bytes, no swizzle; the two cores of the depth follow each
// other, the next 8 rows come 256 bytes later. The three fields count in units of 16 bytes.
__device__ __forceinline__ u64 place_of(const void* shared) {
  const u64 address = (u64)__cvta_generic_to_shared(shared);
  return ((address & 0x3ffff) >> 4) | (8ull << 16) | (16ull << 32);
}

#define NUMBERS                                                        \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15," \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63," \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79," \
  "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95," \
  "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111," \
  "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define REGISTERS(KIND)                                                \
  KIND(d[0]), KIND(d[1]), KIND(d[2]), KIND(d[3]), \
  KIND(d[4]), KIND(d[5]), KIND(d[6]), KIND(d[7]), \
  KIND(d[8]), KIND(d[9]), KIND(d[10]), KIND(d[11]), \
  KIND(d[12]), KIND(d[13]), KIND(d[14]), KIND(d[15]), \
  KIND(d[16]), KIND(d[17]), KIND(d[18]), KIND(d[19]), \
  KIND(d[20]), KIND(d[21]), KIND(d[22]), KIND(d[23]), \
  KIND(d[24]), KIND(d[25]), KIND(d[26]), KIND(d[27]), \
  KIND(d[28]), KIND(d[29]), KIND(d[30]), KIND(d[31]), \
  KIND(d[32]), KIND(d[33]), KIND(d[34]), KIND(d[35]), \
  KIND(d[36]), KIND(d[37]), KIND(d[38]), KIND(d[39]), \
  KIND(d[40]), KIND(d[41]), KIND(d[42]), KIND(d[43]), \
  KIND(d[44]), KIND(d[45]), KIND(d[46]), KIND(d[47]), \
  KIND(d[48]), KIND(d[49]), KIND(d[50]), KIND(d[51]), \
  KIND(d[52]), KIND(d[53]), KIND(d[54]), KIND(d[55]), \
  KIND(d[56]), KIND(d[57]), KIND(d[58]), KIND(d[59]), \
  KIND(d[60]), KIND(d[61]), KIND(d[62]), KIND(d[63]), \
  KIND(d[64]), KIND(d[65]), KIND(d[66]), KIND(d[67]), \
  KIND(d[68]), KIND(d[69]), KIND(d[70]), KIND(d[71]), \
  KIND(d[72]), KIND(d[73]), KIND(d[74]), KIND(d[75]), \
  KIND(d[76]), KIND(d[77]), KIND(d[78]), KIND(d[79]), \
  KIND(d[80]), KIND(d[81]), KIND(d[82]), KIND(d[83]), \
  KIND(d[84]), KIND(d[85]), KIND(d[86]), KIND(d[87]), \
  KIND(d[88]), KIND(d[89]), KIND(d[90]), KIND(d[91]), \
  KIND(d[92]), KIND(d[93]), KIND(d[94]), KIND(d[95]), \
  KIND(d[96]), KIND(d[97]), KIND(d[98]), KIND(d[99]), \
  KIND(d[100]), KIND(d[101]), KIND(d[102]), KIND(d[103]), \
  KIND(d[104]), KIND(d[105]), KIND(d[106]), KIND(d[107]), \
  KIND(d[108]), KIND(d[109]), KIND(d[110]), KIND(d[111]), \
  KIND(d[112]), KIND(d[113]), KIND(d[114]), KIND(d[115]), \
  KIND(d[116]), KIND(d[117]), KIND(d[118]), KIND(d[119]), \
  KIND(d[120]), KIND(d[121]), KIND(d[122]), KIND(d[123]), \
  KIND(d[124]), KIND(d[125]), KIND(d[126]), KIND(d[127])

#define FLOAT_REGISTER(x) "+f"(x)
#define INT_REGISTER(x) "+r"(x)

// TAIL: the scales of A and B (and their transposition for 16-bit types) that follow the predicate.
#define WGMMA(SHAPE_AND_TYPES, TAIL, KIND)                                                                           \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned." SHAPE_AND_TYPES " {" NUMBERS \
               "}, %128, %129, p" TAIL "; }"                                                                       \
               : REGISTERS(KIND)                                                                                     \
               : "l"(a), "l"(b), "r"(1))

#define KERNEL(NAME, ACC, MASK, EXPONENT, PRODUCT)                                                     \
  extern "C" __global__ void __launch_bounds__(256, 1) NAME(u32 rounds, u32 seed, u32* sink) {         \
    __shared__ __align__(128) u32 words[512 + 2048]; /* A: 64 x 32 bytes, B: 256 x 32 bytes */         \
    for (u32 i = threadIdx.x; i < 2560; i += blockDim.x) words[i] = operand(i, seed, MASK, EXPONENT);  \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                       \
    __syncthreads();                                                                                   \
    const u64 a = place_of(words), b = place_of(words + 512);                                          \
    ACC d[128];                                                                                        \
    _Pragma("unroll") for (int i = 0; i < 128; ++i) d[i] = 0;                                          \
    _Pragma("unroll 1") for (u32 r = 0; r < rounds; ++r) {                                             \
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                          \
      _Pragma("unroll") for (int p = 0; p < PRODUCTS; ++p) { PRODUCT; }                                \
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");                                   \
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");                                   \
    }                                                                                                  \
    ACC sum = 0;                                                                                       \
    _Pragma("unroll") for (int i = 0; i < 128; ++i) sum += d[i];                                       \
    if (sum == (ACC)-12345) *sink = (u32)sum;                                                          \
  }

KERNEL(wgmma_f16, float, 0x83ff83ffu, 0x38003800u, WGMMA("m64n256k16.f32.f16.f16", ", 1, 1, 0, 0", FLOAT_REGISTER))
KERNEL(wgmma_bf16, float, 0x807f807fu, 0x3f003f00u, WGMMA("m64n256k16.f32.bf16.bf16", ", 1, 1, 0, 0", FLOAT_REGISTER))
KERNEL(wgmma_tf32, float, 0x807fe000u, 0x3f000000u, WGMMA("m64n256k8.f32.tf32.tf32", ", 1, 1", FLOAT_REGISTER))
KERNEL(wgmma_e4m3, float, 0x87878787u, 0x30303030u, WGMMA("m64n256k32.f32.e4m3.e4m3", ", 1, 1", FLOAT_REGISTER))
KERNEL(wgmma_s8, int, 0xffffffffu, 0u, WGMMA("m64n256k32.s32.s8.s8", "", INT_REGISTER))

#endif
