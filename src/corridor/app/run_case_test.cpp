// SPDX-License-Identifier: Apache-2.0
// Files of one run together: ladders of results, metrics pages, contradictions, traces beside results.
#include "corridor/app/run_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "corridor/base/file.h"

namespace corridor::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// Files of the repository and texts of a test, kept while a request points into them.
class RunOfFiles {
 public:
  RunFile file(const std::string& path) {
    const auto text = read_text_file(CORRIDOR_SOURCE_DIR "/tests/fixtures/" + path);
    EXPECT_TRUE(text) << path;
    return given(path, text.value_or(""));
  }
  RunFile given(const std::string& name, std::string text) {
    texts_.push_back(std::move(text));
    return {name, texts_.back()};
  }
  const Assets& assets() {
    if (!assets_) assets_ = std::move(*Assets::open());
    return *assets_;
  }

 private:
  std::deque<std::string> texts_;
  std::optional<Assets> assets_;
};

void expect_level_memory(const ResultLadder& ladder) {
  std::vector<const LadderRow*> decode;
  for (const LadderRow& row : ladder.rows) {
    if (!row.prompt) decode.push_back(&row);
  }
  ASSERT_GE(decode.size(), 3U);
  std::sort(decode.begin(), decode.end(), [](const auto* a, const auto* b) { return a->depth < b->depth; });
  for (std::size_t i = 1; i < decode.size(); ++i) EXPECT_LT(*decode[i]->mbu_weights, *decode[i - 1]->mbu_weights);
  const auto [low, high] = std::minmax_element(decode.begin(), decode.end(), [](const auto* a, const auto* b) {
    return *a->mbu_weights_kv < *b->mbu_weights_kv;
  });
  // Level beside the weights, whose share falls to a third: the KV part stays within a third of itself.
  EXPECT_LT(*(*high)->mbu_weights_kv / *(*low)->mbu_weights_kv, 4.0 / 3);
  EXPECT_LT(*decode.back()->mbu_weights * 2, *decode.front()->mbu_weights);
}

TEST(ResultLadder, WeightsAloneFallWithDepthWeightsAndKvStayLevel) {
  RunOfFiles run;
  DiagnoseRequest request;
  request.results.push_back(run.file("results/llama_bench_ladder.jsonl"));
  const auto answer = diagnose(run.assets(), request);
  ASSERT_TRUE(answer) << answer.error().line();
  ASSERT_TRUE(answer->ladder);
  const ResultLadder& ladder = *answer->ladder;
  ASSERT_EQ(ladder.rows.size(), 4U);
  expect_level_memory(ladder);
  // Llama-3.2-1B in f16: 16 layers, 8 KV heads of 64, keys and values: 32,768 B a token; 65,536 + 64 are cached on
  // average.
  EXPECT_NEAR(ladder.rows[3].kv_bytes, 65600.0 * 32768, 1e6);
  EXPECT_NEAR(*ladder.rows[0].mbu_weights, ladder.rows[0].weights_bytes * 200 / 256e9, 1e-9) << "256 GB/s";
  EXPECT_LE(ladder.rows[0].weights_bytes, 799862912.0);
  EXPECT_TRUE(ladder.rows[1].prompt);
  EXPECT_FALSE(ladder.rows[1].mbu_weights);
  EXPECT_GT(*ladder.rows[1].mfu, 0.05);
  EXPECT_THAT(ladder.sentence, HasSubstr("KV cache"));
}

TEST(ResultLadder, WhatTheBoardCannotDoIsNamed) {
  RunOfFiles run;
  DiagnoseRequest request;
  request.base.device = "m1-8c";
  request.results.push_back(run.file("results/llama_bench_ladder.jsonl"));
  const auto answer = diagnose(run.assets(), request);
  ASSERT_TRUE(answer && answer->ladder) << "68 GB/s cannot read 0.8 GB 200 times a second";
  EXPECT_THAT(answer->ladder->notes, Contains(HasSubstr("above what m1-8c can do")));
}

TEST(ResultLadder, RealSample) {
  const auto text =
      read_text_file(CORRIDOR_SOURCE_DIR "/../shared/data/profiles/llama_bench/strixhalo_llama32-1b.default-hip.jsonl");
  if (!text) GTEST_SKIP() << "no shared sample files here";
  RunOfFiles run;
  DiagnoseRequest request;
  request.results.push_back(run.given("sample", *text));
  const auto answer = diagnose(run.assets(), request);
  ASSERT_TRUE(answer) << answer.error().line();
  ASSERT_TRUE(answer->ladder);
  expect_level_memory(*answer->ladder);
}

TEST(MetricsOfARun, TwoPagesAreComparedWithAPrediction) {
  RunOfFiles run;
  DiagnoseRequest request;
  request.base.device = "h100-sxm";
  request.metrics = {run.file("metrics/vllm_before.prom"), run.file("metrics/vllm_after.prom"),
                     run.file("metrics/dcgm.prom")};
  request.metrics_seconds = 10;
  const auto answer = diagnose(run.assets(), request);
  ASSERT_TRUE(answer) << answer.error().line();
  ASSERT_TRUE(answer->diagnosis);
  EXPECT_EQ(answer->predicted->model.name, "Llama-3.1-8B");
  EXPECT_EQ(answer->predicted->scenario.sequences, 8) << "800 tok/s with 10 ms a token";
  EXPECT_EQ(answer->predicted->scenario.input, 512);
  EXPECT_NEAR(answer->seen.tpot_s.value_or(0), 0.01, 1e-12);
  EXPECT_NEAR(answer->seen.meter.value_or(0), 0.99, 1e-12);
  EXPECT_FALSE(answer->seen.preemptions) << "none between the pages";
  ASSERT_EQ(answer->metrics->gpus.size(), 1U);
}

TEST(MetricsOfARun, AloneTheyTellTheQueueAndTheWallOfTheGpu) {
  RunOfFiles run;
  DiagnoseRequest full;
  full.metrics.push_back(run.file("metrics/vllm_full.prom"));
  const auto queue = diagnose(run.assets(), full);
  ASSERT_TRUE(queue) << queue.error().line();
  ASSERT_TRUE(queue->metrics_alone);
  EXPECT_EQ(queue->metrics_alone->status, "queueing");
  EXPECT_THAT(queue->metrics_alone->sentence, HasSubstr("KV memory is full"));
  DiagnoseRequest gpu;
  gpu.metrics.push_back(run.file("metrics/dcgm.prom"));
  const auto wall = diagnose(run.assets(), gpu);
  ASSERT_TRUE(wall) << wall.error().line();
  EXPECT_EQ(wall->metrics_alone->wall, "memory");
  EXPECT_EQ(wall->device.id, "h100-sxm");
  EXPECT_THAT(dram_sentence(*wall->metrics), HasSubstr("no MBU"));
}

TEST(MetricsOfARun, AThirdPageOrTwoServersAreRefused) {
  RunOfFiles run;
  DiagnoseRequest request;
  request.metrics.assign(3, run.file("metrics/vllm_before.prom"));
  EXPECT_FALSE(diagnose(run.assets(), request));
  request.metrics = {run.file("metrics/vllm_before.prom"), run.given("tgi", "tgi_queue_size 1\n")};
  EXPECT_FALSE(diagnose(run.assets(), request));
}

TEST(OneRun, ResultsAndMetricsAgreeAndContradictionsAreNamed) {
  RunOfFiles run;
  DiagnoseRequest request;
  request.base.device = "h100-sxm";
  request.results.push_back(run.file("results/vllm_serve.json"));
  request.metrics = {run.file("metrics/vllm_before.prom"), run.file("metrics/vllm_after.prom")};
  request.metrics_seconds = 10;
  const auto agree = diagnose(run.assets(), request);
  ASSERT_TRUE(agree) << agree.error().line();
  EXPECT_THAT(agree->remarks, Not(Contains(HasSubstr("contradiction"))));
  EXPECT_NEAR(agree->seen.tpot_s.value_or(0), 0.0098, 1e-12) << "the client's own time counts";
  request.metrics_seconds = 40;
  request.texts.push_back(run.given("command", "vllm serve Qwen/Qwen3-8B -tp 1\n"));
  const auto differ = diagnose(run.assets(), request);
  ASSERT_TRUE(differ) << differ.error().line();
  EXPECT_THAT(differ->remarks, Contains(HasSubstr("contradiction: the model is Qwen/Qwen3-8B")));
  EXPECT_THAT(differ->remarks, Contains(HasSubstr("contradiction: the generation rate")));
}

TEST(OneRun, ATraceTakesTheModelFromTheOtherFilesAndGivesTheDevice) {
  RunOfFiles run;
  DiagnoseRequest request;
  request.results.push_back(run.file("results/vllm_serve.json"));
  const auto answer = diagnose_run(run.assets(), request, {run.file("traces/h100_graph_decode.json")});
  ASSERT_TRUE(answer) << answer.error().line();
  EXPECT_EQ(answer->trace.model, "Llama-3.1-8B");
  ASSERT_TRUE(answer->measured) << "the device is that of the trace";
  EXPECT_EQ(answer->measured->device.id, "h100-sxm");
  EXPECT_TRUE(answer->measured->diagnosis);
  request.results = {run.given("broken", "{}")};
  EXPECT_FALSE(diagnose_run(run.assets(), request, {run.file("traces/h100_graph_decode.json")}));
}

TEST(OneRun, AResultOfAnotherDeviceAndPaceThanTheTraceIsNamed) {
  RunOfFiles run;
  DiagnoseRequest request;
  request.texts.push_back(run.given("smi", "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1)\n"));
  request.results.push_back(run.given("result", R"({"backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B",
    "num_prompts": 10, "completed": 10, "duration": 100.0, "total_input_tokens": 1000, "total_output_tokens": 1000,
    "request_throughput": 0.1, "output_throughput": 10.0, "mean_ttft_ms": 100.0, "mean_tpot_ms": 900.0})"));
  const auto answer = diagnose_run(run.assets(), request, {run.file("traces/h100_graph_decode.json")});
  ASSERT_TRUE(answer) << answer.error().line();
  ASSERT_TRUE(answer->measured);
  EXPECT_THAT(answer->measured->remarks, Contains(HasSubstr("contradiction: the trace was recorded on h100-sxm")));
  EXPECT_THAT(answer->measured->remarks, Contains(HasSubstr("contradiction: a step of the trace takes")));
}

}  // namespace
}  // namespace corridor::app
