// SPDX-License-Identifier: Apache-2.0
// What the program knows of a language model: its layers, its shapes and the formats its weights are stored in.
//
// A ModelSpec is facts only; no device and no scenario. Layers that are alike are one LayerGroup with a count.
// Dimensions are per full model (before any tensor parallel split).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "corridor/model/weight_format.h"

namespace corridor::model {

/// Learned choice of the keys a query sees (DeepSeek sparse attention and kin): a small scorer, then top-k keys.
struct Indexer {
  std::int64_t heads = 0;  ///< 0 = no scorer here: the keys an earlier layer chose are used
  std::int64_t head_dim = 0;
  std::int64_t top_k = 0;           ///< keys attended to at most
  std::int64_t compress_ratio = 1;  ///< tokens folded into one indexed key
  bool operator==(const Indexer&) const = default;
};

/// Multi-head, grouped-query or multi-query attention with a softmax.
struct SoftmaxAttention {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t qk_dim = 0;
  std::int64_t v_dim = 0;
  std::optional<std::int64_t> window;  ///< sliding window or chunk: keys seen at most
  bool bias = false;                   ///< bias on q, k, v
  bool output_bias = false;
  bool qk_norm = false;
  bool output_gate = false;      ///< a second q-sized projection gates the output
  bool shared_kv = false;        ///< keys also serve as values (one projection, one cache)
  bool reuses_kv = false;        ///< reads the cache of an earlier layer: no k, v projection, no cache of its own
  std::int64_t q_rank = 0;       ///< low-rank query: hidden → rank → heads·qk_dim; 0 = full
  std::int64_t output_rank = 0;  ///< low-rank grouped output: 0 = full
  std::int64_t output_groups = 1;
  std::int64_t compress_ratio = 1;  ///< tokens folded into one cached entry beyond the window (DeepSeek-V4)
  std::optional<Indexer> indexer;
  bool operator==(const SoftmaxAttention&) const = default;
};

/// Multi-head latent attention: one latent of kv_rank + rope_dim a token serves all heads.
struct LatentAttention {
  std::int64_t heads = 0;
  std::int64_t q_rank = 0;  ///< 0 = full-rank query
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;
  std::int64_t rope_dim = 0;
  std::int64_t v_dim = 0;
  bool output_gate = false;
  std::optional<Indexer> indexer;
  bool operator==(const LatentAttention&) const = default;
};

/// Linear attention with a constant state: gated delta net, KDA, lightning attention.
struct LinearAttention {
  std::int64_t key_heads = 0;
  std::int64_t value_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;
  std::int64_t conv_width = 0;      ///< 0 = no short convolution
  std::int64_t gate_size = 0;       ///< outputs of the extra gate projections (z, a, b …), all together
  std::int64_t low_rank_gates = 0;  ///< gates made by two matrices: hidden → gate_rank → value_heads·value_dim
  std::int64_t gate_rank = 0;
  bool operator==(const LinearAttention&) const = default;
};

/// Mamba-2 state space layer.
struct StateSpace {
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t state = 0;
  std::int64_t groups = 0;
  std::int64_t conv_width = 0;
  bool operator==(const StateSpace&) const = default;
};

/// A layer without a token mixer (a layer that is only a feed-forward block, or pruned attention).
struct NoMixer {
  bool operator==(const NoMixer&) const = default;
};

using Mixer = std::variant<NoMixer, SoftmaxAttention, LatentAttention, LinearAttention, StateSpace>;

/// Feed-forward block. Dense when experts == 0; absent when intermediate == 0 and experts == 0.
struct FeedForward {
  std::int64_t intermediate = 0;  ///< dense width
  bool gated = true;              ///< gate and up (SwiGLU) or up only
  bool bias = false;
  std::int64_t experts = 0;
  std::int64_t experts_per_token = 0;
  std::int64_t expert_intermediate = 0;
  std::int64_t shared_intermediate = 0;  ///< total width of the shared experts; 0 = none
  bool shared_gate = false;              ///< hidden → 1 gate on the shared expert
  std::int64_t expert_hidden = 0;        ///< experts work in a latent of this width; 0 = hidden size
  bool expert_bias = false;
  bool router_bias = false;
  bool operator==(const FeedForward&) const = default;
};

struct LayerGroup {
  std::int64_t count = 0;
  Mixer mixer;
  FeedForward feed_forward;
  std::int64_t norms = 2;  ///< norm vectors of hidden size in one layer
  bool parallel = false;   ///< attention and MLP side by side: one all-reduce a layer
};

/// What a tensor is for; formats are kept by role because engines quantise by role.
enum class TensorRole {
  embedding,
  head,
  norm,
  attention,
  router,
  expert,
  shared_expert,
  dense_mlp,
  mtp,
  vision,
  other
};
inline constexpr std::size_t tensor_role_count = 11;
[[nodiscard]] std::string_view name(TensorRole);

/// How the tensors of one role are stored.
struct RoleStorage {
  WeightFormat format;                 ///< the main format of the role
  std::optional<double> stored_bytes;  ///< real bytes in the files, whole model, when a header told
  std::optional<double> elements;      ///< elements those bytes hold
  /// Bits a weight takes, scales counted: from real bytes when known, else by the format's rule.
  [[nodiscard]] double bits_per_weight() const;
};

struct ModelSpec {
  std::string id;    ///< "meta-llama/Llama-3.1-70B", a path, or "dense-70B"
  std::string name;  ///< for people
  std::string architecture;
  std::string source;  ///< "config.json", "GGUF", "built in", "--params"
  std::int64_t hidden = 0;
  std::int64_t vocab = 0;
  std::int64_t max_positions = 0;      ///< 0 = not stated
  std::int64_t learned_positions = 0;  ///< rows of a learned position table (GPT-2, OPT); 0 = none
  bool tied_embeddings = false;
  std::vector<LayerGroup> layers;
  std::array<RoleStorage, tensor_role_count> storage;
  /// Stated by the model's own files: the KV cache's format, if any ("fp8" in kv_cache_scheme).
  std::optional<WeightFormat> kv_format;
  /// Parameters beyond the text model, counted apart.
  double mtp_parameters = 0;
  double vision_parameters = 0;
  std::int64_t mtp_layers = 0;
  /// Only set for --params N: no shapes are known, all N weights are read for each token, there is no KV cache.
  std::optional<double> plain_parameters;
  /// What was not understood or is approximate, one clause each; printed with every answer.
  std::vector<std::string> approximations;

  [[nodiscard]] const RoleStorage& stored(TensorRole role) const { return storage[static_cast<std::size_t>(role)]; }
  [[nodiscard]] RoleStorage& stored(TensorRole role) { return storage[static_cast<std::size_t>(role)]; }
  [[nodiscard]] std::int64_t layer_count() const;
};

}  // namespace corridor::model
