// SPDX-License-Identifier: Apache-2.0
// Every built-in model against the count its makers published, and the golden bytes of two models.
#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "corridor/base/assets.h"
#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"

namespace corridor::model {
namespace {

constexpr double exact = 0.005;    // a total of the files
constexpr double rounded = 0.025;  // a figure from a name or a card, to two or three digits

const Assets& data() {
  static const Result<Assets> assets = Assets::open();
  return *assets;
}

ModelSpec builtin(const char* name) {
  const auto found = find_model(data(), name);
  EXPECT_TRUE(found) << name;
  return found ? found->model : ModelSpec{};
}

TEST(BuiltInModels, MatchPublishedParameterCounts) {
  int compared = 0;
  for (const std::string& path : data().list("models")) {
    const auto text = data().read(path);
    ASSERT_TRUE(text) << path;
    const auto model = read_hf_config(*text, path);
    ASSERT_TRUE(model) << model.error().line();
    const nlohmann::json record = nlohmann::json::parse(*text);
    if (!record.contains("published_parameters")) continue;
    ASSERT_TRUE(record.contains("source")) << path << ": a published count needs its source";
    const bool is_rounded = record["source"].get<std::string>().find("rounded") != std::string::npos;
    const double published = record["published_parameters"].get<double>();
    EXPECT_NEAR(parameter_count(*model) / published, 1, is_rounded ? rounded : exact) << path;
    ++compared;
  }
  EXPECT_GE(compared, 80);
}

TEST(BuiltInModels, IdsAreInOrderAndNamedInTheirFiles) {
  const std::vector<std::string> ids = model_ids(data());
  EXPECT_GE(ids.size(), 40U);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  for (const std::string& id : ids) {
    const auto found = find_model(data(), id);
    ASSERT_TRUE(found) << id;
    EXPECT_EQ(found->model.id, id);
    EXPECT_EQ(found->note, "") << id;
    EXPECT_EQ(found->model.source, "built in");
  }
}

// Counts from the index files of the safetensors repositories, to the last parameter.
struct Total {
  const char* id;
  double parameters;
};
class ExactTotal : public ::testing::TestWithParam<Total> {};
TEST_P(ExactTotal, ToTheLastParameter) {
  // Bias-free Llama-like models leave nothing out.
  EXPECT_DOUBLE_EQ(parameter_count(builtin(GetParam().id)), GetParam().parameters);
}
INSTANTIATE_TEST_SUITE_P(
    Models, ExactTotal,
    ::testing::Values(Total{"meta-llama/Llama-3.1-8B", 8030261248}, Total{"meta-llama/Llama-3.1-70B", 70553706496},
                      Total{"meta-llama/Llama-2-7b", 6738415616}, Total{"meta-llama/Llama-2-13b", 13015864320},
                      Total{"meta-llama/Llama-2-70b", 68976648192}, Total{"Qwen/Qwen2.5-7B", 7615616512},
                      Total{"Qwen/Qwen3-8B", 8190735360}, Total{"Qwen/Qwen3-14B", 14768307200},
                      Total{"Qwen/Qwen3-32B", 32762123264}, Total{"Qwen/Qwen3-30B-A3B", 30532122624},
                      Total{"Qwen/Qwen3-235B-A22B", 235093634560}, Total{"mistralai/Mistral-7B-v0.1", 7241732096},
                      Total{"mistralai/Mixtral-8x7B-v0.1", 46702792704}, Total{"google/gemma-2-9b", 9241705984},
                      Total{"google/gemma-2-27b", 27227128320}, Total{"microsoft/phi-4", 14659507200},
                      Total{"deepseek-ai/DeepSeek-V2-Lite", 15706484224},
                      Total{"TinyLlama/TinyLlama-1.1B-Chat-v1.0", 1100048384}));

TEST(ActiveParameters, AsPublished) {
  EXPECT_NEAR(active_parameter_count(builtin("openai/gpt-oss-120b")) / 5.13e9, 1, 0.005);
  EXPECT_NEAR(active_parameter_count(builtin("openai/gpt-oss-20b")) / 3.61e9, 1, 0.005);
  EXPECT_NEAR(active_parameter_count(builtin("deepseek-ai/DeepSeek-V3")) / 37e9, 1, 0.02);
  EXPECT_NEAR(active_parameter_count(builtin("Qwen/Qwen3-235B-A22B")) / 22e9, 1, 0.025);
  EXPECT_NEAR(active_parameter_count(builtin("mistralai/Mixtral-8x7B-v0.1")) / 12.9e9, 1, 0.015);
}

TEST(GoldenBytes, Llama70B) {
  const ModelSpec model = builtin("meta-llama/Llama-3.1-70B");
  const double table = static_cast<double>(model.vocab * model.hidden);
  EXPECT_NEAR(weight_bytes(model), 141.1e9, 0.05e9);
  EXPECT_NEAR(weight_bytes(model) - 2 * table, 139.0e9, 0.05e9);  // only rows of the input table are read
  const ModelSpec fp8 = with_weight_format(model, *find_weight_format("fp8"));
  EXPECT_NEAR(weight_bytes(fp8), 72.65e9, 0.01e9);
  EXPECT_NEAR(weight_bytes(fp8) - 2 * table, 70.55e9, 0.01e9);
  const auto& attention = std::get<SoftmaxAttention>(model.layers.at(0).mixer);
  EXPECT_EQ(model.layer_count() * attention.kv_heads * (attention.qk_dim + attention.v_dim) * 2, 327'680);
}

TEST(GoldenBytes, DeepSeekV3Latent) {
  const ModelSpec model = builtin("deepseek-ai/DeepSeek-V3");
  std::int64_t bytes = 0;
  for (const LayerGroup& group : model.layers) {
    const auto& latent = std::get<LatentAttention>(group.mixer);
    bytes += group.count * (latent.kv_rank + latent.rope_dim) * 2;
  }
  EXPECT_EQ(bytes, 70'272);
  EXPECT_EQ(model.stored(TensorRole::expert).format.name, "fp8-block");
  EXPECT_EQ(model.stored(TensorRole::head).format.name, "bf16");
  EXPECT_EQ(model.mtp_layers, 1);
  EXPECT_NEAR(model.mtp_parameters, 11.6e9, 0.2e9);
}

struct Spelling {
  const char* asked;
  const char* id;
};
class Names : public ::testing::TestWithParam<Spelling> {};
TEST_P(Names, AreUnderstood) {
  const auto found = find_model(data(), GetParam().asked);
  ASSERT_TRUE(found) << found.error().line();
  EXPECT_EQ(found->model.id, GetParam().id);
}
INSTANTIATE_TEST_SUITE_P(Spellings, Names,
                         ::testing::Values(Spelling{"llama-3.1-70b", "meta-llama/Llama-3.1-70B"},
                                           Spelling{"Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-70B"},
                                           Spelling{"meta-llama/Meta-Llama-3.1-70B", "meta-llama/Llama-3.1-70B"},
                                           Spelling{"llama3.1:70b", "meta-llama/Llama-3.1-70B"},
                                           Spelling{"meta-llama/Llama-2-7b-chat-hf", "meta-llama/Llama-2-7b"},
                                           Spelling{"tinyllama", "TinyLlama/TinyLlama-1.1B-Chat-v1.0"},
                                           Spelling{"mistralai/Mistral-7B-Instruct-v0.2", "mistralai/Mistral-7B-v0.1"},
                                           Spelling{"Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B"},
                                           Spelling{"deepseek-ai/DeepSeek-R1-0528", "deepseek-ai/DeepSeek-R1"},
                                           Spelling{"google/gemma-2-9b-it", "google/gemma-2-9b"},
                                           Spelling{"deepseek-r1-distill-llama-70b", "meta-llama/Llama-3.1-70B"},
                                           Spelling{"gpt2", "openai-community/gpt2"}));

TEST(FindModel, SaysHowANameWasTaken) {
  const auto found = find_model(data(), "llama-3.1-70b");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->note, "llama-3.1-70b taken as meta-llama/Llama-3.1-70B");
}

TEST(FindModel, AFormatAtTheEndOfANameCounts) {
  const auto found = find_model(data(), "Qwen/Qwen3-32B-AWQ");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->model.id, "Qwen/Qwen3-32B");
  EXPECT_EQ(found->model.stored(TensorRole::dense_mlp).format.name, "int4-g128");
  EXPECT_THAT(found->note, ::testing::HasSubstr("int4-g128"));
}

TEST(FindModel, UnknownNamesGetTheNearestOnes) {
  const auto found = find_model(data(), "lama-3.1-70b");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().line(), ::testing::HasSubstr("meta-llama/Llama-3.1-70B"));
  EXPECT_FALSE(find_model(data(), ""));
  EXPECT_FALSE(find_model(data(), std::string(100'000, 'x')));
  EXPECT_FALSE(find_model(data(), "./no/such/folder"));
}

}  // namespace
}  // namespace corridor::model
