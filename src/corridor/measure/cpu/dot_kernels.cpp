// SPDX-License-Identifier: Apache-2.0
// Peaks of the short types on x86: fp16 multiply-adds, bf16 pairs and int8 quadruples added into 32 bits. Highway 1.0
// has no target with these instructions, so each loop names its own.
#include "corridor/measure/cpu/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define CORRIDOR_X86_DOTS 1
#endif

namespace corridor::measure {
namespace {

#ifdef CORRIDOR_X86_DOTS

using hardware::ComputeType;

constexpr int chains = 16;  // up to eight cycles of latency on two units

struct Cpuid {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Cpuid leaf_7(unsigned subleaf) {
  Cpuid r;
  if (__get_cpuid_count(7, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

bool bit(unsigned word, unsigned index) {
  return ((word >> index) & 1U) != 0;
}

__attribute__((target("avx512f,avx512bf16"))) double bf16_pairs(std::size_t rounds) {
  __m512 sums[chains];
  for (__m512& sum : sums) sum = _mm512_setzero_ps();
  const __m512bh one = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1.0F), _mm512_set1_ps(1.0F));
  const __m512bh small = _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.0009765625F), _mm512_set1_ps(0.0009765625F));
  for (std::size_t i = 0; i < rounds; ++i) {
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, one, small);
  }
  __m512 total = _mm512_setzero_ps();
  for (const __m512& sum : sums) total = _mm512_add_ps(total, sum);
  alignas(64) float lanes[16];
  _mm512_store_ps(lanes, total);
  double out = 0;
  for (const float lane : lanes) out += static_cast<double>(lane);
  return out;
}

__attribute__((target("avx512f,avx512vnni"))) double int8_quadruples(std::size_t rounds) {
  __m512i sums[chains];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  const __m512i left = _mm512_set1_epi8(1);
  const __m512i right = _mm512_set1_epi8(1);
  for (std::size_t i = 0; i < rounds; ++i) {
    for (__m512i& sum : sums) sum = _mm512_dpbusd_epi32(sum, left, right);  // wraps around, which costs nothing
  }
  __m512i total = _mm512_setzero_si512();
  for (const __m512i& sum : sums) total = _mm512_add_epi32(total, sum);
  alignas(64) std::uint32_t lanes[16];
  _mm512_store_si512(lanes, total);
  double out = 0;
  for (const std::uint32_t lane : lanes) out += static_cast<double>(lane);
  return out;
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define CORRIDOR_FP16 1
__attribute__((target("avx512f,avx512fp16"))) double fp16_multiply_add(std::size_t rounds) {
  __m512h x[chains];
  for (int k = 0; k < chains; ++k) x[k] = _mm512_set1_ph(static_cast<_Float16>(1.0F + 0.01F * static_cast<float>(k)));
  const __m512h factor = _mm512_set1_ph(static_cast<_Float16>(0.75F));
  const __m512h addend = _mm512_set1_ph(static_cast<_Float16>(0.25F));
  for (std::size_t i = 0; i < rounds; ++i) {
    for (__m512h& chain : x) chain = _mm512_fmadd_ph(chain, factor, addend);
  }
  __m512h total = x[0];
  for (int k = 1; k < chains; ++k) total = _mm512_add_ph(total, x[k]);
  alignas(64) _Float16 lanes[32];
  _mm512_store_ph(lanes, total);
  double out = 0;
  for (const _Float16 lane : lanes) out += static_cast<double>(lane);
  return out;
}
#endif

void add_x86_dots(std::vector<PeakKernel>& peaks) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx512f")) return;  // also false where the system does not keep the wide registers
  const Cpuid first = leaf_7(0);
  const Cpuid second = first.eax >= 1 ? leaf_7(1) : Cpuid();
#ifdef CORRIDOR_FP16
  if (bit(first.edx, 23)) peaks.push_back({ComputeType::fp16, "avx512_fp16", fp16_multiply_add, 2.0 * 32 * chains});
#endif
  if (bit(second.eax, 5)) peaks.push_back({ComputeType::bf16, "avx512_bf16", bf16_pairs, 2.0 * 32 * chains});
  if (bit(first.ecx, 11)) peaks.push_back({ComputeType::int8, "avx512_vnni", int8_quadruples, 2.0 * 64 * chains});
}

#endif

}  // namespace

std::vector<PeakKernel> peak_kernels() {
  std::vector<PeakKernel> peaks;
  const Kernels& k = best_kernels();
  if (k.f64.run != nullptr) peaks.push_back(k.f64);
  peaks.push_back(k.f32);
#ifdef CORRIDOR_X86_DOTS
  add_x86_dots(peaks);
#endif
  return peaks;
}

}  // namespace corridor::measure
