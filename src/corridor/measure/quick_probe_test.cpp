// SPDX-License-Identifier: Apache-2.0
// The stop rule at its borders, the size of the buffer, the kernels against theory; no test asks how fast it went.
#include "corridor/measure/quick_probe.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "corridor/measure/cpu_kernels.h"
#include "corridor/measure/fake_machine.h"
#include "corridor/measure/stop_rule.h"
#include "corridor/measure/worker_team.h"

namespace corridor::measure {
namespace {

using units::Bytes;
using units::Seconds;

constexpr double mebi = 1024.0 * 1024.0;

TEST(StopRule, StopsBeforeAPassThatWouldPassTheBudget) {
  StopRule rule({Seconds{1.0}, 3, 100, 200, 0.0});
  EXPECT_FALSE(rule.finished());
  rule.add(Seconds{0.5});
  EXPECT_FALSE(rule.finished());  // 0.5 + 0.5 is just inside
  rule.add(Seconds{0.25});
  EXPECT_FALSE(rule.finished());  // 0.75 + 0.25
  rule.add(Seconds{0.25});
  EXPECT_TRUE(rule.finished());
  EXPECT_DOUBLE_EQ(rule.best().value(), 0.25);
  EXPECT_EQ(rule.passes(), 3);
}

TEST(StopRule, StopsWhenNothingBetterComes) {
  StopRule rule({Seconds{100.0}, 3, 2, 200, 0.01});
  rule.add(Seconds{1.0});
  rule.add(Seconds{0.995});  // better, but by less than a percent
  EXPECT_FALSE(rule.finished());
  rule.add(Seconds{1.2});
  EXPECT_TRUE(rule.finished());
  EXPECT_DOUBLE_EQ(rule.best().value(), 0.995);
  StopRule improving({Seconds{100.0}, 3, 2, 200, 0.01});
  for (const double pass : {1.0, 1.1, 0.5}) improving.add(Seconds{pass});
  EXPECT_FALSE(improving.finished());
}

TEST(StopRule, EndsWithAClockThatDoesNotMove) {
  StopRule rule({Seconds{1.0}});
  rule.add(Seconds{0});
  rule.add(Seconds{-1});
  EXPECT_FALSE(rule.finished());
  rule.add(Seconds{std::numeric_limits<double>::quiet_NaN()});
  EXPECT_TRUE(rule.finished());
  EXPECT_DOUBLE_EQ(rule.best().value(), 0);
}

TEST(StopRule, EndsAfterTheMostPasses) {
  StopRule rule({Seconds{1e9}, 3, 100, 4, 0.0});
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(rule.finished()) << i;
    rule.add(Seconds{1.0 / (i + 1)});
  }
  EXPECT_TRUE(rule.finished());
}

TEST(ProbeBuffer, ClearlyLargerThanTheCacheWithinBounds) {
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{64 * mebi}, Bytes{64e9}).value(), 256 * mebi);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{}, Bytes{64e9}).value(), 128 * mebi);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{1000 * mebi}, Bytes{64e9}).value(), 512 * mebi);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{64 * mebi}, Bytes{400 * mebi}).value(), 100 * mebi);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{64 * mebi}, Bytes{31 * mebi}).value(), 0);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{64 * mebi}, Bytes{}).value(), 0);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{}, Bytes{std::numeric_limits<double>::quiet_NaN()}).value(), 0);
}

TEST(CpuKernels, EveryWidthAddsUpAllWords) {
  constexpr std::size_t words = 4 * read_block_words;
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(64, words * 8), &std::free);
  ASSERT_TRUE(memory);
  auto* data = static_cast<std::uint64_t*>(memory.get());
  for (std::size_t i = 0; i < words; ++i) data[i] = i * i;
  const std::uint64_t n = words - 1;
  const std::uint64_t expected = n * (n + 1) * (2 * n + 1) / 6;  // sum of squares
  EXPECT_EQ(portable_cpu_kernels().sum(data, words), expected);
  EXPECT_EQ(best_cpu_kernels().sum(data, words), expected);
  EXPECT_EQ(best_cpu_kernels().sum(data, 0), 0U);
}

TEST(CpuKernels, MultiplyAddsStayFiniteAndConverge) {
  // x ← a·x + b has the fixed point b / (1 − a), which is one; the lanes start within half of it.
  for (const CpuKernels* kernels : {&portable_cpu_kernels(), &best_cpu_kernels()}) {
    const float once = kernels->fma(1);
    const float often = kernels->fma(100000);
    EXPECT_TRUE(std::isfinite(once)) << kernels->name;
    EXPECT_GT(once, often) << kernels->name;
    EXPECT_NEAR(kernels->fma(200000), often, 1e-3 * often) << kernels->name;
    EXPECT_GT(kernels->flop_per_round, 0) << kernels->name;
  }
}

TEST(WorkerTeam, EveryWorkerWorksInEveryRound) {
  WorkerTeam team(4);
  ASSERT_GE(team.size(), 1);
  std::vector<std::atomic<int>> counts(static_cast<std::size_t>(team.size()));
  for (int round = 1; round <= 100; ++round) {
    team.run([&](int index) { ++counts[static_cast<std::size_t>(index)]; });
    for (const auto& count : counts) ASSERT_EQ(count, round);
  }
  EXPECT_EQ(WorkerTeam(0).size(), 1);
  EXPECT_EQ(WorkerTeam(-5).size(), 1);
}

TEST(QuickProbe, BandwidthIsBytesOverTheClocksTime) {
  // The clock moves 0.1 s each time it is asked, so each sweep seems to take 0.1 s.
  const FakeClock clock(0.1);
  const auto found = probe_read_bandwidth({Bytes{}, Bytes{64 * mebi}, 2, Seconds{0.35}, Seconds{100}}, clock);
  ASSERT_TRUE(found) << found.error().line();
  EXPECT_EQ(found->passes, 3);
  EXPECT_LE(found->buffer.value(), 16 * mebi);
  EXPECT_GT(found->buffer.value(), 15 * mebi);
  EXPECT_NEAR(found->best.value(), found->buffer.value() / 0.1, 1e-3 * found->best.value());
  EXPECT_FALSE(found->near_cache);
  const auto inside = probe_read_bandwidth({Bytes{12 * mebi}, Bytes{64 * mebi}, 1, Seconds{0.35}, Seconds{100}}, clock);
  ASSERT_TRUE(inside);
  EXPECT_TRUE(inside->near_cache);
}

TEST(QuickProbe, SlowFillingUsesAPartOfTheBuffer) {
  // Each look at the clock moves it by 0.1 s: after the third of eight pieces 0.25 s are over.
  const auto found = probe_read_bandwidth({Bytes{}, Bytes{64 * mebi}, 1, Seconds{0.35}, Seconds{0.25}}, FakeClock(0.1));
  ASSERT_TRUE(found) << found.error().line();
  EXPECT_NEAR(found->buffer.value(), 16 * mebi * 3 / 8, 0.01 * mebi);
}

TEST(QuickProbe, FailuresAreSentences) {
  const auto no_memory = probe_read_bandwidth({Bytes{}, Bytes{1e6}, 1, Seconds{0.1}}, FakeClock(0.1));
  ASSERT_FALSE(no_memory);
  EXPECT_FALSE(no_memory.error().fix.empty());
  EXPECT_FALSE(probe_read_bandwidth({Bytes{}, Bytes{64 * mebi}, 1, Seconds{0.1}}, FakeClock(0)));
  EXPECT_FALSE(probe_fma_peak(1, Seconds{0.1}, FakeClock(0)));
}

TEST(QuickProbe, PeakCountsTheWorkOfAllThreads) {
  const FakeClock clock(0.1);
  const auto one = probe_fma_peak(1, Seconds{0.5}, clock);
  const auto two = probe_fma_peak(2, Seconds{0.5}, clock);
  ASSERT_TRUE(one && two);
  EXPECT_NEAR(two->best / one->best, static_cast<double>(two->threads) / one->threads, 1e-9);
}

}  // namespace
}  // namespace corridor::measure
