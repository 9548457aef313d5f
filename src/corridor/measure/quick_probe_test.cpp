// SPDX-License-Identifier: Apache-2.0
// The size of the buffer and what the probes make of the clock's times; no test asks how fast it went.
#include "corridor/measure/quick_probe.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <vector>

#include "corridor/measure/fake_machine.h"
#include "corridor/measure/worker_team.h"

namespace corridor::measure {
namespace {

using units::Bytes;
using units::Seconds;

constexpr double mebi = 1024.0 * 1024.0;

TEST(ProbeBuffer, ClearlyLargerThanTheCacheWithinBounds) {
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{64 * mebi}, Bytes{64e9}).value(), 256 * mebi);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{}, Bytes{64e9}).value(), 128 * mebi);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{1000 * mebi}, Bytes{64e9}).value(), 512 * mebi);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{64 * mebi}, Bytes{400 * mebi}).value(), 100 * mebi);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{64 * mebi}, Bytes{31 * mebi}).value(), 0);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{64 * mebi}, Bytes{}).value(), 0);
  EXPECT_DOUBLE_EQ(probe_buffer_size(Bytes{}, Bytes{std::numeric_limits<double>::quiet_NaN()}).value(), 0);
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
