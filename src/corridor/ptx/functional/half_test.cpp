// SPDX-License-Identifier: Apache-2.0
// f16 and bf16: every bit pattern of one operand, and many of two and three, against sums of integers.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "corridor/ptx/functional/run_helper_test.h"

namespace corridor::ptx::testing {
namespace {

__extension__ using Big = __int128;

/// An f16 as a multiple of 2^-24.
bool is_finite16(std::uint32_t h) {
  return (h & 0x7C00) != 0x7C00;
}
bool is_nan16(std::uint32_t h) {
  return (h & 0x7FFF) > 0x7C00;
}
Big units_of(std::uint32_t h) {
  const std::uint32_t exponent = (h >> 10) & 31, mantissa = h & 0x3FF;
  const Big size = exponent == 0 ? Big{mantissa} : Big{mantissa | 0x400} << (exponent - 1);
  return (h & 0x8000) != 0 ? -size : size;
}
/// A multiple of 2^-48 to the nearest f16, ties to even.
std::uint32_t nearest16(Big v, bool negative_zero) {
  const bool negative = v < 0;
  if (negative) v = -v;
  const std::uint32_t sign = negative || (v == 0 && negative_zero) ? 0x8000 : 0;
  if (v == 0) return sign;
  int top = 0;
  for (Big w = v; w > 1; w >>= 1) ++top;
  const int shift = std::max(24, top - 10);  // 2^-24 is the least step
  Big kept = v >> shift;
  const Big rest = v - (kept << shift), half = Big{1} << (shift - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  if (kept == 0) return sign;
  if (shift == 24) return sign | static_cast<std::uint32_t>(kept);  // subnormal, or just normal
  std::uint32_t exponent = static_cast<std::uint32_t>(shift - 23);
  if (kept == 2048) {
    kept = 1024;
    ++exponent;
  }
  if (exponent >= 31) return sign | 0x7C00;
  return sign | (exponent << 10) | static_cast<std::uint32_t>(kept - 1024);
}

std::vector<std::uint64_t> all_patterns() {
  std::vector<std::uint64_t> in(std::size_t{3} << 16);
  for (std::size_t i = 0; i < in.size() / 3; ++i) in[3 * i] = i;
  return in;
}

RunOptions quick() {
  RunOptions options;
  options.caches = false;
  return options;
}

TEST(Half, EveryF16BecomesItsFloat) {
  const Ran ran = run_body("cvt.f32.f16 %r1, %ha;\n cvt.u64.u32 %d, %r1;\n", all_patterns(), 256, quick());
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint32_t h = 0; h < 65536; ++h) {
    const float got = std::bit_cast<float>(static_cast<std::uint32_t>(ran.out[h]));
    if (is_nan16(h)) {
      EXPECT_EQ(ran.out[h], 0x7FFFFFFFU) << h;
    } else if (!is_finite16(h)) {
      EXPECT_TRUE(std::isinf(got)) << h;
    } else {
      EXPECT_EQ(got, std::ldexp(static_cast<float>(static_cast<std::int64_t>(units_of(h))), -24)) << h;
      EXPECT_EQ(std::signbit(got), (h & 0x8000) != 0) << h;
    }
  }
}

TEST(Half, EveryF16AndBf16ComesBackFromItsFloat) {
  const Ran ran = run_body(R"(  cvt.f32.f16 %r1, %ha;
  cvt.rn.f16.f32 %h1, %r1;
  cvt.f32.bf16 %r2, %ha;
  cvt.rn.bf16.f32 %h2, %r2;
  mov.b32 %r3, {%h1, %h2};
  cvt.u64.u32 %d, %r3;
)",
                           all_patterns(), 256, quick());
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint32_t h = 0; h < 65536; ++h) {
    EXPECT_EQ(ran.out[h] & 0xFFFF, is_nan16(h) ? 0x7FFFU : h);
    EXPECT_EQ(ran.out[h] >> 16, (h & 0x7FFF) > 0x7F80 ? 0x7FFFU : h);
  }
}

TEST(Half, EveryF16RoundsToAnInteger) {
  const Ran ran = run_body(R"(  cvt.rni.s32.f16 %r1, %ha;
  cvt.rzi.s32.f16 %r2, %ha;
  mov.b64 %d, {%r1, %r2};
)",
                           all_patterns(), 256, quick());
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint32_t h = 0; h < 65536; ++h) {
    std::int32_t nearest = 0, cut = 0;
    if (!is_nan16(h) && !is_finite16(h)) {
      nearest = cut = (h & 0x8000) != 0 ? INT32_MIN : INT32_MAX;
    } else if (is_finite16(h)) {
      const Big u = units_of(h), one = Big{1} << 24;
      cut = static_cast<std::int32_t>(u / one);
      const Big rest = u % one, twice = rest < 0 ? -2 * rest : 2 * rest;
      nearest = cut + (twice > one || (twice == one && (cut & 1) != 0) ? (u < 0 ? -1 : 1) : 0);
    }
    EXPECT_EQ(static_cast<std::int32_t>(ran.out[h]), nearest) << h;
    EXPECT_EQ(static_cast<std::int32_t>(ran.out[h] >> 32), cut) << h;
  }
}

TEST(Half, SumsProductsAndFusedAreRoundedOnce) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> in;
  for (int i = 0; i < 40000; ++i) {
    for (int k = 0; k < 3; ++k) in.push_back(random() & 0xFFFF);
    if (i % 2 == 0) in.back() = in[in.size() - 2] ^ (random() & 0x83FF);  // values that nearly cancel
  }
  const Ran ran = run_body(R"(  add.f16 %h1, %ha, %hb;
  sub.f16 %h2, %ha, %hb;
  mul.f16 %h3, %ha, %hb;
  fma.rn.f16 %h4, %ha, %hb, %hc;
  mov.b64 %d, {%h1, %h2, %h3, %h4};
)",
                           in, 256, quick());
  ASSERT_EQ(faults_of(ran), "");
  for (std::size_t i = 0; i < in.size() / 3; ++i) {
    const auto a = static_cast<std::uint32_t>(in[3 * i]), b = static_cast<std::uint32_t>(in[3 * i + 1]),
               c = static_cast<std::uint32_t>(in[3 * i + 2]);
    if (!is_finite16(a) || !is_finite16(b) || !is_finite16(c)) continue;
    const Big ua = units_of(a), ub = units_of(b), product = ua * ub, one = Big{1} << 24;
    const bool sign_a = (a & 0x8000) != 0, sign_b = (b & 0x8000) != 0, sign_c = (c & 0x8000) != 0;
    ASSERT_EQ(ran.out[i] & 0xFFFF, nearest16((ua + ub) * one, sign_a && sign_b)) << a << " " << b;
    ASSERT_EQ((ran.out[i] >> 16) & 0xFFFF, nearest16((ua - ub) * one, sign_a && !sign_b)) << a << " " << b;
    ASSERT_EQ((ran.out[i] >> 32) & 0xFFFF, nearest16(product, sign_a != sign_b)) << a << " " << b;
    ASSERT_EQ((ran.out[i] >> 48) & 0xFFFF, nearest16(product + units_of(c) * one, sign_a != sign_b && sign_c))
        << a << " " << b << " " << c;
  }
}

/// A long double to the nearest bf16, for values whose sums are exact in 64 bits.
std::uint32_t nearest_bf16(long double v) {
  if (v == 0) return std::signbit(v) ? 0x8000 : 0;
  int exponent = 0;
  const long double scaled = std::frexp(std::fabs(v), &exponent) * 256;  // in [128, 256)
  const long double whole = std::floor(scaled), rest = scaled - whole;
  auto mantissa = static_cast<std::uint32_t>(whole);
  mantissa += rest > 0.5L || (rest == 0.5L && (mantissa & 1) != 0) ? 1 : 0;
  const std::uint32_t bits = (static_cast<std::uint32_t>(exponent - 2 + 127) << 7) + mantissa;
  return (v < 0 ? 0x8000 : 0) | (bits & 0x7FFF);
}

TEST(Half, Bf16IsRoundedOnceToo) {
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> in;
  for (int i = 0; i < 20000; ++i) {
    for (int k = 0; k < 3; ++k) in.push_back((random() & 0x807F) | ((117 + random() % 20) << 7));
  }
  // A product that is exactly between two bf16, and an addend that decides although it is far below.
  in[0] = 0x3F81;  // 1 + 2^-7
  in[1] = 0x3FC0;  // 1.5: the product 1.51171875 lies between two bf16
  in[2] = 0x8080;  // -2^-126: below the middle
  const Ran ran = run_body(R"(  add.rn.bf16 %h1, %ha, %hb;
  mul.rn.bf16 %h2, %ha, %hb;
  fma.rn.bf16 %h3, %ha, %hb, %hc;
  mov.b64 %d, {%h1, %h2, %h3, %h3};
)",
                           in, 256, quick());
  ASSERT_EQ(faults_of(ran), "");
  EXPECT_EQ((ran.out[0] >> 32) & 0xFFFF, 0x3FC1U);
  for (std::size_t i = 1; i < in.size() / 3; ++i) {
    const auto value = [&](std::size_t k) {
      return static_cast<long double>(std::bit_cast<float>(static_cast<std::uint32_t>(in[3 * i + k] << 16)));
    };
    ASSERT_EQ(ran.out[i] & 0xFFFF, nearest_bf16(value(0) + value(1)));
    ASSERT_EQ((ran.out[i] >> 16) & 0xFFFF, nearest_bf16(value(0) * value(1)));
    ASSERT_EQ((ran.out[i] >> 32) & 0xFFFF, nearest_bf16(value(0) * value(1) + value(2)));
  }
}

}  // namespace
}  // namespace corridor::ptx::testing
