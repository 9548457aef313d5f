// SPDX-License-Identifier: Apache-2.0
// What a tensor or module is for, told from its name ("model.layers.3.self_attn.q_proj" → attention, layer 3).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "corridor/model/model_spec.h"

namespace corridor::model {

/// Place of a module name or of a pattern of a quantisation list ("re:.*self_attn.*", "model.layers.0*").
struct ModulePlace {
  std::vector<TensorRole> roles;      ///< attention, expert, shared_expert, dense_mlp; empty for anything else
  std::optional<std::int64_t> layer;  ///< the layer it names, if any
  bool whole = true;                  ///< false when it is a small part of the role (an indexer, one latent matrix)
};
[[nodiscard]] ModulePlace module_place(std::string_view name);

/// Role of one stored tensor, Hugging Face names ("model.embed_tokens.weight", "…mlp.experts.7.up_proj.weight").
[[nodiscard]] TensorRole tensor_role(std::string_view name);
/// Role of one GGUF tensor ("token_embd.weight", "blk.0.attn_q.weight", "blk.3.ffn_down_exps.weight").
[[nodiscard]] TensorRole gguf_tensor_role(std::string_view name);
/// The N of "layers.N." or "blk.N.".
[[nodiscard]] std::optional<std::int64_t> layer_index(std::string_view name);

}  // namespace corridor::model
