// SPDX-License-Identifier: Apache-2.0
// Marks on constructed curves, where the right answer is known.
#include "corridor/app/sweep_marks.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor::app {
namespace {

TEST(FirstThatHolds, IsExactAtEveryPlace) {
  for (double place = 1; place <= 200; ++place) {
    const auto found = first_that_holds(1, 200, [&](double x) { return x >= place; });
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, place);
  }
  EXPECT_FALSE(first_that_holds(1, 200, [](double) { return false; }).has_value());
}

TEST(ChangesBetween, FindsEveryFlipOfAConstructedCurve) {
  // Three states with borders at 37 and 911: a bisection that stops at the first border would miss one.
  const auto state = [](double x) { return x < 37 ? 0 : x < 911 ? 1 : 2; };
  const std::vector<StateChange> changes = changes_between(1, 100'000, state);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].before, 36);
  EXPECT_EQ(changes[0].after, 37);
  EXPECT_EQ(changes[0].from, 0);
  EXPECT_EQ(changes[0].to, 1);
  EXPECT_EQ(changes[1].before, 910);
  EXPECT_EQ(changes[1].after, 911);
  EXPECT_EQ(changes[1].to, 2);
}

TEST(ChangesBetween, EveryBorderOfASmallRange) {
  for (double border = 2; border <= 64; ++border) {
    const auto changes = changes_between(1, 64, [&](double x) { return x < border ? 3 : 1; });
    ASSERT_EQ(changes.size(), 1U) << border;
    EXPECT_EQ(changes[0].after, border);
    EXPECT_EQ(changes[0].before, border - 1);
  }
  EXPECT_TRUE(changes_between(1, 64, [](double) { return 1; }).empty());
}

TEST(Knee, OfMichaelisCurveIsWhereDoublingGainsLessThanHalf) {
  // rate = x / (x + h): rate(2x) / rate(x) = 2 (x + h) / (2x + h) = 1.5 at x = h / 2.
  for (const double half : {10.0, 100.0, 1234.0}) {
    const auto rate = [&](double x) { return x / (x + half); };
    const std::optional<double> knee = knee_of(1, 100'000, rate);
    ASSERT_TRUE(knee.has_value());
    EXPECT_EQ(*knee, std::floor(half / 2) + 1) << half;  // the first whole number beyond h / 2
  }
}

TEST(Knee, AtTheStartOrNowhere) {
  EXPECT_EQ(knee_of(4, 64, [](double) { return 7.0; }), 4);
  EXPECT_FALSE(knee_of(1, 512, [](double x) { return 3 * x; }).has_value());
  // Whether the last number of the range is a knee is asked too.
  EXPECT_EQ(knee_of(1, 48, [](double x) { return std::min(x, 60.0); }), 41);
}

}  // namespace
}  // namespace corridor::app
