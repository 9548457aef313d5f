// SPDX-License-Identifier: Apache-2.0
// The annotated trace is valid JSON, has every span with what bounds it, and reads back as the run it was made of.
#include "corridor/app/perfetto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "corridor/base/file.h"
#include "corridor/profile/kineto/read_kineto.h"

namespace corridor::app {
namespace {

using ::testing::HasSubstr;

profile::Trace trace_from(const std::string& text) {
  const auto source = profile::open_bytes(text, "t.json");
  Result<profile::Trace> trace = profile::read_kineto(*source, "t.json");
  EXPECT_TRUE(trace);
  return trace ? std::move(*trace) : profile::Trace{};
}

std::string event(const std::string& cat, const std::string& name, double ts, double dur, const std::string& args) {
  return R"({"ph": "X", "cat": ")" + cat + R"(", "name": ")" + name + R"(", "pid": 1, "tid": 7, "ts": )" +
         std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) + R"(, "args": {)" + args + "}}";
}

/// A product, two kernels that overlap on one stream, and work of another device.
std::string small_trace() {
  const std::string mm = R"("External id": 1, "Input Dims": [[64, 512], [512, 512]], "Input type": ["float", "float"])";
  return R"({"traceEvents": [)" + event("cpu_op", "aten::mm", 1, 5, mm) + "," +
         event("cuda_runtime", "cudaLaunchKernel", 2, 1, R"("correlation": 5, "External id": 1)") + "," +
         event("gpu_user_annotation", "ProfilerStep#1", 10, 100, "") + "," +
         event("kernel", R"(gemm<\"quoted\">)", 10, 20, R"("device": 0, "stream": 7, "correlation": 5)") + "," +
         event("kernel", "over", 40, 20, R"("device": 0, "stream": 7)") + "," +
         event("kernel", "lap", 45, 30, R"("device": 0, "stream": 7)") + "," +
         event("kernel", "elsewhere", 12, 3, R"("device": 1, "stream": 7)") + "]}";
}

std::string annotated(const profile::Trace& trace, const diagnose::TraceAnalysis& analysis, std::size_t* lines) {
  std::string text;
  const Result<std::size_t> written = write_perfetto(trace, analysis, [&](std::string_view piece) -> Result<int> {
    text += piece;
    return 0;
  });
  EXPECT_TRUE(written);
  *lines = written.value_or(0);
  return text;
}

TEST(Perfetto, EverySpanHasItsPlaceAndOverlapsItsOwnLane) {
  const profile::Trace trace = trace_from(small_trace());
  const Result<diagnose::TraceAnalysis> analysis = diagnose::analyse({trace});
  ASSERT_TRUE(analysis);
  std::size_t lines = 0;
  const std::string text = annotated(trace, *analysis, &lines);
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  ASSERT_TRUE(document.is_object()) << text;
  EXPECT_EQ(document["traceEvents"].size(), lines);
  nlohmann::json product, over, lap, elsewhere;
  double most_flop_per_s = 0, last_flop_per_s = -1;
  for (const nlohmann::json& e : document["traceEvents"]) {
    const std::string name = e["name"];
    if (name == "gemm<\"quoted\">") product = e;
    if (name == "over") over = e;
    if (name == "lap") lap = e;
    if (name == "elsewhere") elsewhere = e;
    if (name != "FLOP/s") continue;
    last_flop_per_s = e["args"]["FLOP/s"].get<double>();
    most_flop_per_s = std::max(most_flop_per_s, last_flop_per_s);
  }
  const double flop_per_s = 2.0 * 64 * 512 * 512 / 20e-6;
  ASSERT_TRUE(product.is_object() && over.is_object() && lap.is_object() && elsewhere.is_object()) << text;
  EXPECT_EQ(product["args"]["operation"], "aten::mm");
  EXPECT_NEAR(product["args"]["flop_per_s"].get<double>() / flop_per_s, 1, 1e-3);
  EXPECT_NEAR(most_flop_per_s / flop_per_s, 1, 1e-3);
  EXPECT_EQ(last_flop_per_s, 0);
  EXPECT_EQ(product["tid"], over["tid"]);
  EXPECT_NE(over["tid"], lap["tid"]);
  EXPECT_FALSE(elsewhere["args"].contains("bound"));
  EXPECT_THAT(text, HasSubstr("ProfilerStep#1"));
  const profile::Trace again = trace_from(text);
  ASSERT_EQ(again.gpu.size(), trace.gpu.size());
  for (std::size_t i = 0; i < again.gpu.size(); ++i) {
    EXPECT_EQ(again.names.text(again.gpu[i].name), trace.names.text(trace.gpu[i].name));
    EXPECT_NEAR(again.gpu[i].duration_s, trace.gpu[i].duration_s, 1e-9);
  }
}

TEST(Perfetto, AFailingSinkAndStrangeNamesAreAnswered) {
  profile::Trace trace;
  trace.gpu.resize(3);
  trace.gpu[0].name = trace.names.intern("bad \xff\xe2\x82 \x01 bytes \xe2\x82\xac");
  trace.gpu[1].start_s = 1e300;
  trace.gpu[2].duration_s = 1e300;
  diagnose::TraceAnalysis analysis;
  analysis.spans = {0, 7};
  analysis.row_of_span = {9};
  std::size_t lines = 0;
  const std::string text = annotated(trace, analysis, &lines);
  EXPECT_TRUE(nlohmann::json::parse(text, nullptr, false).is_object()) << text;
  EXPECT_THAT(text, HasSubstr("bad ??? \\u0001 bytes \xe2\x82\xac"));
  const auto full = [](std::string_view) -> Result<int> { return fail("the disk is full"); };
  EXPECT_EQ(write_perfetto(trace, analysis, full).error().what, "the disk is full");
}

TEST(Perfetto, SamplesBecomeValidJson) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/torch_trace/";
  if (!is_folder(folder)) GTEST_SKIP() << "the samples under ../shared/data are absent";
  for (const char* file : {"h100_qwen1.5-0.5b-chat.json.gz", "vllm_decode_full_graph_execution.json.gz"}) {
    const Result<MappedFile> mapped = MappedFile::open(folder + file);
    ASSERT_TRUE(mapped) << file;
    const profile::Trace trace = trace_from(std::string(mapped->text()));
    const Result<diagnose::TraceAnalysis> analysis = diagnose::analyse({trace});
    ASSERT_TRUE(analysis) << file;
    std::size_t lines = 0;
    const std::string text = annotated(trace, *analysis, &lines);
    const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
    ASSERT_TRUE(document.is_object()) << file;
    std::size_t spans = 0;
    for (const nlohmann::json& e : document["traceEvents"]) spans += e["ph"] == "X" && e["cat"] != "step" ? 1 : 0;
    EXPECT_EQ(spans, trace.gpu.size()) << file;
  }
}

}  // namespace
}  // namespace corridor::app
