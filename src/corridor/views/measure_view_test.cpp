// SPDX-License-Identifier: Apache-2.0
// The keys `corridor measure` promises, several devices in one document, a refusal, and what --on understands.
#include "corridor/views/measure_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace corridor::views {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using units::Bytes;

measure::Measurement made(const std::string& on) {
  using measure::Figure;
  measure::Measurement m;
  m.on = on;
  m.device_name = "Made " + on;
  m.device.id = "made";
  measure::CurvePoint rate;
  rate.size = Bytes{8192};
  rate.threads = 2;
  rate.read = Figure{4e11, 0.01, 9, "2 threads"};
  measure::CurvePoint chase;
  chase.size = Bytes{4096};
  chase.latency = Figure{2e-9, 0.02, 9, "1 thread"};
  m.curve = {chase, rate};
  m.ladder = {{"L1", Bytes{96e3}, Bytes{98304}, 2, rate.read, chase.latency},
              {"main memory", Bytes{16e9}, std::nullopt, 1, Figure{4e10, 0.05, 9, "2 threads"}, std::nullopt}};
  m.peaks = {{hardware::ComputeType::fp64, {1e11, 0.01, 9, "2 threads"}, "avx512"},
             {hardware::ComputeType::fp32, {2e11, 0.03, 9, "2 threads"}, "avx512"},
             {hardware::ComputeType::int8, {8e11, 0.03, 9, "2 threads"}, "avx512_vnni"}};
  m.main_memory.read = Figure{4e10, 0.05, 9, "2 threads"};
  m.main_memory.threads_to_saturate = 2;
  m.launch = Figure{2e-6, 0.1, 9, "an empty task"};
  m.conditions = {{"date", "2026-01-02"}};
  m.warnings = {"This is a virtual machine."};
  return m;
}

TEST(MeasureView, JsonHasThePromisedKeys) {
  app::MeasureAnswer answer;
  answer.measured = {made("cpu")};
  const report::Document document = measure_view(answer);
  EXPECT_THAT(report::duplicate_keys(document), IsEmpty());
  const auto json = nlohmann::json::parse(report::render_json(document));
  EXPECT_EQ(json["schema"], "corridor/measurement/1");
  EXPECT_EQ(json["on"], "cpu");
  EXPECT_EQ(json["ladder"][0]["level"], "L1");
  EXPECT_EQ(json["ladder"][0]["capacity_bytes"], 96e3);
  EXPECT_EQ(json["ladder"][0]["reported_capacity_bytes"], 98304);
  EXPECT_EQ(json["ladder"][0]["bandwidth_bytes_per_s"], 4e11);
  EXPECT_EQ(json["ladder"][0]["bandwidth_spread"], 0.01);
  EXPECT_EQ(json["ladder"][0]["latency_s"], 2e-9);
  EXPECT_EQ(json["ladder"][0]["latency_spread"], 0.02);
  EXPECT_TRUE(json["ladder"][1]["latency_s"].is_null());
  EXPECT_EQ(json["peaks"][2]["type"], "int8");
  EXPECT_EQ(json["peaks"][1]["flop_per_s"], 2e11);
  EXPECT_EQ(json["peaks"][1]["spread"], 0.03);
  EXPECT_EQ(json["main_memory"]["read_bytes_per_s"], 4e10);
  EXPECT_EQ(json["main_memory"]["read_spread"], 0.05);
  EXPECT_TRUE(json["main_memory"]["copy_bytes_per_s"].is_null());
  EXPECT_EQ(json["main_memory"]["threads_to_saturate"], 2);
  EXPECT_EQ(json["launch_s"], 2e-6);
  EXPECT_EQ(json["launch_spread"], 0.1);
  EXPECT_DOUBLE_EQ(json["ridge_flop_per_byte"], 2e11 / 4e10);
  EXPECT_DOUBLE_EQ(json["ridge_spread"], 0.03 + 0.05);
  EXPECT_EQ(json["curve"].size(), 2U);
  EXPECT_EQ(json["warnings"][0], "This is a virtual machine.");
  const std::string terminal = report::render_terminal(document);
  EXPECT_THAT(terminal, HasSubstr("Made cpu, measured"));
  EXPECT_THAT(terminal, HasSubstr("40.0 GB/s"));
  EXPECT_THAT(terminal, HasSubstr("fp32"));
  EXPECT_THAT(report::render_html(document), HasSubstr("<svg"));
}

TEST(MeasureView, SeveralDevicesStandBelowTheirNames) {
  app::MeasureAnswer answer;
  answer.measured = {made("cpu"), made("cuda:0")};
  const report::Document document = measure_view(answer);
  EXPECT_THAT(report::duplicate_keys(document), IsEmpty());
  const auto json = nlohmann::json::parse(report::render_json(document));
  EXPECT_EQ(json["schema"], "corridor/measurements/1");
  EXPECT_EQ(json["cuda:0"]["launch_s"], 2e-6);
  EXPECT_EQ(json["cpu"]["ladder"][0]["level"], "L1");
}

TEST(MeasureView, NothingMeasuredIsAnAnswerWithItsReason) {
  app::MeasureAnswer answer;
  answer.refusal = Error{"libcuda.so.1 was not found", "looked in the usual places", "install a driver"};
  const report::Document document = measure_view(answer);
  EXPECT_THAT(report::render_terminal(document), HasSubstr("libcuda.so.1 was not found"));
  measure::Measurement empty;  // a device of which nothing could be taken
  empty.on = "cpu";
  answer = {};
  answer.measured = {empty};
  EXPECT_THAT(report::render_json(measure_view(answer)), Not(HasSubstr("nan")));
}

TEST(MeasureTarget, WordsOfOn) {
  EXPECT_TRUE(app::parse_target("cpu")->cpu);
  EXPECT_EQ(app::parse_target("cuda")->gpu, 0);
  EXPECT_EQ(app::parse_target("cuda:12")->gpu, 12);
  EXPECT_TRUE(app::parse_target("all")->every_gpu);
  for (const char* bad : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "CPU "}) {
    const auto target = app::parse_target(bad);
    ASSERT_FALSE(target) << bad;
    EXPECT_EQ(target.error().where, "--on");
  }
  for (const char* output : {"/no-such-folder/x.toml", "x.json"}) {
    EXPECT_FALSE(app::measure({"cpu", {}, output}, {})) << output;
  }
  EXPECT_FALSE(app::measure({"all", {}, "x.toml"}, {}));
}

}  // namespace
}  // namespace corridor::views
