// SPDX-License-Identifier: Apache-2.0
// Kernels with counters against their roofs: which roof binds, whose roof it is, and what is said of the impossible.
#include "corridor/diagnose/counters/counter_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor::diagnose {
namespace {

using profile::KernelCounters;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// 1 TB/s of memory, 4 TB/s of L2, 100 TFLOP/s of bf16 and 10 of fp32 at 2 GHz.
hardware::Device test_board() {
  hardware::Device device;
  device.id = "board";
  device.architecture = "GA100 (cc 8.0)";
  const auto fact = [](auto value) {
    return hardware::Fact<decltype(value)>{value, hardware::Basis::assumed, "test", "", ""};
  };
  device.memory_bandwidth = fact(units::BytesPerSecond{1e12});
  device.clock_boost = fact(units::Hertz{2e9});
  device.peaks[static_cast<std::size_t>(hardware::ComputeType::fp16)] = fact(units::FlopsPerSecond{1e14});
  device.peaks[static_cast<std::size_t>(hardware::ComputeType::fp32)] = fact(units::FlopsPerSecond{1e13});
  hardware::MemoryLevel l2;
  l2.name = "L2";
  l2.bandwidth = fact(units::BytesPerSecond{4e12});
  device.ladder.push_back(l2);
  return device;
}

/// One launch of 1 ms.
KernelCounters launch_of(profile::Trace& trace, const char* kernel) {
  KernelCounters c;
  c.name = trace.names.intern(kernel);
  c.duration_s = 1e-3;
  c.flops.emplace_back("fp32", 0);
  return c;
}

TEST(Counters, TheNearestRoofBinds) {
  const hardware::Device board = test_board();
  struct Case {
    double dram, l2, fp32;
    CounterBound bound;
    double fraction;
  };
  // In 1 ms the roofs allow 1 GB of memory, 4 GB of L2 and 10 GFLOP.
  for (const Case& c :
       {Case{8e8, 1e9, 1e9, CounterBound::dram, 0.8}, Case{5e8, 3e9, 1e9, CounterBound::l2, 0.75},
        Case{5e8, 2e9, 9e9, CounterBound::compute, 0.9}, Case{5e8, 2e9, 1e9, CounterBound::latency, 0.5}}) {
    profile::Trace trace;
    KernelCounters launch = launch_of(trace, "k");
    launch.dram_bytes = c.dram;
    launch.l2_bytes = c.l2;
    launch.flops.front().second = c.fp32;
    trace.counters.push_back(launch);
    const Result<CounterAnalysis> a = analyse_counters(trace, &board);
    ASSERT_TRUE(a);
    EXPECT_EQ(a->rows.front().bound, c.bound) << c.dram << " " << c.l2;
    EXPECT_NEAR(a->rows.front().fraction_of_roof.value_or(0), c.fraction, 1e-9);
    EXPECT_EQ(a->wall, c.bound);
    EXPECT_NEAR(a->rows.front().levels.front().flop_per_byte.value_or(0), c.fp32 / c.dram, 1e-9);
  }
}

TEST(Counters, LaunchesOfOneShapeAreOneRowAndRatesAreByTime) {
  profile::Trace trace;
  trace.shapes.push_back({{4, 1, 1}, {64, 1, 1}});
  for (const double ms : {1.0, 3.0}) {
    KernelCounters launch = launch_of(trace, "k");
    launch.duration_s = ms * 1e-3;
    launch.dram_bytes = 1e9;
    launch.shape = 0;
    trace.counters.push_back(launch);
  }
  trace.counters.push_back(launch_of(trace, "k"));  // another shape: not told
  const hardware::Device board = test_board();
  const Result<CounterAnalysis> a = analyse_counters(trace, &board);
  ASSERT_TRUE(a);
  ASSERT_EQ(a->rows.size(), 2U);
  const KernelRow& row = a->rows.front();
  EXPECT_EQ(row.shape, "grid 4, block 64");
  EXPECT_EQ(row.launches, 2);
  EXPECT_NEAR(row.time_s, 4e-3, 1e-12);
  EXPECT_NEAR(row.levels.front().bytes_per_s.value_or(0), 0.5e12, 1);  // 2 GB in 4 ms
  EXPECT_NEAR(row.share + a->rows.back().share, 1, 1e-9);
}

TEST(Counters, TheProfilesOwnRoofsComeFirst) {
  const hardware::Device board = test_board();
  profile::Trace trace;
  KernelCounters launch = launch_of(trace, "k");
  launch.dram_bytes = 5e8;
  launch.flops = {{"fp32", 4e9}};
  launch.sm_clock_hz = 1e9;  // half the boost: the data sheet's 10 TFLOP/s are 5 here
  trace.counters.push_back(launch);
  const auto row_of = [&](const profile::Trace& t) { return analyse_counters(t, &board)->rows.front(); };
  EXPECT_NEAR(row_of(trace).arithmetic.front().fraction.value_or(0), 0.8, 1e-9);
  EXPECT_EQ(row_of(trace).levels.front().roof_source, RoofSource::data_sheet);
  EXPECT_THAT(analyse_counters(trace, &board)->caveats, Contains(HasSubstr("lowered")));
  profile::MeasuredRoofs measured;
  measured.dram_bytes_per_s = 0.8e12;
  trace.roofs.push_back(measured);
  EXPECT_EQ(row_of(trace).levels.front().roof_source, RoofSource::measured_roofs);
  EXPECT_NEAR(row_of(trace).levels.front().fraction.value_or(0), 0.625, 1e-9);
  trace.counters.front().peak_dram_bytes_per_s = 0.5e12;
  EXPECT_EQ(row_of(trace).levels.front().roof_source, RoofSource::profile);
  EXPECT_NEAR(row_of(trace).levels.front().fraction.value_or(0), 1, 1e-9);
}

TEST(Counters, TensorInstructionsCountOnlyWhereTheirSizeIsKnown) {
  profile::Trace trace;
  KernelCounters launch = launch_of(trace, "k");
  launch.dram_bytes = 1e6;
  launch.tensor_instructions = 1e7;  // 4096 FLOP each on Ampere: 41 GFLOP in 1 ms
  trace.counters.push_back(launch);
  const hardware::Device ampere = test_board();
  const KernelRow known = analyse_counters(trace, &ampere)->rows.front();
  EXPECT_NEAR(known.flops.value_or(0), 4.096e10, 1);
  EXPECT_THAT(known.remarks, Contains(HasSubstr("estimated")));
  hardware::Device hopper = test_board();
  hopper.architecture = "GH100 (cc 9.0)";
  const KernelRow unknown = analyse_counters(trace, &hopper)->rows.front();
  EXPECT_FALSE(unknown.flops);
  EXPECT_EQ(unknown.bound, CounterBound::unknown);  // arithmetic may be the wall
  EXPECT_THAT(unknown.remarks, Contains(HasSubstr("sm__ops_path_tensor")));
}

TEST(Counters, WhatIsBeyondARoofHasACause) {
  const hardware::Device board = test_board();
  profile::Trace trace;
  KernelCounters launch = launch_of(trace, "k");
  launch.dram_bytes = 1.5e9;
  launch.l2_bytes = 2e9;
  trace.counters.push_back(launch);
  launch.dram_bytes = 1e6;
  launch.name = trace.names.intern("resident");
  trace.counters.push_back(launch);
  const Result<CounterAnalysis> a = analyse_counters(trace, &board);
  ASSERT_TRUE(a);
  EXPECT_THAT(a->rows[0].remarks, Contains(HasSubstr("150 % of the DRAM roof")));
  EXPECT_THAT(a->rows[1].remarks, Contains(HasSubstr("stayed in the L2")));
}

TEST(Counters, FindingsAreRankedAndNeverGainMoreThanTheyTouch) {
  const hardware::Device board = test_board();
  profile::Trace trace;
  for (const double fraction : {0.95, 0.1, 0.7}) {
    KernelCounters launch = launch_of(trace, fraction > 0.9 ? "good" : fraction > 0.5 ? "fair" : "small");
    launch.dram_bytes = fraction * 1e9;
    launch.waves = 0.2;
    trace.counters.push_back(launch);
  }
  const Result<CounterAnalysis> a = analyse_counters(trace, &board);
  ASSERT_TRUE(a);
  ASSERT_EQ(a->findings.size(), 2U);  // 95 % of a roof is no finding
  EXPECT_THAT(a->findings[0].title, HasSubstr("small"));
  EXPECT_NEAR(a->findings[0].lost_s, 0.9e-3, 1e-9);
  EXPECT_THAT(a->findings[0].cause, HasSubstr("grid is smaller"));
  EXPECT_THAT(a->findings[1].lever, HasSubstr("fewer bytes"));
  for (const Finding& f : a->findings) EXPECT_LE(f.gain_s, f.lost_s);
}

TEST(Counters, TimesAloneHaveNoRoof) {
  profile::Trace trace;
  trace.format = "nsys stats kernel summary";
  KernelCounters launch;
  launch.name = trace.names.intern("void vectorized_elementwise_kernel<4>(int)");
  launch.duration_s = 4e-3;
  launch.launches = 1000;
  trace.counters.push_back(launch);
  const Result<CounterAnalysis> a = analyse_counters(trace, nullptr);
  ASSERT_TRUE(a);
  EXPECT_FALSE(a->has_counters);
  EXPECT_EQ(a->wall, CounterBound::unknown);
  EXPECT_THAT(a->sentence, HasSubstr("1000 launches of 1 kernel take 4.00 ms"));
  ASSERT_EQ(a->findings.size(), 1U);
  EXPECT_THAT(a->findings.front().title, HasSubstr("shorter than 10 µs"));
  EXPECT_THAT(a->caveats, Contains(HasSubstr("no time-line")));
  EXPECT_FALSE(analyse_counters(profile::Trace{}, nullptr));
}

}  // namespace
}  // namespace corridor::diagnose
