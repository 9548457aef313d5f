// SPDX-License-Identifier: Apache-2.0
// Tells roles from tensor and module names by the words in them.
#include "corridor/model/tensor_names.h"

#include <initializer_list>
#include <string>

namespace corridor::model {
namespace {

bool has(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) return true;
  }
  return false;
}

bool ends(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

bool is_outside_text(std::string_view name) {
  return has(name, {"vision", "visual", "mm_projector", "multi_modal", "audio", "image", "patch_", "mm_", "aligner"});
}
bool is_mtp(std::string_view name) {
  return has(name, {"mtp", "nextn", "eh_proj", "enorm", "hnorm"});
}
bool is_router(std::string_view name) {
  return has(name, {"router", "mlp.gate.", "moe.gate.", "ffn.gate.", "mixer.gate.", "e_score_correction",
                    "shared_expert_gate"}) ||
         ends(name, "mlp.gate") || ends(name, "moe.gate") || ends(name, "ffn.gate") || ends(name, "mixer.gate");
}
bool is_attention(std::string_view name) {
  return has(name, {"attn", "attention", "mixer", "mamba", "indexer", "linear_attn", "q_proj", "k_proj", "v_proj",
                    "o_proj", "qkv", "kv_a_proj", "kv_b_proj", "conv1d", "in_proj", "out_proj"});
}
bool is_dense(std::string_view name) {
  return has(name, {"mlp", "ffn", "feed_forward", "gate_proj", "up_proj", "down_proj", "gate_up_proj", "fc1", "fc2",
                    "dense_h_to_4h", "dense_4h_to_h", "latent_proj"});
}

/// Removes the wildcards at the end of a pattern: "layers.0*", "self_attn.*", "self_attn.*$".
std::string_view stem(std::string_view pattern) {
  while (!pattern.empty() && std::string_view("*.$\\").find(pattern.back()) != std::string_view::npos) {
    pattern.remove_suffix(1);
  }
  return pattern;
}

}  // namespace

std::optional<std::int64_t> layer_index(std::string_view name) {
  for (const std::string_view word : {"layers.", "blk.", "layers\\.", ".h.", "blocks."}) {
    const std::size_t at = name.find(word);
    if (at == std::string_view::npos) continue;
    std::int64_t value = 0;
    std::size_t i = at + word.size();
    const std::size_t first = i;
    for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && i - first < 9; ++i)
      value = value * 10 + (name[i] - '0');
    if (i > first) return value;
  }
  return std::nullopt;
}

ModulePlace module_place(std::string_view name) {
  ModulePlace place;
  place.layer = layer_index(name);
  if (is_outside_text(name) || is_mtp(name) || has(name, {"lm_head", "embed", "norm"})) return place;
  const std::string_view body = stem(name);
  // "model.layers.7" and nothing more: the whole layer.
  if (place.layer && !body.empty() && body.back() >= '0' && body.back() <= '9' && !has(body, {"expert"})) {
    place.roles = {TensorRole::attention, TensorRole::expert, TensorRole::shared_expert, TensorRole::dense_mlp};
    return place;
  }
  if (is_router(body)) return place;
  if (has(body, {"shared_expert"})) {
    place.roles = {TensorRole::shared_expert};
  } else if (has(body, {"expert"})) {
    place.roles = {TensorRole::expert};
  } else if (has(body, {"latent_proj"})) {
    place.roles = {TensorRole::shared_expert};
    place.whole = false;
  } else if (is_attention(body)) {
    place.roles = {TensorRole::attention};
    place.whole = !has(body, {"indexer", "kv_a", "kv_b", "k_proj", "v_proj", "conv1d", "weights_proj", "wk"}) &&
                  !ends(body, "in_proj_a") && !ends(body, "in_proj_b") && !ends(body, "in_proj_ba");
  } else if (is_dense(body)) {
    place.roles = {TensorRole::dense_mlp};
    // A whole block ("layers.3.mlp*") holds the experts of that layer too.
    if (ends(body, "mlp") || ends(body, "ffn") || ends(body, "feed_forward")) {
      place.roles = {TensorRole::dense_mlp, TensorRole::shared_expert};
      if (place.layer) place.roles.push_back(TensorRole::expert);
    }
  }
  return place;
}

TensorRole tensor_role(std::string_view name) {
  if (is_outside_text(name)) return TensorRole::vision;
  if (is_mtp(name)) return TensorRole::mtp;
  if (has(name, {"lm_head", "output_layer.weight"}) || name == "head.weight") return TensorRole::head;
  if (has(name, {"embed_tokens", "word_embeddings", "wte.", "wpe.", "embeddings.weight", "embed_in", "tok_embeddings",
                 "embed_positions"}) ||
      name == "embed.weight") {
    return TensorRole::embedding;
  }
  if (is_router(name)) return TensorRole::router;
  if (has(name, {"shared_expert", "latent_proj"})) return TensorRole::shared_expert;
  if (has(name, {"expert"})) return TensorRole::expert;
  if (has(name, {"norm", "ln_"}) && !has(name, {"normalizer"})) return TensorRole::norm;
  if (is_attention(name)) return TensorRole::attention;
  if (is_dense(name)) return TensorRole::dense_mlp;
  return TensorRole::other;
}

TensorRole gguf_tensor_role(std::string_view name) {
  if (has(name, {"nextn"})) return TensorRole::mtp;
  if (name.substr(0, 2) == "v." || name.substr(0, 3) == "mm.") return TensorRole::vision;
  if (name == "token_embd.weight" || has(name, {"position_embd", "token_types", "per_layer_token_embd"})) {
    return TensorRole::embedding;
  }
  if (name.substr(0, 7) == "output.") return TensorRole::head;
  if (has(name, {"norm"})) return TensorRole::norm;
  if (has(name, {"ffn_gate_inp", "exp_probs"})) return TensorRole::router;
  if (has(name, {"_shexp"})) return TensorRole::shared_expert;
  if (has(name, {"_exps", "_chexps"})) return TensorRole::expert;
  if (has(name, {"attn", "ssm", "indexer", "time_mix", "shortconv"})) return TensorRole::attention;
  // Older files keep one tensor an expert: blk.0.ffn_gate.3.weight.
  for (const std::string_view part : {".ffn_gate.", ".ffn_up.", ".ffn_down."}) {
    const std::size_t at = name.find(part);
    const std::size_t next = at + part.size();
    if (at != std::string_view::npos && next < name.size() && name[next] >= '0' && name[next] <= '9') {
      return TensorRole::expert;
    }
  }
  if (has(name, {"ffn"})) return TensorRole::dense_mlp;
  return TensorRole::other;
}

}  // namespace corridor::model
