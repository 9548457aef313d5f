// SPDX-License-Identifier: Apache-2.0
// Quantities survive printing and reading; bad input is refused with the accepted units named.
#include "corridor/units/text.h"

#include <cmath>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor::units {
namespace {

using ::testing::HasSubstr;

TEST(ParseSeconds, AcceptsEveryUnitWithAndWithoutSpace) {
  EXPECT_DOUBLE_EQ(parse_seconds("42ms")->value(), 0.042);
  EXPECT_DOUBLE_EQ(parse_seconds("1.3 s")->value(), 1.3);
  EXPECT_DOUBLE_EQ(parse_seconds(" 5 us ")->value(), 5e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("5 µs")->value(), 5e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("5\u03bcs")->value(), 5e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("7e2ns")->value(), 7e-7);
  EXPECT_DOUBLE_EQ(parse_seconds("2 min")->value(), 120);
}

TEST(ParseBytes, TellsDecimalFromBinary) {
  EXPECT_DOUBLE_EQ(parse_bytes("141 GB")->value(), 141e9);
  EXPECT_DOUBLE_EQ(parse_bytes("80 GiB")->value(), 80.0 * 1024 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(parse_bytes("5EB")->value(), 5e18);
  EXPECT_DOUBLE_EQ(parse_bytes("12 kb")->value(), 12e3);
  EXPECT_DOUBLE_EQ(parse_bytes("32 B")->value(), 32);
}

TEST(ParseBytes, RefusesBits) {
  EXPECT_FALSE(parse_bytes("8 Gb").has_value());
  EXPECT_FALSE(parse_bytes("8 b").has_value());
}

TEST(ParseRates, NeedTheirOwnDimension) {
  EXPECT_DOUBLE_EQ(parse_bytes_per_second("3.35 TB/s")->value(), 3.35e12);
  EXPECT_DOUBLE_EQ(parse_flops_per_second("989.4 TFLOP/s")->value(), 989.4e12);
  EXPECT_DOUBLE_EQ(parse_flops_per_second("989.4 TFLOPS")->value(), 989.4e12);
  EXPECT_DOUBLE_EQ(parse_flops_per_second("1979 TOPS")->value(), 1979e12);
  EXPECT_DOUBLE_EQ(parse_flops("140 GFLOP")->value(), 140e9);
  EXPECT_FALSE(parse_bytes_per_second("3.35 TB").has_value());
  EXPECT_FALSE(parse_bytes("3.35 TB/s").has_value());
  EXPECT_FALSE(parse_flops("140 GFLOPS").has_value());
  EXPECT_FALSE(parse_flops_per_second("140 GFLOP").has_value());
}

TEST(ParseCount, TakesDecimalSuffixes) {
  EXPECT_DOUBLE_EQ(*parse_count("70B"), 70e9);
  EXPECT_DOUBLE_EQ(*parse_count("1.1B"), 1.1e9);
  EXPECT_DOUBLE_EQ(*parse_count("512"), 512);
  EXPECT_DOUBLE_EQ(*parse_count("4k"), 4e3);
  EXPECT_FALSE(parse_count("70 GB").has_value());
}

class BadQuantity : public ::testing::TestWithParam<std::string> {};

TEST_P(BadQuantity, IsRefusedAndNamesAcceptedUnits) {
  const auto seconds = parse_seconds(GetParam());
  ASSERT_FALSE(seconds.has_value());
  EXPECT_THAT(seconds.error().line(), HasSubstr("ms"));
  const auto bytes = parse_bytes(GetParam());
  ASSERT_FALSE(bytes.has_value());
  EXPECT_THAT(bytes.error().line(), HasSubstr("GiB"));
  const auto rate = parse_bytes_per_second(GetParam());
  ASSERT_FALSE(rate.has_value());
  EXPECT_THAT(rate.error().line(), HasSubstr("TB/s"));
  const auto flops = parse_flops_per_second(GetParam());
  ASSERT_FALSE(flops.has_value());
  EXPECT_THAT(flops.error().line(), HasSubstr("TFLOP/s"));
  EXPECT_EQ(flops.error().line().find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Text, BadQuantity,
                         ::testing::Values("", " ", "5", "nan", "nan s", "inf GB", "-1 s", "-1 GB", "-3 TB/s", ".",
                                           "e5", "0x10 s", "5 parsecs", "1e400 s", "1e400 GB", "1,5 GB", "5 s s",
                                           "5\ns", "1e308 EB", "--5 s", "ms", "5 GB GB", "9 K",
                                           std::string(100000, '9'), std::string("5 \0 s", 5), "5 µ"));

TEST(ParseQuantity, QuotesLongInputShortly) {
  const auto seconds = parse_seconds(std::string(5000, 'x'));
  ASSERT_FALSE(seconds.has_value());
  EXPECT_LT(seconds.error().line().size(), 250U);
}

TEST(Print, KeepsThreeFiguresAndChoosesThePrefix) {
  EXPECT_EQ(print(Seconds{0.04179}), "41.8 ms");
  EXPECT_EQ(print(Seconds{4.2e-6}), "4.20 µs");
  EXPECT_EQ(print(Seconds{0}), "0 s");
  EXPECT_EQ(print(Bytes{140e9}), "140 GB");
  EXPECT_EQ(print(Bytes{128}), "128 B");
  EXPECT_EQ(print(BytesPerSecond{3.35e12}), "3.35 TB/s");
  EXPECT_EQ(print(FlopsPerSecond{989.4e12}), "989 TFLOP/s");
  EXPECT_EQ(print(Flops{140e9}), "140 GFLOP");
  EXPECT_EQ(print(FlopsPerByte{295.34}), "295 FLOP/B");
  EXPECT_EQ(print(Hertz{1.98e9}), "1.98 GHz");
  EXPECT_EQ(print_gib(Bytes{85.52e9}), "79.6 GiB");
}

TEST(Print, CarriesIntoTheNextPrefixWhenRounding) {
  EXPECT_EQ(print(Bytes{999.6e9}), "1.00 TB");
  EXPECT_EQ(print(Seconds{0.9996}), "1.00 s");
  EXPECT_EQ(print_number(9.996), "10.0");
  EXPECT_EQ(print_number(99.96), "100");
}

TEST(Print, NumbersAndCounts) {
  EXPECT_EQ(print_number(295.3), "295");
  EXPECT_EQ(print_number(1.0199), "1.02");
  EXPECT_EQ(print_number(0.03134), "0.0313");
  EXPECT_EQ(print_number(41783), "41800");
  EXPECT_EQ(print_number(0), "0");
  EXPECT_EQ(print_count(1024), "1024");
  EXPECT_EQ(print_count(23.92), "23.9");
  EXPECT_EQ(print_count(70.55e9), "70.5B");
  EXPECT_EQ(print_count(70e9), "70B");
  EXPECT_EQ(print_count(1e6), "1M");
  EXPECT_EQ(print_count(999999.6), "1M");
}

TEST(Print, NeverShowsNanOrInfinity) {
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    for (const std::string& text : {print(Seconds{bad}), print(Bytes{bad}), print(FlopsPerByte{bad}), print_count(bad),
                                    print_number(bad), print_gib(Bytes{bad})}) {
      EXPECT_EQ(text, "–");
    }
  }
}

/// Spread over the whole range of doubles a person could mean, with a fixed seed so that a failure repeats.
class RoundTrip : public ::testing::Test {
 protected:
  double next() { return std::pow(10.0, exponent_(random_)); }
  static constexpr int cases = 20000;
  /// Three significant figures: half a unit of the third digit, at worst 0.5 %.
  static void expect_close(double got, double wanted) { EXPECT_NEAR(got / wanted, 1.0, 0.00501) << wanted; }

 private:
  std::mt19937_64 random_{20240917};
  std::uniform_real_distribution<double> exponent_{-20.0, 30.0};
};

TEST_F(RoundTrip, PrintedQuantitiesReadBack) {
  for (int i = 0; i < cases; ++i) {
    const double x = next();
    ASSERT_TRUE(parse_seconds(print(Seconds{x})).has_value()) << print(Seconds{x});
    expect_close(parse_seconds(print(Seconds{x}))->value(), x);
    expect_close(parse_bytes(print(Bytes{x}))->value(), x);
    expect_close(parse_bytes(print_gib(Bytes{x}))->value(), x);
    expect_close(parse_bytes_per_second(print(BytesPerSecond{x}))->value(), x);
    expect_close(parse_flops_per_second(print(FlopsPerSecond{x}))->value(), x);
    expect_close(parse_flops(print(Flops{x}))->value(), x);
    expect_close(*parse_count(print_count(x)), x);
    expect_close(*parse_count(print_number(x)), x);
  }
}

TEST_F(RoundTrip, RandomTextNeverYieldsANonFiniteOrNegativeValue) {
  std::mt19937_64 random(7);
  const std::string alphabet = "0123456789.eE+-GMTKkiBbsFLOPnum/ \t\xc2\xb5";
  for (int i = 0; i < cases; ++i) {
    std::string text;
    const std::size_t length = random() % 12;
    for (std::size_t k = 0; k < length; ++k) text += alphabet[random() % alphabet.size()];
    if (const auto value = parse_bytes(text)) {
      EXPECT_TRUE(std::isfinite(value->value()) && value->value() >= 0) << text;
    }
    if (const auto value = parse_count(text)) {
      EXPECT_TRUE(std::isfinite(*value) && *value >= 0) << text;
    }
    if (const auto value = parse_seconds(text)) {
      EXPECT_TRUE(std::isfinite(value->value()) && value->value() >= 0) << text;
    }
  }
}

}  // namespace
}  // namespace corridor::units
