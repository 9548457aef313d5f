// SPDX-License-Identifier: Apache-2.0
// The weight matrices a model holds: the one list from which parameter counts, bytes and matrix products all derive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "corridor/model/model_spec.h"

namespace corridor::model {

/// How tensor parallelism cuts a matrix.
enum class Split {
  columns,     ///< by output: 1/tp of the rows of W each
  rows,        ///< by input: followed by an all-reduce
  kv_heads,    ///< by KV head, at most kv_heads ways, duplicated beyond
  replicated,  ///< whole on every rank (router, latent down-projections, norms)
};

/// One weight matrix y[m,out] = x[m,in] · W, or several of the same shape.
struct Matrix {
  std::string name;  ///< "q", "k", "v", "o", "gate_up", "down", "router", "expert_gate_up" …
  TensorRole role = TensorRole::other;
  double out = 0;
  double in = 0;
  double copies = 1;          ///< experts: how many the layer holds
  double extra_elements = 0;  ///< biases and small vectors stored with it (per copy)
  Split split = Split::columns;
  bool is_product = true;  ///< false: elements only (norm vectors, convolution, state parameters)
  std::string fused_with;  ///< engines run matrices of equal non-empty tag as one product ("qkv", "gate_up")

  [[nodiscard]] double elements() const { return copies * (out * in + extra_elements); }
};

/// Matrices of one layer of the group, in execution order; norms are one entry with is_product = false.
[[nodiscard]] std::vector<Matrix> layer_matrices(const ModelSpec& model, const LayerGroup& group);

/// Embedding, final norm and head. A tied table appears once, as the head.
[[nodiscard]] std::vector<Matrix> outer_matrices(const ModelSpec& model);

/// Parameters of the text model (a tied table once; multi-token-prediction and vision parts not included).
[[nodiscard]] double parameter_count(const ModelSpec& model);
/// Parameters a single token uses: of the experts only k a layer; the whole head; the embedding table only when it
/// is tied (as published counts do).
[[nodiscard]] double active_parameter_count(const ModelSpec& model);
/// Bytes resident for the text model's weights: elements by role × bits_per_weight ÷ 8.
[[nodiscard]] double weight_bytes(const ModelSpec& model);

}  // namespace corridor::model
