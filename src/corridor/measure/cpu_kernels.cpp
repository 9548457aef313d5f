// SPDX-License-Identifier: Apache-2.0
// Sum and multiply-add loops with intrinsics: no compiler flag decides their width. Twelve or more independent chains
// hide the latency of the multiply-add (4 cycles, two units: eight chains at least).
#include "corridor/measure/cpu_kernels.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#define CORRIDOR_X86 1
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace corridor::measure {
namespace {

// x ← x · shrink + push stays near push / (1 − shrink) = 1: no overflow, no denormal numbers.
constexpr float shrink = 0.9990234375F;
constexpr float push = 0.0009765625F;
constexpr int chains = 12;

std::uint64_t sum_portable(const std::uint64_t* data, std::size_t words) {
  std::uint64_t sums[8] = {};
  for (std::size_t i = 0; i < words; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) sums[k] += data[i + k];
  }
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += sum;
  return total;
}

constexpr int portable_lanes = 48;  // twelve vectors of four

float fma_portable(std::size_t rounds) {
  float x[portable_lanes];
  for (int k = 0; k < portable_lanes; ++k) x[k] = 1.0F + static_cast<float>(k) * 0.01F;
  for (std::size_t i = 0; i < rounds; ++i) {
    for (float& lane : x) lane = lane * shrink + push;
  }
  float total = 0;
  for (const float lane : x) total += lane;
  return total;
}

constexpr CpuKernels portable{"portable", sum_portable, fma_portable, 2.0 * portable_lanes};

#ifdef CORRIDOR_X86

__attribute__((target("avx2,fma"))) std::uint64_t sum_avx2(const std::uint64_t* data, std::size_t words) {
  __m256i sums[8];
  for (__m256i& sum : sums) sum = _mm256_setzero_si256();
  for (std::size_t i = 0; i < words; i += 32) {
    for (std::size_t k = 0; k < 8; ++k) {
      const auto* place = reinterpret_cast<const __m256i*>(data + i + 4 * k);
      sums[k] = _mm256_add_epi64(sums[k], _mm256_load_si256(place));
    }
  }
  __m256i total = _mm256_setzero_si256();
  for (const __m256i& sum : sums) total = _mm256_add_epi64(total, sum);
  alignas(32) std::uint64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), total);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

__attribute__((target("avx2,fma"))) float fma_avx2(std::size_t rounds) {
  __m256 x[chains];
  for (int k = 0; k < chains; ++k) x[k] = _mm256_set1_ps(1.0F + static_cast<float>(k) * 0.01F);
  const __m256 factor = _mm256_set1_ps(shrink);
  const __m256 addend = _mm256_set1_ps(push);
  for (std::size_t i = 0; i < rounds; ++i) {
    for (__m256& chain : x) chain = _mm256_fmadd_ps(chain, factor, addend);
  }
  __m256 total = _mm256_setzero_ps();
  for (const __m256& chain : x) total = _mm256_add_ps(total, chain);
  alignas(32) float lanes[8];
  _mm256_store_ps(lanes, total);
  return lanes[0] + lanes[7];
}

__attribute__((target("avx512f"))) std::uint64_t sum_avx512(const std::uint64_t* data, std::size_t words) {
  __m512i sums[8];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (std::size_t i = 0; i < words; i += 64) {
    for (std::size_t k = 0; k < 8; ++k) sums[k] = _mm512_add_epi64(sums[k], _mm512_load_si512(data + i + 8 * k));
  }
  __m512i total = _mm512_setzero_si512();
  for (const __m512i& sum : sums) total = _mm512_add_epi64(total, sum);
  alignas(64) std::uint64_t lanes[8];
  _mm512_store_si512(lanes, total);
  std::uint64_t out = 0;
  for (const std::uint64_t lane : lanes) out += lane;
  return out;
}

__attribute__((target("avx512f"))) float fma_avx512(std::size_t rounds) {
  __m512 x[chains];
  for (int k = 0; k < chains; ++k) x[k] = _mm512_set1_ps(1.0F + static_cast<float>(k) * 0.01F);
  const __m512 factor = _mm512_set1_ps(shrink);
  const __m512 addend = _mm512_set1_ps(push);
  for (std::size_t i = 0; i < rounds; ++i) {
    for (__m512& chain : x) chain = _mm512_fmadd_ps(chain, factor, addend);
  }
  __m512 total = _mm512_setzero_ps();
  for (const __m512& chain : x) total = _mm512_add_ps(total, chain);
  alignas(64) float lanes[16];
  _mm512_store_ps(lanes, total);
  return lanes[0] + lanes[15];
}

constexpr CpuKernels avx2{"avx2 + fma", sum_avx2, fma_avx2, 2.0 * 8 * chains};
constexpr CpuKernels avx512{"avx512f", sum_avx512, fma_avx512, 2.0 * 16 * chains};

#elif defined(__aarch64__)

constexpr int neon_chains = 16;  // four units of four cycles

float fma_neon(std::size_t rounds) {
  float32x4_t x[neon_chains];
  for (int k = 0; k < neon_chains; ++k) x[k] = vdupq_n_f32(1.0F + static_cast<float>(k) * 0.01F);
  const float32x4_t factor = vdupq_n_f32(shrink);
  const float32x4_t addend = vdupq_n_f32(push);
  for (std::size_t i = 0; i < rounds; ++i) {
    for (float32x4_t& chain : x) chain = vfmaq_f32(addend, chain, factor);
  }
  float32x4_t total = vdupq_n_f32(0);
  for (const float32x4_t& chain : x) total = vaddq_f32(total, chain);
  return vaddvq_f32(total);
}

constexpr CpuKernels neon{"neon", sum_portable, fma_neon, 2.0 * 4 * neon_chains};

#endif

}  // namespace

const CpuKernels& portable_cpu_kernels() {
  return portable;
}

const CpuKernels& best_cpu_kernels() {
#ifdef CORRIDOR_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2;
#elif defined(__aarch64__)
  return neon;
#endif
  return portable;
}

}  // namespace corridor::measure
