// SPDX-License-Identifier: Apache-2.0
// Reads the feed-forward block of each layer (dense, mixture of experts, shared experts) from a config.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/model/hf_parts.h"

namespace corridor::model {
namespace {

constexpr std::int64_t widest = 100'000'000;

class FeedForwardReader {
 public:
  FeedForwardReader(HfConfig& config, std::int64_t layers) : c_(config), f_(config.text), layers_(layers) {}
  std::vector<FeedForward> read();

 private:
  void read_dense();
  void read_experts();
  void read_shared_experts();
  void read_places();
  bool sparse(std::int64_t i) const;
  FeedForward block_config(std::int64_t i);
  FeedForward layer(std::int64_t i);
  std::vector<std::int64_t> places(const char* key);

  HfConfig& c_;
  Fields& f_;
  std::int64_t layers_;
  FeedForward dense_;
  FeedForward moe_;
  std::vector<std::string> kinds_;
  std::vector<bool> sparse_;
};

void FeedForwardReader::read_dense() {
  const bool wide_default = c_.is({"gpt2", "gptj", "bloom", "falcon", "gpt_bigcode", "mpt"});
  const std::int64_t fallback = wide_default ? 4 * c_.spec.hidden : 0;
  dense_.intermediate = f_.integer({"dense_intermediate_size", "intermediate_size_mlp", "intermediate_size", "n_inner",
                                    "ffn_dim", "ffn_hidden_size"},
                                   fallback, 0, widest);
  // The first Qwen states the width of gate and up together.
  if (c_.is({"qwen"})) dense_.intermediate /= 2;
  const bool plain = c_.is({"gpt2", "gptj", "opt", "bloom", "falcon", "gpt_neox", "gpt_bigcode", "phi", "starcoder2",
                            "nemotron", "nemotron_h", "mpt"});
  dense_.gated = !plain;
  dense_.bias = f_.boolean({"mlp_bias"}, c_.is({"gpt2", "gptj", "opt", "bloom", "gpt_neox", "gpt_bigcode", "phi"}) ||
                                             (c_.is({"starcoder2"}) && f_.boolean({"use_bias"}, true)));
}

void FeedForwardReader::read_experts() {
  moe_.gated = dense_.gated;
  moe_.experts =
      f_.integer({"n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"}, 0, 0, 1'000'000);
  if (c_.starts_with("gemma4") && !f_.boolean({"enable_moe_block"}, false)) moe_.experts = 0;
  if (moe_.experts <= 1) {
    moe_.experts = 0;
    return;
  }
  moe_.experts_per_token = f_.integer(
      {"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts", "moe_topk", "moe_k"},
      std::nullopt, 1, moe_.experts);
  moe_.expert_intermediate =
      f_.integer({"moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size", "ffn_hidden_size"},
                 std::nullopt, 1, widest);
  moe_.expert_hidden = f_.integer({"moe_latent_size", "routed_expert_hidden_size"}, 0, 0, widest);
  moe_.expert_bias = c_.is({"gpt_oss"});
  moe_.router_bias = c_.is({"gpt_oss"}) || f_.boolean({"use_routing_bias"}, f_.text({"topk_method"}) == "noaux_tc");
  read_shared_experts();
}

void FeedForwardReader::read_shared_experts() {
  const std::int64_t count = f_.integer({"n_shared_experts", "num_shared_experts"}, 0, 0, 1'000);
  const std::int64_t width =
      f_.integer({"moe_shared_expert_intermediate_size", "shared_intermediate_size"}, 0, 0, widest);
  moe_.shared_intermediate = f_.integer({"shared_expert_intermediate_size"}, 0, 0, widest);
  moe_.shared_gate = moe_.shared_intermediate > 0 && c_.starts_with("qwen");
  if (count > 0) moe_.shared_intermediate = count * (width > 0 ? width : moe_.expert_intermediate);
  if (count == 0 && width > 0) moe_.shared_intermediate = width;
  if (c_.starts_with("llama4")) moe_.shared_intermediate = moe_.expert_intermediate;
  // Gemma 4 runs its dense block beside the experts for every token: a shared expert by another name.
  if (c_.starts_with("gemma4")) moe_.shared_intermediate = dense_.intermediate;
}

std::vector<std::int64_t> FeedForwardReader::places(const char* key) {
  std::vector<std::int64_t> list = f_.integers({key});
  if (!list.empty() && static_cast<std::int64_t>(list.size()) != layers_) {
    f_.reject(fmt::format("{} has {} entries for {} layers", key, list.size(), layers_), "it must have one a layer");
    list.clear();
  }
  return list;
}

/// Which layers have experts: every way the families state it.
void FeedForwardReader::read_places() {
  sparse_.assign(static_cast<std::size_t>(layers_), true);
  const std::int64_t first = f_.integer({"first_k_dense_replace", "moe_layer_start_index"}, 0, 0, 1'000'000);
  const std::int64_t step = f_.integer({"decoder_sparse_step", "interleave_moe_layer_step"}, 1, 0, 10'000);
  const nlohmann::json* frequency = f_.find({"moe_layer_freq"});
  const bool listed = frequency != nullptr && frequency->is_array();
  const std::int64_t every = listed ? 1 : f_.integer({"moe_layer_freq"}, 1, 1, 10'000);
  const std::vector<std::int64_t> frequencies = listed ? places("moe_layer_freq") : std::vector<std::int64_t>{};
  const std::vector<std::string> types = f_.texts({"mlp_layer_types"});
  if (!types.empty() && static_cast<std::int64_t>(types.size()) != layers_) {
    f_.reject(fmt::format("mlp_layer_types has {} entries for {} layers", types.size(), layers_), "one a layer");
    return;
  }
  for (std::int64_t i = 0; i < layers_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    bool here = i >= first && i % every == 0 && (step <= 0 || (i + 1) % step == 0);
    if (step == 0) here = false;
    if (!frequencies.empty()) here = frequencies[at] != 0;
    if (!types.empty()) here = types[at] == "sparse" || types[at] == "moe";
    sparse_[at] = here;
  }
  for (const std::int64_t i : f_.integers({"mlp_only_layers"})) {
    if (i < layers_) sparse_[static_cast<std::size_t>(i)] = false;
  }
  if (const nlohmann::json* only = f_.find({"moe_layers"}); only != nullptr && only->is_array()) {
    sparse_.assign(static_cast<std::size_t>(layers_), false);
    for (const std::int64_t i : f_.integers({"moe_layers"}, 0, layers_ - 1))
      sparse_[static_cast<std::size_t>(i)] = true;
  }
}

/// Pruned models state a factor of the hidden size: two thirds of it, rounded up to 256.
FeedForward FeedForwardReader::block_config(std::int64_t i) {
  FeedForward out = dense_;
  out.intermediate = 0;
  const nlohmann::json& block = (*f_.find({"block_configs"}))[static_cast<std::size_t>(i)];
  Fields layer(block, f_.where());
  const nlohmann::json* ffn = layer.find({"ffn"});
  if (ffn == nullptr || !ffn->is_object()) {
    f_.reject(fmt::format("block_configs[{}] has no ffn", i), "it must be an object");
    return out;
  }
  Fields fields(*ffn, f_.where());
  if (fields.boolean({"no_op"}, false)) return out;
  if (fields.boolean({"replace_with_linear"}, false)) {
    c_.note("feed-forward blocks replaced by one linear layer are left out");
    return out;
  }
  if (fields.has({"intermediate_size"})) {
    out.intermediate = fields.integer({"intermediate_size"}, 0, 1, widest);
  } else {
    const nlohmann::json* factor = fields.find({"ffn_mult"});
    const double times = factor != nullptr && factor->is_number() ? factor->get<double>() : 0;
    if (!(times > 0 && times < 1000)) {
      f_.reject(fmt::format("block_configs[{}].ffn.ffn_mult is missing or no number from 0 to 1000", i), "correct it");
      return out;
    }
    const auto width = static_cast<std::int64_t>(2 * times * static_cast<double>(c_.spec.hidden) / 3);
    out.intermediate = (width + 255) / 256 * 256;
  }
  if (fields.error()) f_.reject(fields.error()->what, fields.error()->fix);
  return out;
}

FeedForward FeedForwardReader::layer(std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  if (!kinds_.empty()) {
    FeedForward none;
    none.gated = dense_.gated;
    if (kinds_[at] == "moe") return moe_;
    return kinds_[at] == "mlp" ? dense_ : none;
  }
  if (f_.has({"block_configs"})) return block_config(i);
  return moe_.experts > 0 && sparse_[at] ? moe_ : dense_;
}

std::vector<FeedForward> FeedForwardReader::read() {
  read_dense();
  read_experts();
  kinds_ = hybrid_layer_kinds(c_);
  if (moe_.experts > 0) read_places();
  if (const nlohmann::json* blocks = f_.find({"block_configs"});
      blocks != nullptr && (!blocks->is_array() || static_cast<std::int64_t>(blocks->size()) != layers_)) {
    f_.reject("block_configs has not one entry a layer", "it must have as many entries as num_hidden_layers");
  }
  std::vector<FeedForward> out;
  for (std::int64_t i = 0; i < layers_ && !f_.error(); ++i) {
    out.push_back(layer(i));
    const FeedForward& f = out.back();
    const bool may_be_absent = !kinds_.empty() || f_.has({"block_configs"});
    if (f.experts == 0 && f.intermediate == 0 && !may_be_absent) {
      f_.reject("intermediate_size is missing or 0", "give a model's own config.json");
    }
  }
  return out;
}

}  // namespace

std::vector<FeedForward> read_feed_forwards(HfConfig& config, std::int64_t layers) {
  return FeedForwardReader(config, layers).read();
}

}  // namespace corridor::model
