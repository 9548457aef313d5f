// SPDX-License-Identifier: Apache-2.0
// Builds the operations of one step: outer parts (embedding, head, sampling) and, for each group of layers, its blocks.
#include "corridor/graph/op_graph.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "corridor/graph/layer_builder.h"

namespace corridor::graph {

std::string_view name(OpKind kind) {
  switch (kind) {
    case OpKind::product:
      return "product";
    case OpKind::moe:
      return "moe";
    case OpKind::attention_decode:
      return "attention_decode";
    case OpKind::attention_prefill:
      return "attention_prefill";
    case OpKind::elementwise:
      return "elementwise";
    case OpKind::quantise:
      return "quantise";
    case OpKind::collective:
      return "collective";
  }
  return "";
}

std::string_view name(Collective collective) {
  switch (collective) {
    case Collective::none:
      return "none";
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::all_gather:
      return "all_gather";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::send_recv:
      return "send_recv";
  }
  return "";
}

namespace {

// Distinct experts under power-law routing ÷ under random choice: 0.90 fits the H100 power-law rows (exponent 1.01 and
// 1.2) of ai-dynamo/aiconfigurator @095f58a, vLLM 0.24, read 2026-11-29.
constexpr double skewed_union = 0.90;
constexpr std::size_t usual_operations = 24;  // room made at once

}  // namespace

double experts_touched(double experts, double per_token, double tokens, Routing routing) {
  if (experts <= 0 || tokens <= 0) return 0;
  const double balanced = std::min(experts, per_token * tokens);
  const double random = experts * (1 - std::pow(1 - std::min(1.0, per_token / experts), tokens));
  switch (routing) {
    case Routing::balanced:
      return balanced;
    case Routing::uniform:
      return random;
    case Routing::skewed:
      return std::max(std::min(experts, per_token), skewed_union * random);
  }
  return random;
}

namespace {

/// --params N: no shapes, one product over all weights.
Op plain_product(const model::ModelSpec& model, const StepShape& shape, double tp) {
  const model::RoleStorage& storage = model.stored(model::TensorRole::dense_mlp);
  const double weights = *model.plain_parameters / tp;
  Op op;
  op.name = "all weights";
  op.kind = OpKind::product;
  op.m = shape.tokens();
  op.k = std::sqrt(weights);  // a square matrix of that many weights: only its size matters
  op.n = op.k;
  op.flops = units::Flops{2 * op.m * weights};
  op.weights = units::Bytes{weights * storage.bits_per_weight() / 8};
  op.weights_least = op.weights;
  op.format = storage.format;
  return op;
}

}  // namespace

OpGraph build_graph(const model::ModelSpec& model, const StepShape& shape, const GraphOptions& options) {
  OpGraph graph;
  graph.shape = shape;
  if (model.plain_parameters) {
    graph.ops.push_back(plain_product(model, shape, static_cast<double>(options.parallelism.tp)));
    return graph;
  }
  std::optional<MatrixTable> own;
  const MatrixTable& matrices = options.matrices != nullptr ? *options.matrices : own.emplace(model);
  graph.ops.reserve(usual_operations);
  LayerBuilder builder(model, shape, options, matrices, graph.ops);
  builder.add_embedding();
  for (std::size_t i = 0; i < model.layers.size(); ++i) builder.add_layers(model.layers[i], matrices.layers[i]);
  builder.add_pipeline_transfers();
  builder.add_head();
  return graph;
}

}  // namespace corridor::graph
