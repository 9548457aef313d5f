// SPDX-License-Identifier: Apache-2.0
// Pairs of f32, 8-bit floats, vector atomics, elect, calls through addresses, printf.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "corridor/ptx/functional/run_helper_test.h"
#include "corridor/ptx/functional/small_floats.h"

namespace corridor::ptx::testing {
namespace {

std::uint64_t pair(float low, float high) {
  return std::bit_cast<std::uint32_t>(low) | (std::uint64_t{std::bit_cast<std::uint32_t>(high)} << 32);
}

TEST(PairsOfFloats, EachHalfIsRoundedAndFlushedOnItsOwn) {
  const std::vector<std::uint64_t> in = {pair(1.5F, 0x1p-127F), pair(2, 0x1p-127F), pair(0x1p-40F, 1)};
  const auto run = [&](const std::string& line) {
    const Ran ran = run_body("  " + line + ";\n", in);
    EXPECT_EQ(faults_of(ran), "") << line;
    return ran.out[0];
  };
  EXPECT_EQ(run("add.rn.f32x2 %d, %a, %b"), pair(3.5F, 0x1p-126F));
  EXPECT_EQ(run("add.rn.ftz.f32x2 %d, %a, %b"), pair(3.5F, 0));
  EXPECT_EQ(run("sub.rn.f32x2 %d, %a, %c"), pair(1.5F, -1));
  EXPECT_EQ(run("mul.rz.f32x2 %d, %a, %b"), pair(3, 0));
  EXPECT_EQ(run("mul.rp.f32x2 %d, %a, %b"), pair(3, 0x1p-149F));
  EXPECT_EQ(run("fma.rn.f32x2 %d, %a, %b, %c"), pair(3, 1));
  EXPECT_EQ(run("fma.rp.f32x2 %d, %a, %b, %c"), pair(std::nextafterf(3, 4), std::nextafterf(1, 2)));
  const Ran nan = run_body("  add.rn.f32x2 %d, %a, %b;\n", {pair(INFINITY, 1), pair(-INFINITY, 1), 0});
  EXPECT_EQ(nan.out[0], std::uint64_t{0x7FFFFFFF} | (std::uint64_t{0x40000000} << 32));
}

/// Every number of the format, by the tables of the 8-bit formats' definition.
double plain_byte(Type type, std::uint32_t byte) {
  const int mantissa = type == Type::e4m3 ? 3 : 2, bias = type == Type::e4m3 ? 7 : 15;
  const auto exponent = static_cast<int>((byte & 0x7F) >> mantissa),
             fraction = static_cast<int>(byte) & ((1 << mantissa) - 1);
  const double sign = byte >= 128 ? -1 : 1;
  if (type == Type::e4m3 && (byte & 0x7F) == 0x7F) return NAN;
  if (type == Type::e5m2 && exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  const double part = static_cast<double>(fraction) / (1 << mantissa);
  return sign * (exponent == 0 ? part * std::pow(2.0, 1 - bias) : (1 + part) * std::pow(2.0, exponent - bias));
}

/// By search among all numbers: the nearest, of two as near the one whose last bit is 0.
std::uint32_t plain_nearest(Type type, double v) {
  if (std::isnan(v)) return 0x7F;
  std::uint32_t best = 0;
  double least = INFINITY;
  for (std::uint32_t byte = 0; byte < 128; ++byte) {
    const double candidate = plain_byte(type, byte);
    if (!std::isfinite(candidate)) continue;
    const double distance = std::fabs(std::min(std::fabs(v), 1e9) - candidate);
    if (distance < least || (distance == least && byte % 2 == 0)) {
      least = distance;
      best = byte;
    }
  }
  return best | (std::signbit(v) ? 0x80 : 0);
}

TEST(EightBits, EveryNumberGoesBothWays) {
  std::vector<std::uint64_t> in;
  for (std::uint64_t i = 0; i < 65536; i += 1) in.insert(in.end(), {i, 0, 0});
  for (const Type type : {Type::e4m3, Type::e5m2}) {
    const std::string name(name_of(type));
    RunOptions options;
    options.caches = false;
    const Ran ran = run_body(fmt::format(R"(  cvt.rn.f16x2.{0}x2 %r1, %ha;
  cvt.rn.satfinite.{0}x2.f16x2 %h1, %r1;
  cvt.u32.u16 %r2, %h1;
  cvt.rn.satfinite.{0}x2.f16x2 %h2, %ra;
  cvt.f32.f16 %r3, %ha;
  cvt.rn.satfinite.relu.{0}x2.f32 %h3, %r3, 0f3F800000;
  mov.b32 %r4, {{%h2, %h3}};
  mov.b64 %d, {{%r1, %r4}};
  shl.b32 %r2, %r2, 16;
)",
                                         name),
                             in, 256, options);
    ASSERT_EQ(faults_of(ran), "");
    const std::uint32_t one = type == Type::e4m3 ? 0x38 : 0x3C;
    for (std::uint32_t i = 0; i < 65536; ++i) {
      const double low = plain_byte(type, i & 255);
      ASSERT_TRUE(value_of_byte(type, i & 255) == low || std::isnan(low));
      // As f16: the value itself, exact in f16.
      const auto half = static_cast<std::uint32_t>(ran.out[i] & 0xFFFF);
      const double sign = (half & 0x8000) != 0 ? -1 : 1;
      const std::uint32_t exponent = (half >> 10) & 31, fraction = half & 1023;
      const double seen = exponent == 31  ? (fraction != 0 ? NAN : sign * INFINITY)
                          : exponent == 0 ? sign * fraction * 0x1p-24
                                          : sign * (1 + fraction / 1024.0) * std::pow(2.0, exponent - 15.0);
      ASSERT_TRUE(seen == low || (std::isnan(seen) && std::isnan(low))) << i;
      // From every f16, and with relu from its float (f16 i as the first operand: the high half).
      const std::uint32_t e = (i >> 10) & 31, f = i & 1023;
      const double value = (i & 0x8000 ? -1.0 : 1.0) * (e == 31  ? (f != 0 ? NAN : INFINITY)
                                                        : e == 0 ? f * 0x1p-24
                                                                 : (1 + f / 1024.0) * std::pow(2.0, e - 15.0));
      ASSERT_EQ((ran.out[i] >> 32) & 0xFF, plain_nearest(type, value)) << name << " " << i;
      ASSERT_EQ((ran.out[i] >> 56) & 0xFF, std::isnan(value) ? 0x7F : plain_nearest(type, value <= 0 ? 0 : value)) << i;
      ASSERT_EQ((ran.out[i] >> 48) & 0xFF, one);
    }
  }
}

TEST(VectorAtomics, AddAndCompareElementByElement) {
  const Ran ran = run_body(R"(  mov.b32 %r1, 0f3F800000;
  mov.b32 %r2, 0f40000000;
  red.global.add.v2.f32 [%out], {%r1, %r2};
  mov.b32 %r3, 0x40003C00;
  cvt.rn.f16.u32 %h1, %r62;
  cvt.rn.f16.s32 %h2, -5;
  red.relaxed.gpu.global.add.noftz.v2.f16x2 [%out+8], {%r3, %r3};
  red.global.max.noftz.v2.f16 [%out+16], {%h1, %h2};
  red.global.min.noftz.v2.bf16x2 [%out+24], {%r3, %r3};
  setp.ne.u32 %p1, %r62, 31;
  @%p1 bra L;
  atom.global.add.v4.f32 {%r4, %r5, %r6, %r7}, [%out+32], {%r1, %r1, %r1, %r1};
L:
  bar.sync 0;
  shl.b32 %r9, %r62, 3;
  cvt.u64.u32 %q1, %r9;
  add.u64 %q1, %q1, %out;
  ld.global.u64 %d, [%q1];
)",
                           {0, 0, 0}, 32, [] {
                             RunOptions options;
                             options.check = false;
                             return options;
                           }());
  ASSERT_EQ(faults_of(ran), "");
  EXPECT_EQ(ran.out[0], pair(32, 64));
  EXPECT_EQ(ran.out[1], 0x5400500054005000U);       // 32 and 64 in f16, twice
  EXPECT_EQ(ran.out[2] & 0xFFFFFFFF, 0x00004FC0U);  // the largest lane, 31; 0 is larger than -5
  EXPECT_EQ(ran.out[3], 0U);
  EXPECT_EQ(ran.out[4], pair(1, 1));
  const auto refused = [](const std::string& line) { return faults_of(run_body("  " + line + ";\n", {0, 0, 0})); };
  EXPECT_NE(refused("red.global.add.v2.f64 [%out], {%a, %b}").find("is not executed"), std::string::npos);
  EXPECT_NE(refused("red.shared.add.v2.f32 [%r1], {%r1, %r2}").find("is not executed"), std::string::npos);
  EXPECT_NE(refused("red.global.min.f16x2 [%out], %r1").find("is not executed"), std::string::npos);
  EXPECT_NE(refused("red.global.add.v2.f32 [%out+4], {%r1, %r2}").find("misaligned"), std::string::npos);
}

TEST(Elect, OneLaneOfThoseThatRun) {
  const Ran ran = run_body(R"(  setp.ge.u32 %p2, %r62, 5;
  mov.u32 %r2, 77;
  mov.b64 %d, 0;
  setp.ne.u32 %p1, %r62, %r62;
  @%p2 elect.sync %r2|%p1, 0xffffffe0;
  selp.b32 %r3, 1, 0, %p1;
  mov.b64 %d, {%r2, %r3};
)",
                           {0, 0, 0}, 32);
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(ran.out[lane], lane < 5 ? 77 : 5 | (std::uint64_t{lane == 5 ? 1U : 0U} << 32));
  }
}

constexpr const char* three_functions = R"(
.global .align 8 .u64 table[3] = {generic(plus), generic(times), generic(plus)};
.func (.param .b64 r) plus(.param .b64 a, .param .b32 b)
{ .reg .b64 %x; .reg .b32 %y;
  ld.param.u64 %x, [a]; ld.param.u32 %y, [b]; cvt.u64.u32 %x, %y; add.u64 %x, %x, 100; st.param.b64 [r], %x; ret; }
.func (.param .b64 r) times(.param .b64 a, .param .b32 b)
{ .reg .b64 %x; .reg .b32 %y; .shared .b32 cell;
  ld.param.u64 %x, [a]; ld.param.u32 %y, [b]; mul.wide.u32 %x, %y, 3; st.param.b64 [r], %x; ret; }
.func none() { ret; }
)";

TEST(Calls, ThroughAddressesLaneByLane) {
  const std::string call = R"(  {
  .param .b64 p0; .param .b32 p1; .param .b64 r0;
  st.param.b64 [p0], %a;
  st.param.b32 [p1], %r62;
shape: .callprototype (.param .b64 _) _ (.param .b64 _, .param .b32 _);
  call (r0), %q1, (p0, p1), shape;
  ld.param.b64 %d, [r0];
  }
)";
  const Ran ran = run_body(R"(  mov.u64 %q2, table;
  rem.u32 %r1, %r62, 3;
  mad.wide.u32 %q2, %r1, 8, %q2;
  ld.global.u64 %q1, [%q2];
)" + call + "  add.u64 %d, %d, 1;\n",
                           {0, 0, 0}, 64, {}, three_functions);
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(ran.out[i], (i % 3 == 1 ? 3 * i : i + 100) + 1) << i;
  EXPECT_EQ(ran.result.counters.active_lanes[32] > 0, true);
  const auto fault = [&](const std::string& start) {
    return faults_of(run_body(start + call, {0, 0, 0}, 32, {}, three_functions));
  };
  EXPECT_NE(fault("  mov.u64 %q1, 5;\n").find("0x5 is the address of no function"), std::string::npos);
  EXPECT_NE(fault("  mov.u64 %q1, none;\n").find("an indirect call to none"), std::string::npos);
  EXPECT_NE(fault("  mov.u64 %q1, k;\n").find("an indirect call to k"), std::string::npos);
}

TEST(Printf, ValuesAreWrittenAsInC) {
  const Ran ran = run_body(R"(  .local .align 8 .b8 values[40];
  .reg .b64 %v, %w;
  mov.u64 %v, values;
  st.local.u32 [%v], %r62;
  st.local.f64 [%v+8], 0d4009000000000000;
  mov.u64 %w, word;
  cvta.global.u64 %w, %w;
  st.local.u64 [%v+16], %w;
  st.local.u64 [%v+24], 0xABCDEF0123;
  st.local.u32 [%v+32], 65;
  cvta.local.u64 %v, %v;
  mov.u64 %w, form;
  cvta.global.u64 %w, %w;
  setp.lt.u32 %p1, %r62, 2;
  @!%p1 bra DONE;
  { .param .b64 p0; .param .b64 p1; .param .b32 r0;
  st.param.b64 [p0], %w;
  st.param.b64 [p1], %v;
  call.uni (r0), vprintf, (p0, p1);
  ld.param.b32 %r1, [r0]; }
DONE:
)",
                           {0, 0, 0}, 32, {}, R"(.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 form[] = {37,48,51,100,124,37,45,55,46,50,102,124,37,115,124,37,108,108,88,124,37,99,37,37,10,0};
.global .align 1 .b8 word[] = {111,110,101,0};
)");
  ASSERT_EQ(faults_of(ran), "");
  // "%03d|%-7.2f|%s|%llX|%c%%\n"
  EXPECT_EQ(ran.result.printed, "000|3.12   |one|ABCDEF0123|A%\n001|3.12   |one|ABCDEF0123|A%\n");
}

}  // namespace
}  // namespace corridor::ptx::testing
