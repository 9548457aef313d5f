// SPDX-License-Identifier: Apache-2.0
// The config.json reader: families, quantisation, and files that are wrong in one place.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "corridor/base/file.h"
#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"

namespace corridor::model {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json llama() {
  return {{"model_type", "llama"},    {"num_hidden_layers", 4},         {"hidden_size", 64},
          {"num_attention_heads", 8}, {"num_key_value_heads", 2},       {"intermediate_size", 128},
          {"vocab_size", 1000},       {"max_position_embeddings", 2048}};
}

Result<ModelSpec> read(const json& config) {
  return read_hf_config(config.dump(), "config.json");
}

ModelSpec spec(const json& config) {
  const auto model = read(config);
  EXPECT_TRUE(model) << model.error().line();
  return model ? *model : ModelSpec{};
}

const SoftmaxAttention& softmax(const ModelSpec& model, std::size_t group = 0) {
  return std::get<SoftmaxAttention>(model.layers.at(group).mixer);
}

TEST(HfConfig, NotesRepeatedKeysAndUnknownTypes) {
  std::string text = llama().dump();
  text.pop_back();
  const auto twice = read_hf_config(text + ", \"hidden_size\": 128}", "config.json");
  ASSERT_TRUE(twice) << twice.error().line();
  EXPECT_EQ(twice->hidden, 128);
  EXPECT_THAT(twice->approximations.at(0), HasSubstr("\"hidden_size\" stands twice"));
  json config = llama();
  config["torch_dtype"] = "float17";
  EXPECT_THAT(spec(config).approximations.at(0), HasSubstr("float17"));
}

TEST(HfConfig, ALlamaLikeModel) {
  const ModelSpec model = spec(llama());
  ASSERT_EQ(model.layers.size(), 1U);
  EXPECT_EQ(model.layers[0].count, 4);
  EXPECT_EQ(softmax(model).qk_dim, 8);
  EXPECT_EQ(softmax(model).kv_heads, 2);
  EXPECT_EQ(model.layers[0].feed_forward.intermediate, 128);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_TRUE(model.approximations.empty());
}

// One wrong value each; the error must name the key.
struct Wrong {
  const char* key;
  json value;
};
class WrongValue : public ::testing::TestWithParam<Wrong> {};
TEST_P(WrongValue, IsOneErrorThatNamesTheKey) {
  json config = llama();
  config[GetParam().key] = GetParam().value;
  const auto model = read(config);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().line(), HasSubstr(GetParam().key));
  EXPECT_THAT(model.error().line(), ::testing::Not(HasSubstr("\n")));
  EXPECT_FALSE(model.error().fix.empty());
}
INSTANTIATE_TEST_SUITE_P(
    Values, WrongValue,
    ::testing::Values(Wrong{"num_hidden_layers", "80"}, Wrong{"num_hidden_layers", -3}, Wrong{"num_hidden_layers", 0},
                      Wrong{"num_hidden_layers", 2.5}, Wrong{"num_hidden_layers", 10'001},
                      Wrong{"num_hidden_layers", 1e300}, Wrong{"num_hidden_layers", json::array({4})},
                      Wrong{"num_hidden_layers", nullptr}, Wrong{"hidden_size", 1e10}, Wrong{"hidden_size", true},
                      Wrong{"hidden_size", json::object()}, Wrong{"num_attention_heads", 0},
                      Wrong{"num_attention_heads", 7}, Wrong{"num_key_value_heads", 3},
                      Wrong{"num_key_value_heads", "two"}, Wrong{"vocab_size", -1}, Wrong{"intermediate_size", 0},
                      Wrong{"intermediate_size", 2e9}, Wrong{"head_dim", 0}, Wrong{"head_dim", -8},
                      Wrong{"tie_word_embeddings", "yes"}, Wrong{"model_type", 5},
                      Wrong{"layer_types", json::array({"full_attention"})}, Wrong{"layer_types", "full"},
                      Wrong{"sliding_window", -1}, Wrong{"num_experts", -1}, Wrong{"quantization_config", 4}));

TEST(HfConfig, HugeShapesAreRefused) {
  json config = llama();
  config["num_hidden_layers"] = 10'000;
  config["hidden_size"] = 8'000'000;
  config["intermediate_size"] = 90'000'000;
  const auto model = read(config);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().line(), HasSubstr("parameters"));
}

TEST(HfConfig, TextThatIsNoConfig) {
  for (const std::string& text :
       {std::string(""), std::string("{"), std::string("[1]"), std::string("null"), std::string("{\"a\": 1e999}"),
        std::string(200'000, '['), std::string("{\"a\":").append(std::string(100, '[')), std::string("\xff\xfe{}")}) {
    const auto model = read_hf_config(text, "config.json");
    ASSERT_FALSE(model);
    EXPECT_THAT(model.error().line(), HasSubstr("config.json"));
  }
}

TEST(HfConfig, PythonNumbersAreAccepted) {
  std::string text = llama().dump();
  text.insert(1, "\"time_step_limit\": [0.0, Infinity, -Infinity, NaN], \"name\": \"NaN \\\" Infinity\", ");
  EXPECT_TRUE(read_hf_config(text, "config.json"));
}

TEST(HfConfig, WindowsByFamily) {
  json config = llama();
  config["model_type"] = "gemma2";
  config["sliding_window"] = 512;
  ModelSpec model = spec(config);
  ASSERT_EQ(model.layers.size(), 2U);
  EXPECT_EQ(softmax(model, 0).window, 512);
  EXPECT_EQ(softmax(model, 1).window, std::nullopt);
  EXPECT_EQ(model.layers[0].count, 2);
  EXPECT_TRUE(model.tied_embeddings);

  config["model_type"] = "mistral";
  EXPECT_EQ(softmax(spec(config)).window, 512);
  config["sliding_window"] = 4096;  // wider than the longest context: hides nothing
  EXPECT_EQ(softmax(spec(config)).window, std::nullopt);
  config["model_type"] = "qwen2";
  config["sliding_window"] = 512;
  config["use_sliding_window"] = false;
  EXPECT_EQ(softmax(spec(config)).window, std::nullopt);
}

TEST(HfConfig, ExpertsAndDenseFirstLayers) {
  json config = llama();
  config["model_type"] = "deepseek_v3";
  config["n_routed_experts"] = 16;
  config["num_experts_per_tok"] = 2;
  config["moe_intermediate_size"] = 32;
  config["n_shared_experts"] = 1;
  config["first_k_dense_replace"] = 1;
  const ModelSpec model = spec(config);
  ASSERT_EQ(model.layers.size(), 2U);
  EXPECT_EQ(model.layers[0].count, 1);
  EXPECT_EQ(model.layers[0].feed_forward.experts, 0);
  EXPECT_EQ(model.layers[1].feed_forward.experts, 16);
  EXPECT_EQ(model.layers[1].feed_forward.shared_intermediate, 32);
  config["num_experts_per_tok"] = 17;
  EXPECT_THAT(read(config).error().line(), HasSubstr("num_experts_per_tok"));
}

TEST(HfConfig, MixedLayerKinds) {
  json config = llama();
  config["model_type"] = "nemotron_h";
  config["hybrid_override_pattern"] = "M*-M";
  config["mamba_num_heads"] = 4;
  config["mamba_head_dim"] = 16;
  config["ssm_state_size"] = 8;
  const ModelSpec model = spec(config);
  EXPECT_EQ(model.layers.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<StateSpace>(model.layers[0].mixer));
  config["hybrid_override_pattern"] = "M*";
  EXPECT_FALSE(read(config));
  config["hybrid_override_pattern"] = "M*-X";
  EXPECT_FALSE(read(config));
}

TEST(HfConfig, TheTextPartOfAWrapper) {
  const json config = {{"model_type", "wrapper"},
                       {"text_config", llama()},
                       {"vision_config", {{"hidden_size", 32}, {"depth", 2}, {"intermediate_size", 64}}}};
  const ModelSpec model = spec(config);
  EXPECT_EQ(model.hidden, 64);
  EXPECT_DOUBLE_EQ(model.vision_parameters, 2 * (4 * 32 * 32 + 2 * 32 * 64));
}

TEST(HfConfig, AnUnknownArchitectureIsReadAndSaysSo) {
  json config = llama();
  config["model_type"] = "brand_new";
  const ModelSpec model = spec(config);
  ASSERT_EQ(model.approximations.size(), 1U);
  EXPECT_THAT(model.approximations[0], HasSubstr("brand_new"));
}

// quantization_config → formats of attention, dense block and head, and of the KV cache.
struct Quantised {
  const char* what;
  json settings;
  const char* attention;
  const char* mlp;
  const char* kv;
};
class Quantisation : public ::testing::TestWithParam<Quantised> {};
TEST_P(Quantisation, IsReadByRole) {
  json config = llama();
  config["quantization_config"] = GetParam().settings;
  const ModelSpec model = spec(config);
  EXPECT_EQ(model.stored(TensorRole::attention).format.name, GetParam().attention) << GetParam().what;
  EXPECT_EQ(model.stored(TensorRole::dense_mlp).format.name, GetParam().mlp) << GetParam().what;
  EXPECT_EQ(model.stored(TensorRole::head).format.name, "bf16") << GetParam().what;
  EXPECT_EQ(model.kv_format ? model.kv_format->name : "", GetParam().kv) << GetParam().what;
}
json group(int bits, const char* type, json extra, json inputs = nullptr) {
  json weights = {{"num_bits", bits}, {"type", type}};
  weights.update(extra);
  return {
      {"quant_method", "compressed-tensors"},
      {"config_groups", {{"group_0", {{"targets", {"Linear"}}, {"weights", weights}, {"input_activations", inputs}}}}}};
}
json ignoring(json settings, json ignore) {
  settings["ignore"] = std::move(ignore);
  return settings;
}
INSTANTIATE_TEST_SUITE_P(
    Methods, Quantisation,
    ::testing::Values(
        Quantised{
            "fp8 blocks", {{"quant_method", "fp8"}, {"weight_block_size", {128, 128}}}, "fp8-block", "fp8-block", ""},
        Quantised{"fp8", {{"quant_method", "fp8"}}, "fp8", "fp8", ""},
        Quantised{"awq", {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 128}}, "int4-g128", "int4-g128", ""},
        Quantised{"gptq 8", {{"quant_method", "gptq"}, {"bits", 8}, {"group_size", 128}}, "int8-g128", "int8-g128", ""},
        Quantised{"int4 groups of 32", group(4, "int", {{"group_size", 32}, {"symmetric", true}}), "int4-sym-g32",
                  "int4-sym-g32", ""},
        Quantised{"w8a8", group(8, "int", {{"strategy", "channel"}}, {{"num_bits", 8}, {"type", "int"}}), "w8a8-int8",
                  "w8a8-int8", ""},
        Quantised{
            "attention left alone",
            ignoring(group(8, "float", {{"strategy", "channel"}}, {{"num_bits", 8}}), {"lm_head", "re:.*self_attn.*"}),
            "bf16", "fp8", ""},
        Quantised{"three of four layers left alone",
                  ignoring(group(8, "float", json::object(), {{"num_bits", 8}}),
                           {"model.layers.0.self_attn.q_proj", "model.layers.1.self_attn*", "model.layers.2*"}),
                  "bf16", "fp8", ""},
        Quantised{"modelopt",
                  {{"quant_method", "modelopt"},
                   {"quant_algo", "NVFP4"},
                   {"kv_cache_quant_algo", "FP8"},
                   {"exclude_modules", {"lm_head"}}},
                  "nvfp4",
                  "nvfp4",
                  "fp8"},
        Quantised{"kv scheme",
                  {{"quant_method", "fp8"}, {"kv_cache_scheme", {{"num_bits", 8}, {"type", "float"}}}},
                  "fp8",
                  "fp8",
                  "fp8"},
        Quantised{"mixed",
                  {{"quant_method", "modelopt"},
                   {"quant_algo", "MIXED_PRECISION"},
                   {"quantized_layers",
                    {{"model.layers.0.self_attn.q_proj", {{"quant_algo", "FP8"}}},
                     {"model.layers.0.mlp.up_proj", {{"quant_algo", "NVFP4"}}}}}},
                  "fp8",
                  "nvfp4",
                  ""},
        Quantised{"bitsandbytes",
                  {{"quant_method", "bitsandbytes"}, {"load_in_4bit", true}, {"bnb_4bit_use_double_quant", true}},
                  "nf4-dq",
                  "nf4-dq",
                  ""},
        Quantised{"mxfp4: only experts", {{"quant_method", "mxfp4"}}, "bf16", "bf16", ""}));

TEST(HfConfig, AnUnknownQuantisationIsSaid) {
  json config = llama();
  config["quantization_config"] = {{"quant_method", "strange"}};
  EXPECT_THAT(spec(config).approximations.at(0), HasSubstr("strange"));
}

TEST(HfConfig, APatternCannotMakeTheReaderHang) {
  json config = llama();
  config["quantization_config"] = {{"quant_method", "fp8"}, {"ignore", {"re:(a+)+$" + std::string(100'000, 'a')}}};
  EXPECT_TRUE(read(config));
}

TEST(HfConfig, EveryRealFileIsRead) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/configs";
  const std::vector<std::string> files = folder_entries(folder);
  if (files.empty()) GTEST_SKIP() << "no real configs beside this checkout (shared/data/configs)";
  for (const std::string& file : files) {
    const auto text = read_text_file(folder + "/" + file);
    ASSERT_TRUE(text) << file;
    const auto model = read_hf_config(*text, file);
    ASSERT_TRUE(model) << model.error().line();
    EXPECT_GT(parameter_count(*model), 1e9) << file;
    EXPECT_LE(active_parameter_count(*model), parameter_count(*model)) << file;
  }
}

}  // namespace
}  // namespace corridor::model
