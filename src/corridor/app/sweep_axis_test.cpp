// SPDX-License-Identifier: Apache-2.0
// Axes as people write them, well and badly.
#include "corridor/app/sweep_axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> values(std::string_view text) {
  const Result<SweepAxis> axis = parse_axis(text);
  EXPECT_TRUE(axis.has_value()) << (axis ? "" : axis.error().line());
  return axis ? axis->values : std::vector<double>{};
}

std::string error(std::string_view text) {
  const Result<SweepAxis> axis = parse_axis(text);
  return axis ? "no error" : axis.error().line();
}

TEST(SweepAxis, WideRangesArePowersOfTwoAndBothEnds) {
  EXPECT_THAT(values("batch=1..512"), ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 512));
  EXPECT_THAT(values("batch=3..50"), ElementsAre(3, 4, 8, 16, 32, 50));
  EXPECT_THAT(values("batch=5..8"), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(values("batch=7..7"), ElementsAre(7));
  EXPECT_THAT(values("tp=1..8"), ElementsAre(1, 2, 4, 8));
}

TEST(SweepAxis, StepsFactorsAndListsKeepTheEnd) {
  EXPECT_THAT(values("batch=1..100:32"), ElementsAre(1, 33, 65, 97, 100));
  EXPECT_THAT(values("batch=1..97:32"), ElementsAre(1, 33, 65, 97));
  EXPECT_THAT(values("batch=1..20*1.5"), ElementsAre(1, 2, 3, 5, 8, 12, 18, 20));
  EXPECT_THAT(values("context= 4096 , 1024,1024"), ElementsAre(1024, 4096));
  EXPECT_THAT(values("input=1,8..32:8"), ElementsAre(1, 8, 16, 24, 32));
}

TEST(SweepAxis, OnlyOwnSpacingMayBeRefined) {
  EXPECT_TRUE(parse_axis("batch=1..512")->own_spacing);
  EXPECT_FALSE(parse_axis("batch=1..512:1")->own_spacing);
  EXPECT_FALSE(parse_axis("batch=1,2")->own_spacing);
}

TEST(SweepAxis, NamesKeepTheirOrder) {
  const SweepAxis axis = parse_axis("device=NVIDIA H100 80GB HBM3, h200").value();
  EXPECT_THAT(axis.names, ElementsAre("NVIDIA H100 80GB HBM3", "h200"));
  EXPECT_THAT(axis.values, ElementsAre(0, 1));
  EXPECT_EQ(axis.label(1), "h200");
}

TEST(SweepAxis, EveryValueReachesItsFlag) {
  PredictRequest request;
  for (const char* text :
       {"batch=3", "context=5", "input=6", "output=7", "tp=8", "weights=a", "kv=b", "device=c", "engine=d"}) {
    const SweepAxis axis = parse_axis(text).value();
    axis.put(axis.values.front(), request);
  }
  EXPECT_EQ(request.batch, 3);
  EXPECT_EQ(request.context, 5);
  EXPECT_EQ(request.input, 6);
  EXPECT_EQ(request.output, 7);
  EXPECT_EQ(request.tp, 8);
  EXPECT_EQ(request.weights + request.kv + request.device + request.engine, "abcd");
}

TEST(SweepAxis, BadAxesAreOneClearLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "is no axis"},
      {"speed=1", "\"speed\" is no axis"},
      {"batch", "no values"},
      {"batch=", "no values"},
      {"batch=512..1", "reversed"},
      {"batch=0..8", "0 is out of range"},
      {"batch=-4..8", "not a whole number"},
      {"batch=nan", "not a whole number"},
      {"batch=nan..inf", "not a whole number"},
      {"batch=1e3", "not a whole number"},
      {"batch=1..", "not a whole number"},
      {"batch=..8", "not a whole number"},
      {"batch=1..8:0", "0 is out of range"},
      {"batch=1..8:-1", "not a whole number"},
      {"batch=1..8:", "not a whole number"},
      {"batch=1..8*1", "not a factor"},
      {"batch=1..8*0", "not a factor"},
      {"batch=1..8*nan", "not a factor"},
      {"batch=1..8*", "not a factor"},
      {"batch=1..8..9", "not a whole number"},
      {"batch=1,,2", "not a whole number"},
      {"batch=99999999999999999999", "not a whole number"},
      {"batch=1..99999999999", "out of range"},
      {"batch=1..10000000:1", "more than 1000000 values"},
      {"context=1..100000000*1.000001", "more than 1000000 values"},
      {"tp=100000", "out of range"},
      {"weights=bf16,,fp8", "a name is missing"},
      {"weights=bf16,bf16", "given twice"},
      {"weights=bf16..fp8", "names have no range"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(error(text), HasSubstr(message)) << text;
    EXPECT_THAT(error(text), HasSubstr("--over")) << text;
  }
}

TEST(SweepAxis, AMillionValuesAreStillTaken) {
  EXPECT_EQ(values("batch=1..1000000:1").size(), most_sweep_points);
}

}  // namespace
}  // namespace corridor::app
