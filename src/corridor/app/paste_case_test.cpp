// SPDX-License-Identifier: Apache-2.0
// What pasted text fills in, and what it must not.
#include "corridor/app/paste_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/app/paste_case_model.h"

namespace corridor::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Taken {
  PredictRequest request;
  diagnose::Observation seen;
  Result<TakenPaste> paste = TakenPaste{};
};

Taken take(const std::string& text, PredictRequest request = {}) {
  const Result<Assets> assets = Assets::open();
  Taken out;
  out.request = std::move(request);
  out.paste = take_paste(*assets, profile::read_paste(text), out.request, out.seen);
  return out;
}

TEST(PastedModel, NameAndFormatOfFiles) {
  const PastedModel file = pasted_model("/models/llama-2-7b.Q4_0.gguf");
  EXPECT_EQ(file.name, "llama-2-7b");
  EXPECT_EQ(file.weights, "q4_0");
  EXPECT_TRUE(file.path_elsewhere);
  const PastedModel shard = pasted_model("/m/Qwen3-8B-Q4_K_M-00001-of-00003.gguf");
  EXPECT_EQ(shard.name, "Qwen3-8B");
  EXPECT_EQ(shard.weights, "q4_k_m");
  EXPECT_EQ(pasted_model("unsloth/Qwen3-8B-GGUF:Q8_0").weights, "q8_0");
  EXPECT_EQ(pasted_model("microsoft/phi-4").name, "microsoft/phi-4");
  EXPECT_EQ(ollama_model("llama3.1:8b-instruct-q8_0").weights, "q8_0");
  EXPECT_EQ(printed_format("llama 7B mostly Q4_0"), "q4_0");
  EXPECT_EQ(printed_format("llama 8B Q4_K - Medium"), "q4_k_m");
}

TEST(TakePaste, OllamaRunsPackedWeightsAndItsCountsAreTheLengths) {
  const Taken taken = take(
      "$ ollama run llama3.1 --verbose\n"
      "prompt eval count:    26 token(s)\n"
      "eval count:           298 token(s)\n"
      "eval rate:            95.2 tokens/s\n");
  ASSERT_TRUE(taken.paste.has_value());
  EXPECT_EQ(taken.request.weights, "q4_k_m");
  EXPECT_EQ(taken.request.input, 26);
  EXPECT_EQ(taken.request.output, 298);
  EXPECT_FALSE(taken.paste->asks_for_concurrency);
}

TEST(TakePaste, TheServerBoundsTheSequences) {
  PredictRequest request;
  request.concurrency = 64;
  const Taken taken =
      take("vllm serve Qwen/Qwen3-8B --max-num-seqs 16 --max-model-len 4096 --quantization oddword", request);
  EXPECT_EQ(taken.request.concurrency, 16);
  EXPECT_THAT(taken.paste->remarks, Contains(HasSubstr("without effect")));
  EXPECT_THAT(taken.paste->ignored, Contains(HasSubstr("oddword")));
}

TEST(TakePaste, APathOfAnotherMachineIsTakenByItsNameOrRefused) {
  EXPECT_EQ(take("vllm serve /data/Qwen2.5-7B-Instruct").request.model, "Qwen2.5-7B-Instruct");
  const Taken unknown = take("vllm serve /data/our-own-model");
  ASSERT_FALSE(unknown.paste.has_value());
  EXPECT_THAT(unknown.paste.error().line(), HasSubstr("our-own-model"));
}

TEST(TakePaste, AThroughputAloneAsksForTheConcurrency) {
  EXPECT_TRUE(take("Output token throughput (tok/s):         740.25\n").paste->asks_for_concurrency);
}

TEST(TakePaste, AZeroTimeIsLeftOut) {
  const Taken taken = take("Successful requests: 3\nMean TPOT (ms):     0.00\n");
  EXPECT_FALSE(taken.seen.tpot_s.has_value());
  EXPECT_THAT(taken.paste->remarks, Contains(HasSubstr("left out")));
}

TEST(TakePaste, TheEnginesOwnEstimateCountsWhereNoSpeedIsKnown) {
  const std::string log = "INFO MFU: 20.0 TF/s/GPU 900.0 GB/s/GPU\nINFO MFU: 40.0 TF/s/GPU 1800.0 GB/s/GPU\n";
  const Taken taken = take(log);
  EXPECT_DOUBLE_EQ(taken.seen.bytes_per_s.value_or(0), 1800e9);
  EXPECT_DOUBLE_EQ(taken.seen.flop_per_s.value_or(0), 40e12);
  EXPECT_FALSE(take(log + "Successful requests: 3\nMean TPOT (ms):     9.00\n").seen.bytes_per_s);
}

TEST(TakePaste, LogStampsBeforeABlockDoNotHideIt) {
  const Taken taken = take(
      "bench-1  | (APIServer pid=7) INFO 11-29 10:00:01 [a.py:3] Maximum request concurrency:   32\n"
      "bench-1  | (APIServer pid=7) INFO 11-29 10:00:01 [a.py:3] Benchmark duration (s):   41.5\n"
      "bench-1  | (APIServer pid=7) INFO 11-29 10:00:01 [a.py:3] Mean TPOT (ms):   20.5\n");
  EXPECT_DOUBLE_EQ(taken.seen.tpot_s.value_or(0), 0.0205);
}

}  // namespace
}  // namespace corridor::app
