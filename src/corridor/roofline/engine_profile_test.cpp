// SPDX-License-Identifier: Apache-2.0
// Which profile an engine's name, version and date lead to; files in error are named; intervals by regime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "corridor/roofline/engine_profile.h"

namespace corridor::roofline {
namespace {

using testing::HasSubstr;

const Assets& built_in() {
  static const Assets all = Assets::open().value();
  return all;
}

TEST(EngineFor, VersionDecidesThenDateElseTheNewest) {
  const auto of = [](const char* word, const char* version, const char* date) {
    return engine_for(built_in(), word, version, date);
  };
  EXPECT_EQ(of("vLLM", "", ""), "vllm");
  EXPECT_EQ(of("vllm", "0.19.0", "2023"), "vllm");
  EXPECT_EQ(of("vllm", "0.12.0", ""), "vllm-2025");
  EXPECT_EQ(of("vllm", "v0.4.2", ""), "vllm-2024");
  EXPECT_EQ(of("vllm", "0.1.4", ""), "vllm-2023");
  EXPECT_EQ(of("vLLM-based (Splitwise paper)", "", "2023"), "vllm-2023");
  EXPECT_EQ(of("vllm", "", "2024-05"), "vllm-2024");
  EXPECT_EQ(of("TensorRT-LLM", "0.6.1", "2023-12"), "tensorrt-llm-2024");
  EXPECT_EQ(of("trtllm", "1.0.0rc3", ""), "tensorrt-llm-2025");
  EXPECT_EQ(of("llama.cpp", "b2000", ""), "llama.cpp-2024");
  EXPECT_EQ(of("llama.cpp", "b4011", ""), "llama.cpp-2025");
  EXPECT_EQ(of("llama.cpp", "b6918", "2024"), "llama.cpp");
  EXPECT_EQ(of("ollama", "", ""), "llama.cpp");
}

TEST(EngineFor, LongestWordWinsAndMethodsCount) {
  const auto of = [](const char* word) { return engine_for(built_in(), word, "", ""); };
  EXPECT_EQ(of("ExLlama"), "exllama");
  EXPECT_EQ(of("ExLlamaV2"), "exllamav2");
  EXPECT_EQ(of("HF transformers (PyTorch 2.0.1) + EAGLE"), "transformers-draft");
  EXPECT_EQ(of("HF transformers (PyTorch 2.0.1) + PLD"), "transformers-lookup");
  EXPECT_EQ(of("HF transformers (PyTorch 2.0.1) + Medusa"), "transformers");
  EXPECT_EQ(of("sambaflow"), "");
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("\xff\xfe\n\0vllmx"), "");
}

TEST(EngineProfiles, EveryOneLoadsAndHasSenseInIt) {
  for (const std::string& id : engine_ids(built_in())) {
    const Result<EngineProfile> engine = load_engine(built_in(), id);
    ASSERT_TRUE(engine.has_value()) << id << ": " << engine.error().line();
    EXPECT_LT(engine->host_per_step_s, 0.02) << id;
    EXPECT_LT(engine->host_per_request_s, 0.001) << id;
    EXPECT_LE(engine->prefill_interference, 1) << id;
    EXPECT_GT(engine->max_batched_tokens, 1) << id;
    EXPECT_FALSE(engine->interval_class.empty()) << id;
    ASSERT_NE(engine->intervals, nullptr) << id;
  }
}

/// A data folder of its own, over the built-in data.
class OwnData : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("corridor_engines_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_ / "engines");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& path, const std::string& text) const { std::ofstream(folder_ / path) << text; }
  [[nodiscard]] Assets assets() const { return Assets::open(folder_.string()).value(); }

 private:
  std::filesystem::path folder_;
};

TEST_F(OwnData, AProfileTakesFromItsBaseWhatItDoesNotState) {
  write("engines/vllm-2024.toml",
        "id = \"vllm-2024\"\nbased_on = \"vllm\"\nhost_per_step_s = { value = 0.5, unit = \"s\", source = \"a test "
        "value\", "
        "basis = \"assumed\" }\n");
  const EngineProfile base = load_engine(assets(), "vllm").value();
  const EngineProfile own = load_engine(assets(), "vllm-2024").value();
  EXPECT_EQ(own.host_per_step_s, 0.5);
  EXPECT_EQ(own.max_batched_tokens, base.max_batched_tokens);
  EXPECT_EQ(own.interval_class, base.interval_class);
}

TEST_F(OwnData, ProfilesBasedOnEachOtherAreRefused) {
  write("engines/vllm.toml", "based_on = \"sglang\"\n");
  write("engines/sglang.toml", "based_on = \"vllm\"\n");
  const Result<EngineProfile> engine = load_engine(assets(), "vllm");
  ASSERT_FALSE(engine.has_value());
  EXPECT_THAT(engine.error().line(), HasSubstr("circle"));
}

TEST_F(OwnData, AMissingKeyIsNamed) {
  write("engines/vllm.toml", "id = \"vllm\"\n");
  const Result<EngineProfile> engine = load_engine(assets(), "vllm");
  ASSERT_FALSE(engine.has_value());
  EXPECT_THAT(engine.error().line(), HasSubstr("host_per_step_s"));
}

std::string cell(const std::string& name, double low, double high) {
  const std::string rest = ", unit = \"1\", source = \"a test value\", basis = \"assumed\" }\n";
  return "[" + name + "]\nlow = { value = " + std::to_string(low) + rest + "high = { value = " + std::to_string(high) +
         rest;
}

TEST(Intervals, ComeFromTheNearestCellAndWiden) {
  const std::string widen =
      "[widen]\ndevice_unmeasured = { value = 2.0, unit = \"1\", source = \"a test value\", basis = \"assumed\" }\n";
  const IntervalTable table =
      IntervalTable::parse(widen + cell("server.decode_loop.to_8", 0.9, 1.1) + cell("server.decode_loop", 0.8, 1.3) +
                               cell("any.decode_loop", 0.7, 1.5),
                           "a.toml")
          .value();
  IntervalCase of;
  of.phase = IntervalCase::Phase::decode_loop;
  of.engine_class = "server";
  of.sequences = 4;
  EXPECT_DOUBLE_EQ(table.ratios(of).high, 1.1);
  of.sequences = 40;
  EXPECT_DOUBLE_EQ(table.ratios(of).high, 1.3);
  of.engine_class = "python";
  EXPECT_DOUBLE_EQ(table.ratios(of).low, 0.7);
  of.device_measured = false;
  EXPECT_NEAR(table.ratios(of).high, std::pow(1.5, 2.0), 1e-12);
  of.phase = IntervalCase::Phase::prefill;  // no cell at all: no width is invented
  EXPECT_DOUBLE_EQ(table.ratios(of).high, 1);
}

TEST(Intervals, RatiosThatAreNoneAreRefused) {
  for (const double low : {1.2, 0.0}) {
    const Result<IntervalTable> table = IntervalTable::parse(cell("any.decode", low, 1.5), "a.toml");
    ASSERT_FALSE(table.has_value());
    EXPECT_THAT(table.error().line(), HasSubstr("any.decode.low"));
  }
}

}  // namespace
}  // namespace corridor::roofline
