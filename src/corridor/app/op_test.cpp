// SPDX-License-Identifier: Apache-2.0
// Single operations against numbers worked out by hand.
#include "corridor/app/op.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/app/tools_test_device.h"

namespace corridor::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

OpResult costed(const Op& op, std::string_view dtype = "bf16") {
  auto result = cost_op(op, dtype, h100_by_hand());
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().line());
  return result ? *result : OpResult{};
}

TEST(Matmul, ReusesEachValueOfACubeItsEdgeTimes) {
  const OpResult r = costed(MatmulOp{1024, 1024, 1024});
  EXPECT_DOUBLE_EQ(r.flops.value(), 2147483648.0);
  EXPECT_DOUBLE_EQ(r.bytes.value(), 3.0 * 1048576 * 2);
  EXPECT_NEAR(r.intensity.value(), 341.33, 0.01);
  EXPECT_DOUBLE_EQ(*r.uses_per_value, 1024);
  for (const ValueUse& use : r.uses) EXPECT_DOUBLE_EQ(use.uses, 1024);
  EXPECT_EQ(r.wall, OpWall::compute);
  EXPECT_NEAR(r.limit.value(), 2147483648.0 / 989.4e12, 1e-12);
}

TEST(Matmul, VectorTimesMatrixIsMemoryBound) {
  const OpResult r = costed(MatmulOp{1, 8192, 8192});
  EXPECT_NEAR(r.intensity.value(), 1.0, 0.001);
  EXPECT_EQ(r.wall, OpWall::memory);
  EXPECT_DOUBLE_EQ(r.limit.value(), r.memory_time.value());
}

TEST(Matmul, FusingChangesNothingAndSaysSo) {
  const OpResult plain = costed(MatmulOp{64, 64, 64, false});
  const OpResult fused = costed(MatmulOp{64, 64, 64, true});
  EXPECT_EQ(plain.bytes, fused.bytes);
  EXPECT_EQ(plain.limit, fused.limit);
  EXPECT_THAT(fused.notes, Contains(HasSubstr("changes nothing")));
}

TEST(Elementwise, FusingThreeSavesTwoThirdsOfTheTraffic) {
  const OpResult apart = costed(ElementwiseOp{1e6, 3, false});
  const OpResult fused = costed(ElementwiseOp{1e6, 3, true});
  EXPECT_EQ(*apart.trips, 6);
  EXPECT_EQ(*fused.trips, 2);
  EXPECT_NEAR(1 - fused.bytes / apart.bytes, 2.0 / 3, 1e-12);
  EXPECT_NEAR(*fused.traffic_saved, 2.0 / 3, 1e-12);
  EXPECT_EQ(apart.flops, fused.flops);
  EXPECT_EQ(apart.wall, OpWall::memory);
}

TEST(Elementwise, AChainOfOneHasNothingToFuse) {
  const OpResult r = costed(ElementwiseOp{1e6, 1, true});
  EXPECT_EQ(*r.trips, 2);
  EXPECT_FALSE(r.traffic_saved.has_value());
  EXPECT_THAT(r.notes, Contains(HasSubstr("changes nothing")));
}

TEST(Attention, CountsPairsBruteForce) {
  for (const bool causal : {false, true}) {
    for (const double q : {1.0, 3.0, 7.0}) {
      constexpr double kv = 7;
      double pairs = 0;
      for (int i = 0; i < static_cast<int>(q); ++i) {
        for (int j = 0; j < static_cast<int>(kv); ++j) pairs += !causal || j <= i + static_cast<int>(kv - q) ? 1 : 0;
      }
      const OpResult r = costed(AttentionOp{2, 8, 2, 64, q, kv, causal, true});
      EXPECT_DOUBLE_EQ(r.flops.value(), 2.0 * 2 * 8 * (64 + 64) * pairs);
      EXPECT_DOUBLE_EQ(r.bytes.value(), 2.0 * (2 * 2 * 8 * q * 64 + 2 * 2 * 2 * kv * 64));
    }
  }
}

TEST(Attention, WithoutFlashTheScoresMakeFourMoreTrips) {
  const OpResult flash = costed(AttentionOp{1, 32, 8, 128, 2048, 2048, false, true});
  const OpResult plain = costed(AttentionOp{1, 32, 8, 128, 2048, 2048, false, false});
  EXPECT_EQ(*flash.trips, 4);
  EXPECT_EQ(*plain.trips, 8);
  EXPECT_DOUBLE_EQ(plain.bytes.value() - flash.bytes.value(), 4.0 * 32 * 2048 * 2048 * 2);
  EXPECT_EQ(plain.flops, flash.flops);
}

TEST(Attention, GroupedHeadsShareTheirKeys) {
  const OpResult r = costed(AttentionOp{1, 64, 8, 128, 1, 4096});
  ASSERT_EQ(r.uses.size(), 2U);
  EXPECT_EQ(r.uses[1].key, "key_and_value");
  EXPECT_DOUBLE_EQ(r.uses[1].uses, 8);
}

TEST(Given, SeventyBillionParametersAtBatchOne) {
  const OpResult r = costed(RawOp{units::Flops{140e9}, units::Bytes{140e9}});
  EXPECT_DOUBLE_EQ(r.intensity.value(), 1.0);
  EXPECT_NEAR(r.memory_time.value(), 0.0418, 0.00005);
  EXPECT_NEAR(r.ridge.value(), 295, 0.5);
  EXPECT_EQ(r.wall, OpWall::memory);
  EXPECT_FALSE(r.trips.has_value());
}

TEST(Given, ATieIsMemoryAndJustAboveIsCompute) {
  const double ridge_bytes = 1e9;
  const double ridge_flops = ridge_bytes / 3.35e12 * 989.4e12;
  EXPECT_EQ(costed(RawOp{units::Flops{ridge_flops * 0.999}, units::Bytes{ridge_bytes}}).wall, OpWall::memory);
  EXPECT_EQ(costed(RawOp{units::Flops{ridge_flops * 1.001}, units::Bytes{ridge_bytes}}).wall, OpWall::compute);
}

TEST(Dtype, SizesElementsAndFallsBackWhereTheDeviceLacksIt) {
  EXPECT_DOUBLE_EQ(costed(MatmulOp{64, 64, 64}, "fp8").bytes.value(), 3.0 * 64 * 64);
  EXPECT_EQ(costed(MatmulOp{64, 64, 64}, "fp8").executed, hardware::ComputeType::fp8);
  hardware::Device old = h100_by_hand();
  old.peaks[static_cast<std::size_t>(hardware::ComputeType::fp8)].reset();
  const auto r = cost_op(MatmulOp{64, 64, 64}, "fp8", old);
  ASSERT_TRUE(r.has_value());
  EXPECT_NE(r->executed, hardware::ComputeType::fp8);
  EXPECT_THAT(r->notes, Contains(HasSubstr("does not compute in fp8")));
}

TEST(CostOp, RefusesBadSizesTypesAndDevices) {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, 1.5, nan, inf, 1e16}) {
    for (const Op& op : {Op{MatmulOp{bad, 1, 1}}, Op{ElementwiseOp{bad, 3, false}}, Op{ElementwiseOp{8, bad, false}},
                         Op{AttentionOp{1, 8, 8, 64, bad, 8}}}) {
      const auto r = cost_op(op, "bf16", h100_by_hand());
      ASSERT_FALSE(r.has_value()) << bad;
      EXPECT_EQ(r.error().line().find('\n'), std::string::npos);
    }
  }
  EXPECT_FALSE(cost_op(MatmulOp{1e15, 1e15, 1e15}, "bf16", h100_by_hand()).has_value());
  EXPECT_FALSE(cost_op(AttentionOp{1, 8, 3, 64, 8, 8}, "bf16", h100_by_hand()).has_value());
  EXPECT_FALSE(cost_op(AttentionOp{1, 8, 8, 64, 9, 8, true}, "bf16", h100_by_hand()).has_value());
  EXPECT_FALSE(cost_op(RawOp{units::Flops{0}, units::Bytes{1}}, "bf16", h100_by_hand()).has_value());
  EXPECT_FALSE(cost_op(RawOp{units::Flops{1}, units::Bytes{0}}, "bf16", h100_by_hand()).has_value());
  EXPECT_FALSE(cost_op(MatmulOp{8, 8, 8}, "bf61", h100_by_hand()).has_value());
  EXPECT_FALSE(cost_op(MatmulOp{8, 8, 8}, "bf16", hardware::Device{}).has_value());
}

TEST(ParseSizes, AcceptNumbersAndUnitsAndNameTheFlag) {
  EXPECT_DOUBLE_EQ(*parse_size("4096", "M"), 4096);
  EXPECT_DOUBLE_EQ(*parse_size("1M", "N"), 1e6);
  EXPECT_DOUBLE_EQ(parse_work("140 GFLOP", "--flops")->value(), 140e9);
  EXPECT_DOUBLE_EQ(parse_work("140e9", "--flops")->value(), 140e9);
  EXPECT_DOUBLE_EQ(parse_traffic("140 GB", "--bytes")->value(), 140e9);
  EXPECT_DOUBLE_EQ(parse_traffic("1.5e3", "--bytes")->value(), 1500);
  for (const char* bad : {"", "-3", "0", "1.5", "nan", "1e300", "abc", "99999999999999999999"}) {
    const auto size = parse_size(bad, "M");
    ASSERT_FALSE(size.has_value()) << bad;
    EXPECT_THAT(size.error().line(), HasSubstr("M: "));
  }
  EXPECT_FALSE(parse_work("140 GB", "--flops").has_value());
  EXPECT_FALSE(parse_traffic("-1", "--bytes").has_value());
}

}  // namespace
}  // namespace corridor::app
