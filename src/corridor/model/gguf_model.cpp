// SPDX-License-Identifier: Apache-2.0
// From GGUF metadata and tensors to a ModelSpec: the metadata is put under the names of a Hugging Face config and read
// by the same reader, then formats and bytes are taken from the tensors.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/model/gguf_file.h"
#include "corridor/model/matrices.h"
#include "corridor/model/stored_tensors.h"
#include "corridor/model/tensor_names.h"

namespace corridor::model {
namespace {

using nlohmann::json;

constexpr double most_difference = 0.02;  // tensors against shapes, before it is said

struct Pair {
  std::string_view gguf;
  const char* config;
};

constexpr std::array<Pair, 36> architectures{{
    {"llama4", "llama4_text"},    {"qwen2moe", "qwen2_moe"},
    {"qwen3moe", "qwen3_moe"},    {"qwen3next", "qwen3_next"},
    {"qwen35", "qwen3_5_text"},   {"qwen35moe", "qwen3_5_moe_text"},
    {"qwen3vl", "qwen3"},         {"qwen3vlmoe", "qwen3_moe"},
    {"qwen2vl", "qwen2"},         {"gemma3", "gemma3_text"},
    {"gemma4", "gemma4_text"},    {"phi2", "phi"},
    {"deepseek2", "deepseek_v2"}, {"deepseek32", "deepseek_v32"},
    {"gpt-oss", "gpt_oss"},       {"glm4moe", "glm4_moe"},
    {"chatglm", "chatglm"},       {"gptneox", "gpt_neox"},
    {"command-r", "cohere"},      {"minimax-m2", "minimax_m2"},
    {"deci", "nemotron-nas"},     {"starcoder", "gpt_bigcode"},
    {"mistral3", "mistral"},      {"nemotron_h_moe", "nemotron_h"},
    {"glm-dsa", "glm_moe_dsa"},   {"ernie4_5-moe", "ernie4_5_moe"},
    {"seed_oss", "seed_oss"},     {"smollm3", "smollm3"},
    {"internlm2", "internlm2"},   {"baichuan", "baichuan"},
    {"granite", "granite"},       {"exaone", "exaone"},
    {"olmo2", "olmo2"},           {"orion", "llama"},
    {"mixtral", "mixtral"},       {"kimi-linear", "kimi_linear"},
}};

// Metadata keys (after the architecture's prefix) that are one number, and the config key they stand for.
constexpr std::array<Pair, 36> number_keys{{
    {"embedding_length", "hidden_size"},
    {"context_length", "max_position_embeddings"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.chunk_size", "attention_chunk_size"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.indexer.head_count", "index_n_heads"},
    {"attention.indexer.key_length", "index_head_dim"},
    {"attention.indexer.top_k", "index_topk"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length", "moe_shared_expert_intermediate_size"},
    {"expert_shared_count", "n_shared_experts"},
    {"leading_dense_block_count", "first_k_dense_replace"},
    {"interleave_moe_layer_step", "interleave_moe_layer_step"},
    {"nextn_predict_layers", "num_nextn_predict_layers"},
    {"ssm.conv_kernel", "linear_conv_kernel_dim"},
    {"ssm.group_count", "linear_num_key_heads"},
    {"ssm.state_size", "linear_key_head_dim"},
    {"ssm.time_step_rank", "linear_num_value_heads"},
    {"full_attention_interval", "full_attention_interval"},
    {"attention.sliding_window_pattern", "sliding_window_pattern"},
    {"attention.shared_kv_layers", "num_kv_shared_layers"},
    {"moe_latent_size", "moe_latent_size"},
    {"vocab_size", "vocab_size"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.value_length", "v_head_dim"},
    {"block_count", "num_hidden_layers"},
    {"attention.compress_ratio", "compress_ratio"},
    {"attention.output_lora_rank", "o_lora_rank"},
    {"attention.output_group_count", "o_groups"},
    {"moe_every_n_layers", "moe_layer_freq"},
}};

class GgufModel {
 public:
  GgufModel(const std::vector<GgufFile>& parts, const std::string& where)
      : parts_(parts), head_(parts.front()), where_(where) {}
  Result<ModelSpec> read();

 private:
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& key) const {
    return head_.integer(architecture_ + "." + key);
  }
  [[nodiscard]] const StoredTensor* tensor(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return tensor(name) != nullptr; }
  [[nodiscard]] std::optional<Error> missing() const;
  json config();
  void fill_vocab(json& c) const;
  void fill_latent(json& c) const;
  void fill_state_space(json& c) const;
  void fill_lists(json& c) const;
  void fill_tensor_facts(json& c) const;
  void set_storage(ModelSpec& spec) const;

  const std::vector<GgufFile>& parts_;
  const GgufFile& head_;
  std::string where_;
  std::string architecture_;
  std::int64_t layers_ = 0;
};

const StoredTensor* GgufModel::tensor(std::string_view name) const {
  for (const GgufFile& part : parts_) {
    for (const StoredTensor& one : part.tensors) {
      if (one.name == name) return &one;
    }
  }
  return nullptr;
}

std::optional<Error> GgufModel::missing() const {
  const std::string fix = "give the GGUF file of a language model";
  std::size_t tensors = 0;
  for (const GgufFile& part : parts_) tensors += part.tensors.size();
  if (architecture_.empty()) return Error{"general.architecture is missing", where_, fix};
  if (tensors == 0) {
    const bool vocabulary = head_.list_sizes.count("tokenizer.ggml.tokens") != 0;
    return Error{vocabulary ? "holds a vocabulary only, no weights" : "holds no tensors", where_, fix};
  }
  for (const std::string_view encoder :
       {"bert", "nomic-bert", "jina-bert-v2", "t5encoder", "clip", "wavtokenizer-dec"}) {
    if (architecture_ == encoder)
      return Error{"holds a " + architecture_ + " model, which generates no text", where_, fix};
  }
  for (const char* key : {"block_count", "embedding_length"}) {
    if (!number(key)) return Error{fmt::format("{}.{} is missing or no whole number", architecture_, key), where_, fix};
  }
  const std::int64_t blocks = *number("block_count");
  if (blocks < 1 || blocks > 10'000) {
    return Error{fmt::format("{}.block_count is {}", architecture_, blocks), where_, "it must be from 1 to 10000"};
  }
  return std::nullopt;
}

void GgufModel::fill_vocab(json& c) const {
  if (c.contains("vocab_size")) return;
  if (const StoredTensor* table = tensor("token_embd.weight"); table != nullptr && table->shape.size() == 2) {
    c["vocab_size"] = table->shape[1];
  } else if (const auto it = head_.list_sizes.find("tokenizer.ggml.tokens"); it != head_.list_sizes.end()) {
    c["vocab_size"] = it->second;
  }
}

/// Latent attention: newer files state the latent as the one key head and the heads' own sizes under *_mla.
void GgufModel::fill_latent(json& c) const {
  if (number("attention.kv_lora_rank").value_or(0) <= 0) return;
  const auto bounded = [](std::optional<std::int64_t> x) { return x ? std::clamp<std::int64_t>(*x, 0, 1'000'000) : 0; };
  const std::int64_t rope = bounded(number("rope.dimension_count") ? number("rope.dimension_count") : 64);
  const auto key =
      number("attention.key_length_mla") ? number("attention.key_length_mla") : number("attention.key_length");
  const auto value =
      number("attention.value_length_mla") ? number("attention.value_length_mla") : number("attention.value_length");
  c["qk_rope_head_dim"] = rope;
  if (key) c["qk_nope_head_dim"] = std::max<std::int64_t>(bounded(key) - rope, 0);
  if (value) c["v_head_dim"] = *value;
  c.erase("head_dim");
  c.erase("num_key_value_heads");
}

void GgufModel::fill_state_space(json& c) const {
  const auto state = number("ssm.state_size");
  if (!state) return;
  const auto inner = number("ssm.inner_size");
  const auto heads = number("ssm.time_step_rank");
  if (c["model_type"] == "nemotron_h") {
    c["ssm_state_size"] = *state;
    c["n_groups"] = number("ssm.group_count").value_or(1);
    c["conv_kernel"] = number("ssm.conv_kernel").value_or(4);
    if (heads && inner && *heads > 0) c["mamba_num_heads"] = *heads;
    if (heads && inner && *heads > 0) c["mamba_head_dim"] = *inner / *heads;
    json kinds = json::array();
    for (std::int64_t i = 0; i < layers_; ++i) {
      const std::string blk = fmt::format("blk.{}.", i);
      const bool experts = has(blk + "ffn_gate_inp.weight");
      const bool attention = has(blk + "attn_q.weight");
      kinds.push_back(has(blk + "ssm_in.weight") ? "mamba" : (attention ? "attention" : (experts ? "moe" : "mlp")));
    }
    c["layers_block_type"] = kinds;
  } else if (inner && heads && *heads > 0) {
    c["linear_value_head_dim"] = *inner / *heads;
  }
}

/// Lists of one number a layer: equal entries become one number; different ones describe each layer.
void GgufModel::fill_lists(json& c) const {
  const auto list = [&](const char* key) { return head_.list(architecture_ + "." + key); };
  const auto usual = [](const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); };
  const std::vector<double>* kv = list("attention.head_count_kv");
  const std::vector<double>* heads = list("attention.head_count");
  const std::vector<double>* widths = list("feed_forward_length");
  const auto bounded = [](double value) { return value >= 0 && value <= 1e9 ? static_cast<std::int64_t>(value) : -1; };
  for (const auto& [values, key] : {std::pair(kv, "num_key_value_heads"), std::pair(heads, "num_attention_heads"),
                                    std::pair(widths, "intermediate_size")}) {
    if (values != nullptr && !values->empty()) c[key] = bounded(usual(*values));
  }
  const auto size = static_cast<std::size_t>(layers_);
  if (architecture_ == "deci" && kv != nullptr && widths != nullptr && heads != nullptr && kv->size() == size &&
      widths->size() == size && heads->size() == size) {
    json blocks = json::array();
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t groups = bounded((*kv)[i]);
      const std::int64_t width = bounded((*widths)[i]);
      json attention{{"no_op", groups <= 0}};
      if (groups > 0) attention["n_heads_in_group"] = bounded((*heads)[i]) / groups;
      json ffn{{"no_op", width <= 0}};
      if (width > 0) ffn["intermediate_size"] = width;
      blocks.push_back({{"attention", attention}, {"ffn", ffn}});
    }
    c["block_configs"] = blocks;
  }
  if (const std::vector<double>* windows = list("attention.sliding_window_pattern");
      windows != nullptr && windows->size() >= size) {
    json types = json::array();
    for (std::size_t i = 0; i < size; ++i) types.push_back((*windows)[i] != 0 ? "sliding_attention" : "full_attention");
    c["layer_types"] = types;
    c.erase("sliding_window_pattern");
  }
}

void GgufModel::fill_tensor_facts(json& c) const {
  c["tie_word_embeddings"] = !has("output.weight");
  if (has("blk.0.attn_q.bias") || has("blk.0.attn_qkv.bias")) {
    c[c["model_type"] == "qwen2" || c["model_type"] == "qwen2_moe" ? "qkv_bias" : "attention_bias"] = true;
  }
  if (has("blk.0.attn_q_norm.weight")) c["use_qk_norm"] = true;
  if (c["model_type"] == "gpt_oss" && !c.contains("layer_types")) c["sliding_window_pattern"] = 2;
  // Files of the smaller latent-attention models state the shared experts' count and one expert's width.
  if (!c.contains("moe_intermediate_size") && c.contains("num_experts") && c.contains("intermediate_size")) {
    c["moe_intermediate_size"] = c["intermediate_size"];
  }
  if (c.contains("moe_shared_expert_intermediate_size") && c.contains("n_shared_experts")) {
    c.erase("moe_shared_expert_intermediate_size");
  }
}

json GgufModel::config() {
  json c = json::object();
  std::string type = architecture_;
  for (const Pair& pair : architectures) {
    if (pair.gguf == architecture_) type = pair.config;
  }
  c["model_type"] = type;
  for (const Pair& pair : number_keys) {
    if (const auto value = number(std::string(pair.gguf))) c[pair.config] = *value;
  }
  if (type == "llama" && number("expert_count").value_or(0) > 1) c["model_type"] = "mixtral";
  layers_ = *number("block_count") - std::clamp<std::int64_t>(number("nextn_predict_layers").value_or(0), 0, 1'000);
  layers_ = std::max<std::int64_t>(layers_, 1);
  c["num_hidden_layers"] = layers_;
  fill_lists(c);
  fill_vocab(c);
  fill_latent(c);
  fill_state_space(c);
  fill_tensor_facts(c);
  return c;
}

WeightFormat block_format(const std::string& type) {
  std::string known = type == "MXFP4" ? "mxfp4-a16" : type;
  return find_weight_format(known).value_or(WeightFormat{known, 0, "bf16", ComputeClass::weight_only});
}

void GgufModel::set_storage(ModelSpec& spec) const {
  RoleTotals totals;
  for (const GgufFile& part : parts_) {
    for (const StoredTensor& one : part.tensors) {
      TensorRole role = gguf_tensor_role(one.name);
      const auto layer = layer_index(one.name);
      if (layer && *layer >= layers_) role = TensorRole::mtp;
      totals.add(role, one);
    }
  }
  for (std::size_t i = 0; i < tensor_role_count; ++i) {
    const auto role = static_cast<TensorRole>(i);
    if (totals.elements[i] <= 0) continue;
    RoleStorage& storage = spec.stored(role);
    storage.format = block_format(totals.main_type(role));
    storage.stored_bytes = totals.bytes[i];
    storage.elements = totals.elements[i];
  }
  // A tied table is read as the head.
  if (spec.tied_embeddings) spec.stored(TensorRole::head) = spec.stored(TensorRole::embedding);
  const double held = totals.all_elements() - totals.elements[static_cast<std::size_t>(TensorRole::mtp)];
  const double shaped = parameter_count(spec);
  if (shaped > 0 && std::abs(held / shaped - 1) > most_difference) {
    spec.approximations.push_back(
        fmt::format("the tensors hold {:.3g} weights, the shapes read give {:.3g}", held, shaped));
  }
}

Result<ModelSpec> GgufModel::read() {
  architecture_ = head_.text("general.architecture").substr(0, 60);
  if (const auto error = missing()) return tl::unexpected<Error>(*error);
  const std::string text = config().dump(-1, ' ', true, json::error_handler_t::replace);
  Result<ModelSpec> spec = read_hf_config(text, where_);
  if (!spec) {
    // The reader names config keys; say under which name this file holds the value.
    Error error = spec.error();
    for (const Pair& pair : number_keys) {
      if (error.what.rfind(std::string(pair.config) + " ", 0) == 0) {
        error.what =
            fmt::format("{}.{}{}", architecture_, pair.gguf, error.what.substr(std::string_view(pair.config).size()));
        break;
      }
    }
    return tl::unexpected<Error>(error);
  }
  spec->source = "GGUF";
  spec->architecture = architecture_;
  if (const std::string name = head_.text("general.name"); !name.empty()) spec->name = name.substr(0, 120);
  set_storage(*spec);
  return spec;
}

}  // namespace

Result<ModelSpec> gguf_model(const std::vector<GgufFile>& parts, const std::string& where) {
  if (parts.empty()) return fail("no GGUF file", where, "give a file");
  return GgufModel(parts, where).read();
}

Result<ModelSpec> read_gguf(std::string_view file, const std::string& where) {
  std::vector<GgufFile> parts;
  Result<GgufFile> one = read_gguf_file(file, where);
  if (!one) return tl::unexpected<Error>(one.error());
  parts.push_back(std::move(*one));
  return gguf_model(parts, where);
}

}  // namespace corridor::model
