// SPDX-License-Identifier: Apache-2.0
// The stopping rule at its borders, and the kernels against arithmetic; no test asks how fast it went.
#include "corridor/measure/estimator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "corridor/measure/cpu/kernels.h"
#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/fake_machine.h"

namespace corridor::measure {
namespace {

using testing::ElementsAre;
using units::Seconds;

EstimatorSettings settings(double budget_s, int least, double steady) {
  EstimatorSettings s;
  s.budget = Seconds{budget_s};
  s.warm_up = 0;
  s.least_passes = least;
  s.steady_within = steady;
  return s;
}

TEST(Estimator, StopsBeforeAPassThatWouldPassTheBudget) {
  Estimator rule(settings(1.0, 100, 0));
  EXPECT_FALSE(rule.finished());
  rule.add(Seconds{0.5});
  EXPECT_FALSE(rule.finished());  // 0.5 + 0.5 is just inside
  rule.add(Seconds{0.25});
  EXPECT_FALSE(rule.finished());  // 0.75 + 0.25
  rule.add(Seconds{0.25});
  EXPECT_TRUE(rule.finished());
  EXPECT_EQ(rule.samples().stop, StopReason::budget_spent);
  EXPECT_DOUBLE_EQ(rule.samples().median.value(), 0.25);
  EXPECT_DOUBLE_EQ(rule.samples().best.value(), 0.25);
}

TEST(Estimator, SurePassesAreTakenBeyondTheBudget) {
  EstimatorSettings s = settings(1.0, 100, 0);
  s.sure_passes = 3;
  Estimator rule(s);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(rule.finished()) << i;
    rule.add(Seconds{5});
  }
  EXPECT_TRUE(rule.finished());
}

TEST(Estimator, StopsWhenTheMedianIsKnown) {
  Estimator steady(settings(1e9, 5, 0.01));
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(steady.finished()) << i;
    steady.add(Seconds{1 + 0.001 * i});
  }
  EXPECT_TRUE(steady.finished());
  EXPECT_EQ(steady.samples().stop, StopReason::steady);
  Estimator wide(settings(1e9, 5, 0.01));
  for (int i = 0; i < 5; ++i) wide.add(Seconds{1 + 0.1 * i});
  EXPECT_FALSE(wide.finished());
}

TEST(Estimator, AClockThatDoesNotMoveEndsIt) {
  Estimator rule(settings(1.0, 5, 0.01));
  rule.add(Seconds{0});
  rule.add(Seconds{-1});
  EXPECT_FALSE(rule.finished());
  rule.add(Seconds{std::numeric_limits<double>::quiet_NaN()});
  EXPECT_TRUE(rule.finished());
  EXPECT_EQ(rule.samples().passes, 0);
  EXPECT_FALSE(time_passes({}, FakeClock(0), [](double) {}));
}

TEST(Estimator, WarmUpIsNotCountedAndTheMostPassesHold) {
  EstimatorSettings s = settings(1e9, 100, 0);
  s.warm_up = 2;
  s.most_passes = 3;
  Estimator rule(s);
  for (const double pass : {9.0, 8.0, 1.0, 2.0, 3.0}) {
    EXPECT_FALSE(rule.finished()) << pass;
    rule.add(Seconds{pass});
  }
  EXPECT_TRUE(rule.finished());
  EXPECT_DOUBLE_EQ(rule.samples().median.value(), 2);
  EXPECT_EQ(rule.samples().stop, StopReason::most_passes);
}

TEST(Estimator, SpreadOutliersAndDriftAreTold) {
  Estimator rule(settings(1e9, 1000, 0));
  for (int i = 0; i < 9; ++i) rule.add(Seconds{1 + 0.1 * i});  // 1.0 … 1.8, median 1.4
  rule.add(Seconds{9});
  const Samples s = rule.samples();
  EXPECT_EQ(s.outliers, 1);
  EXPECT_NEAR(s.median.value(), 1.45, 1e-12);
  EXPECT_NEAR(s.p10.value(), 1.09, 1e-12);
  EXPECT_NEAR(s.spread(), (s.p90 - s.p10) / s.median, 1e-12);
  EXPECT_GT(s.drift, 0.2);  // 1.7, 1.8, 9 at the end against 1.0, 1.1, 1.2
  EXPECT_DOUBLE_EQ(percentile({3, 1, 2}, 0.25), 1.5);
  EXPECT_DOUBLE_EQ(percentile({}, 0.5), 0);
}

TEST(Estimator, RepeatsGrowUntilAPassIsLongEnough) {
  class WorkClock : public Clock {
   public:
    [[nodiscard]] Seconds now() const override { return Seconds{at}; }
    [[nodiscard]] std::string today() const override { return "2026-01-02"; }
    double at = 1;
  } clock;
  EstimatorSettings s;
  s.least_pass = Seconds{1e-3};
  const auto samples = time_passes(s, clock, [&](double repeats) { clock.at += 2e-6 * repeats; });
  ASSERT_TRUE(samples);
  EXPECT_GE(samples->repeats * 2e-6, 1e-3);
  EXPECT_LE(samples->repeats * 2e-6, 3e-3);
  EXPECT_NEAR(samples->median.value(), 2e-6, 1e-12);
  EXPECT_NEAR(rate_figure(64, *samples, "x").value, 32e6, 1);
  EXPECT_NEAR(time_figure(2, *samples, "x").value, 1e-6, 1e-12);
}

class KernelTest : public testing::TestWithParam<const Kernels*> {
 protected:
  static constexpr std::size_t bytes = 4 * block_bytes;
  static constexpr std::size_t words = bytes / 8;
  Memory memory{4 * bytes};
  std::uint64_t* array(std::size_t i) { return reinterpret_cast<std::uint64_t*>(memory.data() + i * bytes); }
};

TEST_P(KernelTest, ReadAddsUpEveryWord) {
  for (std::size_t i = 0; i < words; ++i) array(0)[i] = i * i;
  const std::uint64_t n = words - 1;
  const std::uint64_t squares = n * (n + 1) * (2 * n + 1) / 6;
  EXPECT_EQ(GetParam()->read(array(0), bytes, 0), squares);
  EXPECT_EQ(GetParam()->read(array(0), bytes, 512), squares);
  using Hint = ReadWay::Hint;
  for (const ReadWay& way : {ReadWay{}, ReadWay{Hint::near, 1024, false}, ReadWay{Hint::far, 4096, false},
                             ReadWay{Hint::once, 64, false}, ReadWay{Hint::none, 0, true}}) {
    EXPECT_EQ(GetParam()->read_again(array(0), bytes, way, 3), squares);
    EXPECT_EQ(GetParam()->read_again(array(0), bytes, way, 0), 0U);
  }
  EXPECT_EQ(GetParam()->read(array(0), 0, 0), 0U);
}

TEST_P(KernelTest, WriteCopyAndTriadTouchTheirArraysAlone) {
  for (const Store store : {Store::cached, Store::streaming}) {
    GetParam()->write(array(0), 4 * bytes, 7, Store::cached);
    GetParam()->write(array(1), bytes, 5, store);
    EXPECT_EQ(array(0)[words - 1], 7U);
    EXPECT_EQ(array(1)[0], 5U);
    EXPECT_EQ(array(1)[words - 1], 5U);
    EXPECT_EQ(array(2)[0], 7U);
    for (std::size_t i = 0; i < words; ++i) array(1)[i] = i;
    GetParam()->copy(array(0), array(1), bytes, store);
    EXPECT_EQ(GetParam()->read(array(0), bytes, 0), words * (words - 1) / 2);
    EXPECT_EQ(array(2)[0], 7U);
    auto* b = reinterpret_cast<double*>(array(1));
    auto* c = reinterpret_cast<double*>(array(2));
    for (std::size_t i = 0; i < words; ++i) {
      b[i] = static_cast<double>(i);
      c[i] = 2;
    }
    auto* a = reinterpret_cast<double*>(array(0));
    GetParam()->triad(a, b, c, bytes, store);
    for (std::size_t i = 0; i < words; ++i) ASSERT_DOUBLE_EQ(a[i], static_cast<double>(i) + 6) << i;
    EXPECT_EQ(array(3)[0], 7U);
  }
}

TEST_P(KernelTest, MultiplyAddsStayFiniteAndConverge) {
  for (const PeakKernel& kernel : {GetParam()->f64, GetParam()->f32}) {
    ASSERT_NE(kernel.run, nullptr);
    const double once = kernel.run(1);
    const double often = kernel.run(20000);  // the fixed point of x ← a·x + b is b / (1 − a) = 1: one each lane
    EXPECT_GT(once, often);
    EXPECT_NEAR(often, kernel.flop_per_round / 2, 1e-3 * often);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, KernelTest, testing::Values(&best_kernels(), &narrow_kernels()));

TEST(PeakKernels, EveryTypeOnceAndEachDoesWhatItCounts) {
  std::set<hardware::ComputeType> types;
  for (const PeakKernel& kernel : peak_kernels()) {
    EXPECT_TRUE(types.insert(kernel.type).second) << hardware::name(kernel.type);
    const double once = kernel.run(100);
    EXPECT_TRUE(std::isfinite(once)) << hardware::name(kernel.type);
    // Dot products add the same amount a round, so the result tells how many products there were.
    if (kernel.type == hardware::ComputeType::int8) {
      EXPECT_DOUBLE_EQ(once, 100 * kernel.flop_per_round / 2);
    }
    if (kernel.type == hardware::ComputeType::bf16) {
      EXPECT_NEAR(once, 100 * kernel.flop_per_round / 2 * 0.0009765625, 1e-3 * once);
    }
  }
  EXPECT_TRUE(types.count(hardware::ComputeType::fp32) == 1);
}

TEST(Chase, OneCycleThroughEveryLine) {
  constexpr std::size_t lines = 257;
  Memory memory(lines * 64);
  link_cycle(memory.data(), lines * 64, 64, 1);
  std::set<const void*> seen;
  const void* place = memory.data();
  for (std::size_t i = 0; i < lines; ++i) {
    seen.insert(place);
    place = chase(place, 1);
  }
  EXPECT_EQ(seen.size(), lines);
  EXPECT_EQ(place, memory.data());
  EXPECT_EQ(chase(memory.data(), lines), memory.data());
  const void* both[2] = {memory.data(), chase(memory.data(), 5)};
  chase_many(both, 2, lines - 5);
  EXPECT_EQ(both[1], memory.data());
  EXPECT_EQ(chase(both[0], 5), memory.data());
  const void* three[3] = {memory.data(), memory.data(), memory.data()};
  chase_many(three, 3, lines);
  EXPECT_THAT(three, ElementsAre(memory.data(), memory.data(), memory.data()));
}

}  // namespace
}  // namespace corridor::measure
