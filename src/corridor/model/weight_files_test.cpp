// SPDX-License-Identifier: Apache-2.0
// safetensors and GGUF headers: small files made here, cut, bent and counted; and models in folders.
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/base/assets.h"
#include "corridor/base/file.h"
#include "corridor/model/gguf_file.h"
#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"

namespace corridor::model {
namespace {

using ::testing::HasSubstr;

template <class T>
std::string bytes_of(T value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}
std::string safetensors(const std::string& header, std::size_t data) {
  return bytes_of<std::uint64_t>(header.size()) + header + std::string(data, '\0');
}

TEST(Safetensors, ListsTensorsInFileOrder) {
  const std::string file = safetensors(R"({"__metadata__":{"format":"pt"},
    "b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]},"a":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}})",
                                       20);
  const auto tensors = read_safetensors_header(file, "x.safetensors");
  ASSERT_TRUE(tensors) << tensors.error().line();
  ASSERT_EQ(tensors->size(), 2U);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ((*tensors)[0].elements, 6);
  EXPECT_EQ((*tensors)[0].bytes, 12);
  EXPECT_EQ((*tensors)[1].type, "F32");
}

struct Bad {
  const char* header;
  const char* says;
};
class BadSafetensors : public ::testing::TestWithParam<Bad> {};
TEST_P(BadSafetensors, IsOneClearLine) {
  const auto tensors = read_safetensors_header(safetensors(GetParam().header, 16), "x.safetensors");
  ASSERT_FALSE(tensors);
  EXPECT_THAT(tensors.error().line(), HasSubstr(GetParam().says));
  EXPECT_THAT(tensors.error().line(), HasSubstr("x.safetensors"));
}
INSTANTIATE_TEST_SUITE_P(
    Headers, BadSafetensors,
    ::testing::Values(
        Bad{"{", "not valid JSON"}, Bad{"[]", "form"}, Bad{R"({"a":1})", "no object"},
        Bad{R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})",
            "twice"},
        Bad{R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,32]}})", "disagree"},
        Bad{R"({"a":{"dtype":"F32","shape":[8],"data_offsets":[0,32]}})", "ends at byte 32"},
        Bad{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
            "overlaps"},
        Bad{R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "size in its shape"},
        Bad{R"({"a":{"dtype":"F32","shape":[1e30],"data_offsets":[0,4]}})", "size in its shape"},
        Bad{R"({"a":{"dtype":"F32","shape":[1000000000,1000000000],"data_offsets":[0,4]}})", "1e15"},
        Bad{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "no range"},
        Bad{R"({"a":{"dtype":"F32","shape":[1]}})", "data_offsets"},
        Bad{R"({"a":{"shape":[1],"data_offsets":[0,4]}})", "dtype"}));

TEST(Safetensors, LengthsThatCannotBe) {
  for (const std::uint64_t length : {std::uint64_t{1} << 60U, std::uint64_t{100}, UINT64_MAX}) {
    EXPECT_FALSE(read_safetensors_header(bytes_of(length) + "{}", "x"));
  }
  EXPECT_FALSE(read_safetensors_header("", "x"));
  EXPECT_FALSE(read_safetensors_header("1234567", "x"));
}

/// Builds a GGUF file.
class Gguf {
 public:
  Gguf& number(const std::string& key, std::uint32_t value) { return pair(key, 4, bytes_of(value)); }
  Gguf& text(const std::string& key, const std::string& value) { return pair(key, 8, string(value)); }
  Gguf& pair(const std::string& key, std::uint32_t kind, const std::string& value) {
    pairs_ += string(key) + bytes_of(kind) + value;
    ++pair_count_;
    return *this;
  }
  Gguf& tensor(const std::string& name, std::vector<std::uint64_t> shape, std::uint32_t type, std::uint64_t bytes) {
    tensors_ += string(name) + bytes_of(static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t size : shape) tensors_ += bytes_of(size);
    tensors_ += bytes_of(type) + bytes_of(offset_);
    offset_ += (bytes + 31) / 32 * 32;
    ++tensor_count_;
    return *this;
  }
  [[nodiscard]] std::string file(std::uint32_t version = 3) const {
    std::string out = "GGUF" + bytes_of(version) + bytes_of(tensor_count_) + bytes_of(pair_count_) + pairs_ + tensors_;
    out.resize((out.size() + 31) / 32 * 32 + static_cast<std::size_t>(offset_));
    return out;
  }

 private:
  static std::string string(const std::string& text) { return bytes_of<std::uint64_t>(text.size()) + text; }
  std::string pairs_, tensors_;
  std::uint64_t pair_count_ = 0, tensor_count_ = 0, offset_ = 0;
};

Gguf small_llama() {
  Gguf g;
  g.text("general.architecture", "llama").number("llama.block_count", 1).number("llama.embedding_length", 256);
  g.number("llama.feed_forward_length", 512)
      .number("llama.attention.head_count", 4)
      .number("llama.context_length", 100);
  g.number("llama.attention.head_count_kv", 2);
  g.tensor("token_embd.weight", {256, 1000}, 12, 1000 * 144);
  g.tensor("blk.0.attn_q.weight", {256, 256}, 12, 256 * 144).tensor("blk.0.attn_k.weight", {256, 128}, 12, 128 * 144);
  g.tensor("blk.0.attn_v.weight", {256, 128}, 14, 128 * 210)
      .tensor("blk.0.attn_output.weight", {256, 256}, 12, 256 * 144);
  g.tensor("blk.0.ffn_gate.weight", {256, 512}, 12, 512 * 144).tensor("blk.0.ffn_up.weight", {256, 512}, 12, 512 * 144);
  g.tensor("blk.0.ffn_down.weight", {512, 256}, 14, 512 * 210);
  g.tensor("blk.0.attn_norm.weight", {256}, 0, 1024).tensor("blk.0.ffn_norm.weight", {256}, 0, 1024);
  g.tensor("output_norm.weight", {256}, 0, 1024).tensor("output.weight", {256, 1000}, 14, 1000 * 210);
  return g;
}

TEST(GgufReader, ShapesAndBytesByRole) {
  const auto model = read_gguf(small_llama().file(), "x.gguf");
  ASSERT_TRUE(model) << model.error().line();
  EXPECT_EQ(model->hidden, 256);
  EXPECT_EQ(model->vocab, 1000);
  EXPECT_FALSE(model->tied_embeddings);
  const RoleStorage& attention = model->stored(TensorRole::attention);
  EXPECT_EQ(attention.format.name, "q4_k");
  EXPECT_EQ(attention.stored_bytes, (256 + 128 + 256) * 144 + 128 * 210);
  EXPECT_EQ(attention.elements, 256 * 768);
  EXPECT_EQ(model->stored(TensorRole::head).format.name, "q6_k");
  const double all = 1000 * 144 + 1000 * 210 + 640 * 144 + 128 * 210 + 1024 * 144 + 512 * 210 + 3 * 1024;
  EXPECT_NEAR(weight_bytes(*model), all, 1);
  EXPECT_TRUE(model->approximations.empty());
}

TEST(GgufReader, LatentAttentionAndExperts) {
  // The dimensions of DeepSeek-V2-Lite as its GGUF files state them: latent as the one key head, true sizes under _mla.
  Gguf g;
  g.text("general.architecture", "deepseek2").number("deepseek2.block_count", 27);
  g.number("deepseek2.embedding_length", 2048).number("deepseek2.feed_forward_length", 10944);
  g.number("deepseek2.attention.head_count", 16).number("deepseek2.attention.head_count_kv", 1);
  g.number("deepseek2.attention.kv_lora_rank", 512).number("deepseek2.attention.key_length", 576);
  g.number("deepseek2.attention.key_length_mla", 192).number("deepseek2.attention.value_length_mla", 128);
  g.number("deepseek2.rope.dimension_count", 64).number("deepseek2.leading_dense_block_count", 1);
  g.number("deepseek2.expert_count", 64).number("deepseek2.expert_used_count", 6);
  g.number("deepseek2.expert_shared_count", 2).number("deepseek2.expert_feed_forward_length", 1408);
  g.number("deepseek2.vocab_size", 102400);
  g.tensor("token_embd.weight", {2048, 1}, 0, 8192).tensor("output.weight", {2048, 1}, 0, 8192);
  const auto model = read_gguf(g.file(), "x.gguf");
  ASSERT_TRUE(model) << model.error().line();
  EXPECT_DOUBLE_EQ(parameter_count(*model), 15'706'484'224);
  ASSERT_EQ(model->approximations.size(), 1U);  // the tensors above are not the whole model
  EXPECT_THAT(model->approximations[0], HasSubstr("tensors hold"));
}

TEST(GgufReader, ErrorsNameTheKeyOfTheFile) {
  Gguf g;
  g.text("general.architecture", "llama").number("llama.block_count", 2).number("llama.embedding_length", 64);
  g.number("llama.attention.head_count", 0).tensor("token_embd.weight", {64, 10}, 0, 2560);
  const auto model = read_gguf(g.file(), "x.gguf");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().line(), HasSubstr("llama.attention.head_count is 0"));
}

TEST(GgufReader, NoWeightsIsSaid) {
  Gguf g;
  g.text("general.architecture", "llama").number("llama.block_count", 1);
  const auto model = read_gguf(g.file(), "x.gguf");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().line(), HasSubstr("no tensors"));
}

TEST(GgufReader, AVocabularyOnlyIsSaid) {
  Gguf g;
  const std::string tokens = bytes_of<std::uint32_t>(8) + bytes_of<std::uint64_t>(1) + bytes_of<std::uint64_t>(1) + "a";
  g.text("general.architecture", "llama").number("llama.block_count", 1).pair("tokenizer.ggml.tokens", 9, tokens);
  EXPECT_THAT(read_gguf(g.file(), "x.gguf").error().line(), HasSubstr("vocabulary only, no weights"));
}

TEST(GgufReader, AFileCopiedAsTextIsSaid) {
  std::string file = small_llama().file();
  file.replace(24, 3, "\xEF\xBF\xBD");
  EXPECT_THAT(read_gguf(file, "x.gguf").error().line(), HasSubstr("copied as text"));
}

TEST(GgufReader, EveryCutIsAnErrorAndNeverACrash) {
  const std::string file = small_llama().file();
  const auto whole = read_gguf_file(file, "x.gguf");
  ASSERT_TRUE(whole);
  for (std::size_t size = 0; size < static_cast<std::size_t>(whole->data_begin) - 32; ++size) {
    EXPECT_FALSE(read_gguf(std::string_view(file).substr(0, size), "x.gguf")) << size;
  }
}

TEST(GgufReader, EveryChangedByteIsAnAnswer) {
  const std::string file = small_llama().file();
  for (std::size_t i = 0; i < 1200 && i < file.size(); ++i) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string bent = file;
      bent[i] = value;
      const auto model = read_gguf(bent, "x.gguf");
      if (model) continue;
      EXPECT_THAT(model.error().line(), HasSubstr("x.gguf"));
    }
  }
}

TEST(GgufReader, CountsAndTypesThatCannotBe) {
  std::string file = small_llama().file();
  const std::string huge = bytes_of<std::uint64_t>(std::uint64_t{1} << 60U);
  EXPECT_FALSE(read_gguf(std::string(file).replace(8, 8, huge), "x"));
  EXPECT_FALSE(read_gguf(std::string(file).replace(16, 8, huge), "x"));
  EXPECT_FALSE(read_gguf(small_llama().file(1), "x"));
  EXPECT_FALSE(read_gguf(small_llama().tensor("a", {32}, 99, 32).file(), "x"));
  EXPECT_FALSE(read_gguf(small_llama().tensor("a", {33}, 2, 32).file(), "x"));
  EXPECT_FALSE(read_gguf(small_llama().number("llama.block_count", 2).file(), "x"));
  Gguf nested;
  std::string lists;
  for (int i = 0; i < 10; ++i) lists += bytes_of<std::uint32_t>(9) + bytes_of<std::uint64_t>(1);
  EXPECT_FALSE(read_gguf(nested.pair("a", 9, lists).file(), "x"));
}

TEST(GgufReader, RealFiles) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/gguf";
  const std::vector<std::string> files = folder_entries(folder);
  if (files.empty()) GTEST_SKIP() << "no real GGUF files beside this checkout (shared/data/gguf)";
  const Result<Assets> assets = Assets::open();
  for (const std::string& file : files) {
    const auto model = find_model(*assets, folder + "/" + file);
    ASSERT_FALSE(model) << file << " holds no whole model";
    EXPECT_THAT(model.error().line(), HasSubstr(file));
  }
}

class ModelFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "corridor_model_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  void put(const std::string& file, const std::string& text) const {
    std::ofstream(path_ + "/" + file, std::ios::binary) << text;
  }
  std::string path_;
};

constexpr const char* config = R"({"model_type":"llama","num_hidden_layers":1,"hidden_size":8,"num_attention_heads":2,
  "intermediate_size":16,"vocab_size":10})";

TEST_F(ModelFolder, RealBytesFromSafetensors) {
  put("config.json", config);
  // q in fp8 with a scale, k, v and o in bf16: 64 + 4 + 3 · 128 bytes for 256 weights.
  put("model.safetensors", safetensors(R"({
    "model.layers.0.self_attn.q_proj.weight":{"dtype":"F8_E4M3","shape":[8,8],"data_offsets":[0,64]},
    "model.layers.0.self_attn.q_proj.weight_scale":{"dtype":"F32","shape":[1],"data_offsets":[64,68]},
    "model.layers.0.self_attn.k_proj.weight":{"dtype":"BF16","shape":[8,8],"data_offsets":[68,196]},
    "model.layers.0.self_attn.v_proj.weight":{"dtype":"BF16","shape":[8,8],"data_offsets":[196,324]},
    "model.layers.0.self_attn.o_proj.weight":{"dtype":"BF16","shape":[8,8],"data_offsets":[324,452]}})",
                                       452));
  const auto model = find_model(*Assets::open(), path_);
  ASSERT_TRUE(model) << model.error().line();
  EXPECT_EQ(model->model.stored(TensorRole::attention).stored_bytes, 452);
  EXPECT_EQ(model->model.stored(TensorRole::attention).elements, 256);
  EXPECT_FALSE(model->model.stored(TensorRole::dense_mlp).stored_bytes);
}

TEST_F(ModelFolder, TheSameWeightsTwiceCountOnce) {
  put("config.json", config);
  const std::string head =
      safetensors(R"({"lm_head.weight":{"dtype":"BF16","shape":[10,8],"data_offsets":[0,160]}})", 160);
  put("model.safetensors", head);
  put("consolidated.safetensors", head);
  const auto model = find_model(*Assets::open(), path_);
  ASSERT_TRUE(model) << model.error().line();
  EXPECT_EQ(model->model.stored(TensorRole::head).stored_bytes, 160);
}

TEST_F(ModelFolder, WeightsOfAnotherModelAreNoted) {
  put("config.json", config);
  put("model.safetensors",
      safetensors(R"({"lm_head.weight":{"dtype":"BF16","shape":[1000,8],"data_offsets":[0,16000]}})", 16000));
  const auto model = find_model(*Assets::open(), path_);
  ASSERT_TRUE(model) << model.error().line();
  ASSERT_FALSE(model->model.approximations.empty());
  EXPECT_THAT(model->model.approximations[0], HasSubstr("are they of the same model?"));
}

TEST_F(ModelFolder, ShardsOfAnIndexThatAreNotThere) {
  put("config.json", config);
  put("model-1.safetensors",
      safetensors(R"({"lm_head.weight":{"dtype":"BF16","shape":[10,8],"data_offsets":[0,160]}})", 160));
  put("model.safetensors.index.json",
      R"({"weight_map":{"lm_head.weight":"model-1.safetensors","a":"model-2.safetensors"}})");
  const auto model = find_model(*Assets::open(), path_);
  ASSERT_TRUE(model) << model.error().line();
  EXPECT_FALSE(model->model.stored(TensorRole::head).stored_bytes);
  ASSERT_EQ(model->model.approximations.size(), 1U);
  EXPECT_THAT(model->model.approximations[0], HasSubstr("1 of 2 weight files"));
  put("model.safetensors.index.json", R"({"weight_map":{"a":"../../etc/passwd"}})");
  EXPECT_FALSE(find_model(*Assets::open(), path_));
}

TEST_F(ModelFolder, WeightsWithoutConfigAskForIt) {
  put("model.safetensors", safetensors(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 16));
  const auto model = find_model(*Assets::open(), path_ + "/model.safetensors");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().line(), HasSubstr("config.json"));
}

TEST_F(ModelFolder, AFolderWithoutAModel) {
  EXPECT_THAT(find_model(*Assets::open(), path_).error().line(), HasSubstr("no config.json"));
}

TEST_F(ModelFolder, ACutGgufFileIsRefused) {
  const std::string file = small_llama().file();
  put("m.gguf", file);
  EXPECT_TRUE(find_model(*Assets::open(), path_));
  put("m.gguf", file.substr(0, file.size() - 1000));
  EXPECT_THAT(find_model(*Assets::open(), path_ + "/m.gguf").error().line(), HasSubstr("cut short"));
}

TEST_F(ModelFolder, SidecarQuantisation) {
  put("config.json", config);
  put("hf_quant_config.json", R"({"quantization":{"quant_algo":"FP8","kv_cache_quant_algo":"FP8"}})");
  const auto model = find_model(*Assets::open(), path_);
  ASSERT_TRUE(model) << model.error().line();
  EXPECT_EQ(model->model.stored(TensorRole::dense_mlp).format.name, "fp8");
  EXPECT_EQ(model->model.kv_format->name, "fp8");
}

}  // namespace
}  // namespace corridor::model
