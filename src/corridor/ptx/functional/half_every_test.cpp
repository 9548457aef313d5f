// SPDX-License-Identifier: Apache-2.0
// f16 and bf16: every bit pattern through the unary operations and conversions, and through min and max with 64 special
// values, against doubles that are rounded by their definition.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <functional>

#include "corridor/ptx/functional/plain_half_test.h"
#include "corridor/ptx/functional/run_helper_test.h"

namespace corridor::ptx::testing {
namespace {

/// Runs a body on every pattern (%ha, %ra) and gives the four 16-bit parts of what it leaves in %d.
std::vector<std::uint64_t> every(const std::string& body) {
  std::vector<std::uint64_t> in(std::size_t{3} << 16);
  for (std::size_t i = 0; i < in.size() / 3; ++i) in[3 * i] = i;
  RunOptions options;
  options.caches = options.check = false;
  Ran ran = run_body(body, in, 256, options);
  EXPECT_EQ(faults_of(ran), "") << body;
  return std::move(ran.out);
}

std::string four(const char* a, const char* b, const char* c, const char* d) {
  return fmt::format("  {};\n  {};\n  {};\n  {};\n  mov.b64 %d, {{%h1, %h2, %h3, %h4}};\n", a, b, c, d);
}

void expect_parts(const std::vector<std::uint64_t>& out,
                  const std::array<std::function<std::uint32_t(std::uint32_t)>, 4>& want) {
  for (std::uint32_t h = 0; h < 65536; ++h) {
    for (unsigned k = 0; k < 4; ++k) {
      ASSERT_EQ((out[h] >> (16 * k)) & 0xFFFF, want[k](h)) << "of 0x" << std::hex << h << ", part " << k;
    }
  }
}

TEST(HalfEvery, SignsAndSpecialFunctionsOfF16) {
  const auto nan = [](std::uint32_t h) { return (h & 0x7FFF) > f16.infinite; };
  expect_parts(
      every(four("neg.f16 %h1, %ha", "abs.f16 %h2, %ha", "ex2.approx.f16 %h3, %ha", "tanh.approx.f16 %h4, %ha")),
      {[&](std::uint32_t h) { return nan(h) ? 0x7FFF : h ^ 0x8000; },
       [&](std::uint32_t h) { return nan(h) ? 0x7FFF : h & 0x7FFF; },
       [](std::uint32_t h) { return pattern(f16, std::exp2(half_value(f16, h))); },
       [](std::uint32_t h) { return pattern(f16, std::tanh(half_value(f16, h))); }});
}

TEST(HalfEvery, SignsAndSpecialFunctionsOfBf16) {
  const auto nan = [](std::uint32_t h) { return (h & 0x7FFF) > bf16.infinite; };
  const auto flushed = [](std::uint32_t h) { return (h & 0x7FFF) < 0x80 ? h & 0x8000 : h; };
  expect_parts(every(four("neg.bf16 %h1, %ha", "abs.bf16 %h2, %ha", "ex2.approx.ftz.bf16 %h3, %ha",
                          "tanh.approx.bf16 %h4, %ha")),
               {[&](std::uint32_t h) { return nan(h) ? 0x7FFF : h ^ 0x8000; },
                [&](std::uint32_t h) { return nan(h) ? 0x7FFF : h & 0x7FFF; },
                [&](std::uint32_t h) { return flushed(pattern(bf16, std::exp2(half_value(bf16, flushed(h))))); },
                [](std::uint32_t h) { return pattern(bf16, std::tanh(half_value(bf16, h))); }});
}

TEST(HalfEvery, ToFloatsAndBack) {
  const auto out = every(R"(  cvt.f64.f16 %d, %ha;
)");
  for (std::uint32_t h = 0; h < 65536; ++h) {
    const double v = half_value(f16, h);
    if (std::isnan(v)) {
      ASSERT_TRUE(std::isnan(std::bit_cast<double>(out[h])));
    } else {
      ASSERT_EQ(out[h], std::bit_cast<std::uint64_t>(v)) << h;
    }
  }
  // Floats whose upper half is any pattern and whose lower half lies at, below and above a tie.
  for (const std::uint32_t low : {0x0000U, 0x1000U, 0x8001U}) {
    for (const Format* f : {&f16, &bf16}) {
      const std::string n = f->name;
      const auto got = every(fmt::format(R"(  shl.b32 %r1, %ra, 16;
  or.b32 %r1, %r1, {};
  cvt.rn.{}.f32 %h1, %r1;
  cvt.rz.{}.f32 %h2, %r1;
  cvt.rn.relu.{}.f32 %h3, %r1;
  cvt.rn.{}x2.f32 %r2, %r1, %r1;
  shr.b32 %r2, %r2, 16;
  cvt.u16.u32 %h4, %r2;
  mov.b64 %d, {{%h1, %h2, %h3, %h4}};
)",
                                         low, n, n, n, n));
      const auto value = [&](std::uint32_t h) { return static_cast<double>(std::bit_cast<float>((h << 16) | low)); };
      expect_parts(got, {[&](std::uint32_t h) { return pattern(*f, value(h)); },
                         [&](std::uint32_t h) { return pattern(*f, value(h), 'z'); },
                         [&](std::uint32_t h) { return value(h) <= 0 ? 0 : pattern(*f, value(h)); },
                         [&](std::uint32_t h) { return pattern(*f, value(h)); }});
    }
  }
}

TEST(HalfEvery, WholeNumbersOfEveryWidth) {
  struct To {
    const char* type;
    double least, most;
  };
  const To all[] = {{"s8", -128, 127}, {"u8", 0, 255},           {"s16", -32768, 32767},
                    {"u16", 0, 65535}, {"s64", -0x1p63, 0x1p63}, {"u64", 0, 0x1p64}};
  for (const To& to : all) {
    const bool wide = to.type[1] == '6';
    for (const char round : {'n', 'z', 'm', 'p'}) {
      const std::string code =
          wide ? fmt::format("  cvt.r{}i.{}.f16 %d, %ha;\n", round, to.type)
               : fmt::format("  cvt.r{}i.{}.f16 %h1, %ha;\n  cvt.u64.u16 %d, %h1;\n", round, to.type);
      const auto out = every(code);
      for (std::uint32_t h = 0; h < 65536; ++h) {
        const double v = whole(half_value(f16, h), round);
        std::uint64_t want = 0;
        if (std::isnan(v)) {
          want = wide ? std::uint64_t{1} << 63 : 0;
        } else if (v >= to.most) {
          want = to.type[0] == 's' ? (wide ? INT64_MAX : static_cast<std::uint64_t>(to.most))
                                   : (wide ? UINT64_MAX : static_cast<std::uint64_t>(to.most));
        } else {
          want = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::max(v, to.least)));
        }
        if (!wide) want &= 0xFFFF;
        ASSERT_EQ(out[h], want) << to.type << " r" << round << " 0x" << std::hex << h;
      }
    }
  }
  expect_parts(every(four("cvt.rn.f16.u16 %h1, %ha", "cvt.rn.f16.s16 %h2, %ha", "cvt.rn.f16.s8 %h3, %ha",
                          "cvt.rni.f16.f16 %h4, %ha")),
               {[](std::uint32_t h) { return pattern(f16, h); },
                [](std::uint32_t h) { return pattern(f16, static_cast<std::int16_t>(h)); },
                [](std::uint32_t h) { return pattern(f16, static_cast<std::int8_t>(h)); },
                [](std::uint32_t h) { return pattern(f16, std::nearbyint(half_value(f16, h))); }});
  expect_parts(every(four("cvt.rz.f16.u16 %h1, %ha", "cvt.rzi.f16.f16 %h2, %ha", "cvt.rmi.f16.f16 %h3, %ha",
                          "cvt.rpi.f16.f16 %h4, %ha")),
               {[](std::uint32_t h) { return pattern(f16, h, 'z'); },
                [](std::uint32_t h) { return pattern(f16, whole(half_value(f16, h), 'z')); },
                [](std::uint32_t h) { return pattern(f16, whole(half_value(f16, h), 'm')); },
                [](std::uint32_t h) { return pattern(f16, whole(half_value(f16, h), 'p')); }});
}

/// Zeros, least and largest numbers, ones, infinities and NaN, of both signs.
std::array<std::uint32_t, 32> special_magnitudes(const Format& f) {
  const auto one = static_cast<std::uint32_t>(f.bias << f.mantissa);
  std::array<std::uint32_t, 32> out{0,
                                    1,
                                    2,
                                    (1U << f.mantissa) - 1,
                                    1U << f.mantissa,
                                    (1U << f.mantissa) + 1,
                                    one - 1,
                                    one,
                                    one + 1,
                                    f.infinite - 2,
                                    f.infinite - 1,
                                    f.infinite,
                                    f.infinite + 1,
                                    0x7FFF};
  for (std::uint32_t i = 14; i < 32; ++i) out[i] = (i - 14) * (f.infinite / 18) + i;
  return out;
}

/// A pattern and what it means. Among equals -0 is below +0.
struct Known {
  std::uint32_t bits = 0;
  double value = 0;
};
std::uint32_t plain_extreme(const Known& a, const Known& b, bool is_max, bool keeps_nan) {
  const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
  if (a_is_nan || b_is_nan) return keeps_nan || (a_is_nan && b_is_nan) ? 0x7FFF : a_is_nan ? b.bits : a.bits;
  const bool a_is_less = a.value == b.value ? a.bits > b.bits : a.value < b.value;
  return a_is_less != is_max ? a.bits : b.bits;
}

TEST(HalfEvery, MinAndMaxWithSpecialValues) {
  for (const Format* f : {&f16, &bf16}) {
    const auto magnitudes = special_magnitudes(*f);
    std::string body = "  mov.u32 %r9, 0;\n  mov.b32 %r8, {%ha, %ha};\n";
    for (const std::uint32_t m : magnitudes) {  // the value in the low half, its negative in the high one
      for (const char* op : {"min", "max", m % 2 == 0 ? "min.NaN" : "max.NaN"}) {
        body += fmt::format("  {}.{}x2 %r1, %r8, {};\n  mad.lo.u32 %r9, %r9, 65599, %r1;\n", op, f->name,
                            m | ((m | 0x8000) << 16));
      }
    }
    const auto out = every(body + "  cvt.u64.u32 %d, %r9;\n");
    std::array<std::array<Known, 2>, 32> special;
    for (std::size_t i = 0; i < special.size(); ++i) {
      const std::uint32_t m = magnitudes[i];
      special[i] = {Known{m, half_value(*f, m)}, Known{m | 0x8000, half_value(*f, m | 0x8000)}};
    }
    for (std::uint32_t h = 0; h < 65536; ++h) {
      std::uint32_t want = 0;
      const Known own{h, half_value(*f, h)};
      for (const auto& both : special) {
        for (int k = 0; k < 3; ++k) {
          const bool is_max = k == 1 || (k == 2 && both[0].bits % 2 != 0);
          want = want * 65599 +
                 (plain_extreme(own, both[0], is_max, k == 2) | (plain_extreme(own, both[1], is_max, k == 2) << 16));
        }
      }
      ASSERT_EQ(out[h], want) << f->name << " 0x" << std::hex << h;
    }
  }
}

}  // namespace
}  // namespace corridor::ptx::testing
