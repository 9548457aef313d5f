// SPDX-License-Identifier: Apache-2.0
// Reads the token mixer of each layer (attention, latent attention, linear attention, state space) from a config.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/model/hf_parts.h"

namespace corridor::model {
namespace {

constexpr std::int64_t most_heads = 100'000;
constexpr std::int64_t widest = 10'000'000;

/// Reads what all layers share once, then gives the mixer of each layer.
class MixerReader {
 public:
  MixerReader(HfConfig& config, std::int64_t layers) : c_(config), f_(config.text), layers_(layers) {}

  std::vector<Mixer> read();

 private:
  void read_shared();
  void note_strange_layers() const;
  void read_windows();
  void read_biases();
  std::vector<bool> windowed_layers();
  bool windowed_by_pattern(std::int64_t i, std::int64_t pattern) const { return (i + 1) % pattern != 0; }

  Mixer mixer(std::int64_t i);
  SoftmaxAttention softmax(std::int64_t i);
  LatentAttention latent(std::int64_t i);
  LinearAttention delta_net();
  LinearAttention kimi_delta();
  LinearAttention lightning();
  StateSpace mamba();
  SoftmaxAttention compressed(std::int64_t i);
  Mixer block_config(std::int64_t i);
  std::optional<Indexer> indexer(std::int64_t i);
  void adapt_gemma4(SoftmaxAttention& a, std::int64_t i);
  void adapt_mimo(SoftmaxAttention& a, std::int64_t i);
  std::vector<std::string> list_of_layers(const char* key);
  std::vector<std::int64_t> numbers_of_layers(const char* key, std::int64_t spare = 0);

  HfConfig& c_;
  Fields& f_;
  std::int64_t layers_;
  SoftmaxAttention base_;
  bool latent_ = false;
  std::int64_t window_ = 0;
  std::vector<std::string> kinds_;        // hybrid files: kind of each layer
  std::vector<std::string> layer_types_;  // layer_types
  std::vector<std::string> index_types_;  // indexer_types
  std::vector<std::int64_t> compress_;    // compress_ratios
  std::vector<std::int64_t> lightning_;   // attn_type_list: 0 = linear
  std::vector<std::int64_t> hybrid_;      // hybrid_layer_pattern: 1 = window
  std::vector<bool> kimi_linear_;         // linear_attn_config.kda_layers
  std::vector<std::int64_t> sparse_;      // sparse_attention_config.sparse_attention_freq
  std::vector<bool> windowed_;
};

std::vector<std::string> MixerReader::list_of_layers(const char* key) {
  std::vector<std::string> list = f_.texts({key});
  if (!list.empty() && static_cast<std::int64_t>(list.size()) != layers_) {
    f_.reject(fmt::format("{} has {} entries for {} layers", key, list.size(), layers_), "it must have one a layer");
    list.clear();
  }
  return list;
}

std::vector<std::int64_t> MixerReader::numbers_of_layers(const char* key, std::int64_t spare) {
  std::vector<std::int64_t> list = f_.integers({key});
  const auto size = static_cast<std::int64_t>(list.size());
  if (size != 0 && (size < layers_ || size > layers_ + spare)) {
    f_.reject(fmt::format("{} has {} entries for {} layers", key, size, layers_), "it must have one a layer");
    list.clear();
  }
  return list;
}

void MixerReader::note_strange_layers() const {
  static constexpr std::array known = {"full_attention",
                                       "sliding_attention",
                                       "chunked_attention",
                                       "local_attention",
                                       "global_attention",
                                       "linear_attention",
                                       "mamba",
                                       "attention",
                                       "local",
                                       "global",
                                       "deepseek_sparse_attention"};
  for (const std::string& type : layer_types_) {
    if (std::find(known.begin(), known.end(), type) != known.end()) continue;
    c_.note(fmt::format("layers of type \"{}\" are read as full attention", type.substr(0, 40)));
    return;
  }
}

void MixerReader::read_shared() {
  const std::int64_t hidden = c_.spec.hidden;
  base_.heads = f_.integer({"num_attention_heads", "n_head", "n_heads", "num_heads"}, std::nullopt, 1, most_heads);
  const bool one_kv_head = f_.boolean({"multi_query"}, false) && !f_.boolean({"new_decoder_architecture"}, false);
  base_.kv_heads = one_kv_head ? 1
                               : f_.integer({"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads",
                                             "multi_query_group_num", "num_query_groups"},
                                            base_.heads, 1, most_heads);
  latent_ = f_.integer({"kv_lora_rank"}, 0, 0, widest) > 0;
  const bool stated = f_.has({"head_dim", "attention_head_dim", "kv_channels"});
  if (!stated && !latent_ && base_.heads > 0 && hidden % base_.heads != 0) {
    f_.reject(fmt::format("hidden_size {} is no multiple of num_attention_heads {}", hidden, base_.heads),
              "state head_dim or correct one of them");
  }
  base_.qk_dim = f_.integer({"head_dim", "attention_head_dim", "kv_channels"},
                            hidden / std::max<std::int64_t>(base_.heads, 1), latent_ ? 0 : 1, widest);
  base_.v_dim = latent_ ? base_.qk_dim : f_.integer({"v_head_dim"}, base_.qk_dim, 1, widest);
  if (!latent_ && base_.kv_heads > 0 && base_.heads % base_.kv_heads != 0) {
    f_.reject(
        fmt::format("num_attention_heads {} is no multiple of num_key_value_heads {}", base_.heads, base_.kv_heads),
        "correct one of them");
  }
}

void MixerReader::read_biases() {
  const bool qwen_bias =
      c_.is({"qwen2", "qwen2_moe", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text", "qwen"});
  const bool all_bias = c_.is({"gpt2", "opt", "bloom", "gpt_neox", "gpt_bigcode", "phi"});
  base_.bias =
      f_.boolean({"attention_bias", "qkv_bias", "add_qkv_bias", "use_qkv_bias", "use_bias", "enable_bias", "bias"},
                 qwen_bias || all_bias);
  base_.output_bias = base_.bias && !qwen_bias && !f_.has({"qkv_bias", "add_qkv_bias", "use_qkv_bias"});
  if (c_.starts_with("glm")) base_.output_bias = false;
  base_.qk_norm =
      f_.boolean({"use_qk_norm", "qk_layernorm", "qk_norm"}, c_.starts_with("qwen3") || c_.starts_with("gemma3") ||
                                                                 c_.starts_with("gemma4") || c_.starts_with("olmo2"));
  if (c_.starts_with("llama4")) base_.qk_norm = false;  // its norm has no weights
  base_.output_gate = f_.boolean({"attn_output_gate", "attention_output_gate"},
                                 c_.starts_with("qwen3_next") || c_.starts_with("qwen3_5"));
}

void MixerReader::read_windows() {
  window_ = f_.integer({"attention_chunk_size", "sliding_window", "sliding_window_size"}, 0, 0);
  if (c_.starts_with("mimo")) window_ = f_.integer({"sliding_window", "sliding_window_size"}, 0, 0);
  if (!f_.boolean({"use_sliding_window"}, !c_.starts_with("qwen"))) window_ = 0;
  // A window as wide as the longest context hides nothing.
  if (c_.spec.max_positions > 0 && window_ >= c_.spec.max_positions) window_ = 0;
  if (window_ > 0) windowed_ = windowed_layers();
}

std::vector<bool> MixerReader::windowed_layers() {
  std::vector<bool> out(static_cast<std::size_t>(layers_), false);
  std::int64_t pattern = f_.integer({"sliding_window_pattern", "_sliding_window_pattern"},
                                    c_.starts_with("gemma2") ? 2 : (c_.starts_with("gemma3") ? 6 : 0), 0, 10'000);
  const std::int64_t first = c_.starts_with("qwen") ? f_.integer({"max_window_layers"}, 0, 0) : 0;
  std::vector<std::int64_t> rope = numbers_of_layers("no_rope_layers");
  if (c_.starts_with("llama4") && rope.empty()) pattern = f_.integer({"no_rope_layer_interval"}, 4, 1, 10'000);
  for (std::int64_t i = 0; i < layers_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!layer_types_.empty()) {
      out[at] = layer_types_[at] == "sliding_attention" || layer_types_[at] == "chunked_attention" ||
                layer_types_[at] == "local_attention" || layer_types_[at] == "local";
    } else if (!hybrid_.empty()) {
      out[at] = hybrid_[at] == 1;
    } else if (!rope.empty()) {
      out[at] = rope[at] != 0;
    } else if (pattern > 0) {
      out[at] = windowed_by_pattern(i, pattern);
    } else {
      out[at] = i >= first;
    }
  }
  return out;
}

std::optional<Indexer> MixerReader::indexer(std::int64_t i) {
  const std::int64_t top_k = f_.integer({"index_topk"}, 0, 0);
  if (top_k == 0) return std::nullopt;
  Indexer out;
  out.top_k = top_k;
  const auto at = static_cast<std::size_t>(i);
  if (!index_types_.empty() && index_types_[at] == "shared") return out;
  out.heads = f_.integer({"index_n_heads"}, std::nullopt, 1, most_heads);
  out.head_dim = f_.integer({"index_head_dim"}, std::nullopt, 1, widest);
  return out;
}

LatentAttention MixerReader::latent(std::int64_t i) {
  LatentAttention a;
  a.heads = base_.heads;
  a.q_rank = f_.integer({"q_lora_rank"}, 0, 0, widest);
  a.kv_rank = f_.integer({"kv_lora_rank"}, std::nullopt, 1, widest);
  a.nope_dim = f_.integer({"qk_nope_head_dim"}, std::nullopt, 0, widest);
  a.rope_dim = f_.integer({"qk_rope_head_dim"}, std::nullopt, 0, widest);
  a.v_dim = f_.integer({"v_head_dim"}, std::nullopt, 1, widest);
  a.output_gate = f_.boolean({"mla_use_output_gate"}, false);
  a.indexer = indexer(i);
  if (a.nope_dim + a.rope_dim == 0)
    f_.reject("qk_nope_head_dim and qk_rope_head_dim are both 0", "correct one of them");
  return a;
}

LinearAttention MixerReader::delta_net() {
  LinearAttention a;
  a.key_heads = f_.integer({"linear_num_key_heads"}, std::nullopt, 1, most_heads);
  a.value_heads = f_.integer({"linear_num_value_heads"}, std::nullopt, 1, most_heads);
  a.key_dim = f_.integer({"linear_key_head_dim"}, std::nullopt, 1, widest);
  a.value_dim = f_.integer({"linear_value_head_dim"}, std::nullopt, 1, widest);
  a.conv_width = f_.integer({"linear_conv_kernel_dim"}, 4, 0, 1'000);
  a.gate_size = a.value_heads * a.value_dim + 2 * a.value_heads;
  return a;
}

LinearAttention MixerReader::kimi_delta() {
  Fields linear(*f_.find({"linear_attn_config"}), f_.where());
  LinearAttention a;
  a.key_heads = a.value_heads = linear.integer({"num_heads"}, std::nullopt, 1, most_heads);
  a.key_dim = a.value_dim = linear.integer({"head_dim"}, std::nullopt, 1, widest);
  a.conv_width = linear.integer({"short_conv_kernel_size"}, 4, 0, 1'000);
  const bool full_rank = linear.boolean({"use_full_rank_gate"}, false);
  // The decay gate is low-rank; the output gate is too unless the file says full rank.
  a.low_rank_gates = full_rank ? 1 : 2;
  a.gate_rank = a.key_dim;
  a.gate_size = a.value_heads + (full_rank ? a.value_heads * a.value_dim : 0);
  if (linear.error()) f_.reject(linear.error()->what, linear.error()->fix);
  return a;
}

LinearAttention MixerReader::lightning() {
  LinearAttention a;
  a.key_heads = a.value_heads = base_.heads;
  a.key_dim = a.value_dim = base_.qk_dim;
  a.gate_size = base_.heads * base_.qk_dim;
  return a;
}

StateSpace MixerReader::mamba() {
  StateSpace s;
  s.heads = f_.integer({"mamba_num_heads", "mamba_n_heads"}, std::nullopt, 1, most_heads);
  s.head_dim = f_.integer({"mamba_head_dim", "mamba_d_head"}, std::nullopt, 1, widest);
  s.state = f_.integer({"ssm_state_size", "mamba_d_state"}, std::nullopt, 1, widest);
  s.groups = f_.integer({"n_groups", "mamba_n_groups"}, 1, 1, most_heads);
  s.conv_width = f_.integer({"conv_kernel", "mamba_d_conv"}, 4, 0, 1'000);
  return s;
}

/// DeepSeek-V4: a sliding window of plain entries, then entries that stand for several tokens each.
SoftmaxAttention MixerReader::compressed(std::int64_t i) {
  SoftmaxAttention a = base_;
  a.kv_heads = 1;
  a.shared_kv = true;
  a.q_rank = f_.integer({"q_lora_rank"}, 0, 0, widest);
  a.output_rank = f_.integer({"o_lora_rank"}, 0, 0, widest);
  a.output_groups = f_.integer({"o_groups"}, 1, 1, most_heads);
  const std::int64_t window = f_.integer({"sliding_window"}, 0, 0);
  if (window > 0) a.window = window;
  const std::int64_t ratio = compress_[static_cast<std::size_t>(i)];
  a.compress_ratio = std::max<std::int64_t>(ratio, 1);
  if (ratio > 1 && ratio <= 4) {
    a.indexer = indexer(i);
    if (a.indexer) a.indexer->compress_ratio = ratio;
  }
  c_.note("compressed attention is approximate: each layer reads its window and one entry for each group of tokens");
  return a;
}

void MixerReader::adapt_gemma4(SoftmaxAttention& a, std::int64_t i) {
  const bool full = !a.window;
  if (full) {
    a.qk_dim = a.v_dim = f_.integer({"global_head_dim"}, a.qk_dim, 1, widest);
    a.kv_heads = f_.integer({"num_global_key_value_heads"}, a.kv_heads, 1, most_heads);
    a.shared_kv = f_.boolean({"attention_k_eq_v"}, false);
  }
  a.reuses_kv = i >= layers_ - f_.integer({"num_kv_shared_layers"}, 0, 0, layers_);
}

void MixerReader::adapt_mimo(SoftmaxAttention& a, std::int64_t i) {
  if (hybrid_.empty() || hybrid_[static_cast<std::size_t>(i)] != 1) return;
  a.heads = f_.integer({"swa_num_attention_heads"}, a.heads, 1, most_heads);
  a.kv_heads = f_.integer({"swa_num_key_value_heads"}, a.kv_heads, 1, most_heads);
  a.qk_dim = f_.integer({"swa_head_dim"}, a.qk_dim, 1, widest);
  a.v_dim = f_.integer({"swa_v_head_dim"}, a.v_dim, 1, widest);
}

SoftmaxAttention MixerReader::softmax(std::int64_t i) {
  SoftmaxAttention a = base_;
  const auto at = static_cast<std::size_t>(i);
  if (window_ > 0 && windowed_[at]) a.window = window_;
  if (c_.starts_with("gemma4")) adapt_gemma4(a, i);
  adapt_mimo(a, i);
  if (!sparse_.empty() && sparse_[at] != 0) {
    Fields sparse(*f_.find({"sparse_attention_config"}), f_.where());
    Indexer out;
    out.heads = sparse.integer({"sparse_num_index_heads"}, std::nullopt, 1, most_heads);
    out.head_dim = sparse.integer({"sparse_index_dim"}, std::nullopt, 1, widest);
    out.top_k = sparse.integer({"sparse_topk_blocks"}, std::nullopt, 1, 1'000'000) *
                sparse.integer({"sparse_block_size"}, std::nullopt, 1, 1'000);
    if (sparse.error()) f_.reject(sparse.error()->what, sparse.error()->fix);
    a.indexer = out;
    c_.note("block-sparse attention is counted as a choice of single keys, as many as the chosen blocks hold");
  }
  return a;
}

/// Pruned models state each layer by itself (Nemotron NAS).
Mixer MixerReader::block_config(std::int64_t i) {
  const nlohmann::json& block = (*f_.find({"block_configs"}))[static_cast<std::size_t>(i)];
  Fields layer(block, f_.where());
  const nlohmann::json* attention = layer.find({"attention"});
  if (attention == nullptr || !attention->is_object()) {
    f_.reject(fmt::format("block_configs[{}] has no attention", i), "it must be an object");
    return NoMixer{};
  }
  Fields a(*attention, f_.where());
  if (a.boolean({"no_op"}, false)) return NoMixer{};
  if (a.boolean({"replace_with_linear"}, false)) {
    c_.note("attention layers replaced by one linear layer are left out");
    return NoMixer{};
  }
  SoftmaxAttention out = base_;
  const std::int64_t in_group = a.integer({"n_heads_in_group"}, std::nullopt, 1, most_heads);
  if (a.error()) f_.reject(a.error()->what, a.error()->fix);
  if (out.heads % in_group != 0) {
    f_.reject(fmt::format("n_heads_in_group {} does not divide num_attention_heads {}", in_group, out.heads),
              "correct it");
    return NoMixer{};
  }
  out.kv_heads = out.heads / in_group;
  return out;
}

Mixer MixerReader::mixer(std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  if (!kinds_.empty()) {
    if (kinds_[at] == "mamba") return mamba();
    if (kinds_[at] != "attention") return NoMixer{};
    return softmax(i);
  }
  if (!kimi_linear_.empty() && kimi_linear_[at]) return kimi_delta();
  if (!layer_types_.empty() && layer_types_[at] == "linear_attention") return delta_net();
  if (!layer_types_.empty() && layer_types_[at] == "mamba") return mamba();
  if (!lightning_.empty() && lightning_[at] == 0) return lightning();
  if (!compress_.empty()) return compressed(i);
  if (latent_) return latent(i);
  if (f_.has({"block_configs"})) return block_config(i);
  return softmax(i);
}

std::vector<Mixer> MixerReader::read() {
  read_shared();
  kinds_ = hybrid_layer_kinds(c_);
  layer_types_ = list_of_layers("layer_types");
  if (layer_types_.empty() && (c_.starts_with("qwen3_next") || c_.starts_with("qwen3_5"))) {
    const std::int64_t interval = f_.integer({"full_attention_interval"}, 4, 1, 10'000);
    for (std::int64_t i = 0; i < layers_; ++i) {
      layer_types_.push_back((i + 1) % interval == 0 ? "full_attention" : "linear_attention");
    }
  }
  note_strange_layers();
  index_types_ = list_of_layers("indexer_types");
  compress_ = numbers_of_layers("compress_ratios", 16);
  lightning_ = numbers_of_layers("attn_type_list");
  hybrid_ = numbers_of_layers("hybrid_layer_pattern");
  read_windows();
  read_biases();
  if (const nlohmann::json* sparse = f_.find({"sparse_attention_config"}); sparse != nullptr && sparse->is_object()) {
    Fields fields(*sparse, f_.where());
    sparse_ = fields.integers({"sparse_attention_freq"});
    if (static_cast<std::int64_t>(sparse_.size()) != layers_) sparse_.assign(static_cast<std::size_t>(layers_), 1);
  }
  if (const nlohmann::json* linear = f_.find({"linear_attn_config"}); linear != nullptr && linear->is_object()) {
    Fields fields(*linear, f_.where());
    kimi_linear_.assign(static_cast<std::size_t>(layers_), false);
    for (const std::int64_t layer : fields.integers({"kda_layers"}, 1, layers_)) {
      kimi_linear_[static_cast<std::size_t>(layer - 1)] = true;
    }
    if (fields.error()) f_.reject(fields.error()->what, fields.error()->fix);
  }
  if (const nlohmann::json* blocks = f_.find({"block_configs"});
      blocks != nullptr && (!blocks->is_array() || static_cast<std::int64_t>(blocks->size()) != layers_)) {
    f_.reject("block_configs has not one entry a layer", "it must have as many entries as num_hidden_layers");
  }
  std::vector<Mixer> out;
  for (std::int64_t i = 0; i < layers_ && !f_.error(); ++i) out.push_back(mixer(i));
  return out;
}

}  // namespace

std::vector<Mixer> read_mixers(HfConfig& config, std::int64_t layers) {
  return MixerReader(config, layers).read();
}

}  // namespace corridor::model
