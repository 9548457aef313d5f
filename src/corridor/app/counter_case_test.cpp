// SPDX-License-Identifier: Apache-2.0
// Counter files by their content: whose roofs they are placed under, files of one workload together, refusals.
#include "corridor/app/counter_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/base/file.h"

namespace corridor::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Result<CounterAnswer> counters_of(const std::vector<std::string>& files, const std::string& device = "") {
  static const Assets assets = *Assets::open(std::nullopt);
  std::vector<MappedFile> mapped;
  CounterRequest request;
  request.base.device = device;
  for (const std::string& file : files) {
    mapped.push_back(*MappedFile::open(CORRIDOR_SOURCE_DIR "/tests/fixtures/profiles/" + file));
    const TraceFile given{file, mapped.back().text()};
    EXPECT_TRUE(is_counters(given).value_or(false)) << file;
    EXPECT_FALSE(is_trace(given).value_or(true)) << file;
    request.files.push_back(given);
  }
  return diagnose_counters(assets, request);
}

TEST(CounterCase, RoofsOfTheNamedBoard) {
  const auto bare = counters_of({"ncu_details.csv"});
  ASSERT_TRUE(bare);
  EXPECT_FALSE(bare->device);
  EXPECT_THAT(bare->notes, Contains(HasSubstr("compute capability 8.0")));
  EXPECT_THAT(bare->analysis.caveats, Contains(HasSubstr("give --device")));
  const auto placed = counters_of({"ncu_details.csv"}, "a100-sxm-80");
  ASSERT_TRUE(placed);
  ASSERT_EQ(placed->analysis.rows.size(), 3U);
  const diagnose::KernelRow& gemm = placed->analysis.rows.front();  // 600 of 808 µs
  EXPECT_EQ(gemm.bound, diagnose::CounterBound::compute);
  EXPECT_EQ(gemm.bound_type, "fp16 tensor");
  // 33,554,432 instructions × 4096 FLOP in 600 µs against 312 TFLOP/s × 1.10 ÷ 1.41 GHz.
  EXPECT_NEAR(gemm.fraction_of_roof.value_or(0), 33554432.0 * 4096 / 600e-6 / (3.12e14 * 1.10 / 1.41), 1e-6);
  EXPECT_EQ(placed->analysis.rows[1].bound, diagnose::CounterBound::dram);
}

TEST(CounterCase, AWorkloadsFilesGoTogether) {
  const auto answer = counters_of({"sysinfo.csv", "roofline.csv", "pmc_perf.csv"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->format, "rocprof-compute counters");
  EXPECT_EQ(answer->profiled_device, "MI200");
  const diagnose::KernelRow& gemm = answer->analysis.rows.front();
  EXPECT_EQ(gemm.bound, diagnose::CounterBound::compute);
  // 512 × 134,217,728 FLOP in 500 µs against the 170,490.6 GFLOP/s that roofline.csv measured.
  EXPECT_NEAR(gemm.fraction_of_roof.value_or(0), 512 * 134217728.0 / 500e-6 / 170490.6e9, 1e-3);
  EXPECT_THAT(counters_of({"sysinfo.csv", "roofline.csv"}).error().line(), HasSubstr("give pmc_perf.csv"));
  EXPECT_THAT(counters_of({"pmc_perf.csv"}, "no-such-device").error().line(), HasSubstr("no-such-device"));
}

TEST(CounterCase, FilesOfTwoDevicesAreNamed) {
  const auto answer = counters_of({"ncu_details.csv", "sysinfo.csv"});
  ASSERT_TRUE(answer) << answer.error().line();
  EXPECT_THAT(answer->notes,
              Contains("contradiction: the files before sysinfo.csv are of compute capability 8.0, it is "
                       "of MI200; roofs are those of the first"));
}

}  // namespace
}  // namespace corridor::app
