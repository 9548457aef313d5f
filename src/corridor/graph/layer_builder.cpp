// SPDX-License-Identifier: Apache-2.0
// Products, experts, element-wise passes and transfers of a layer; the attention core stands in attention_core.cpp.
#include "corridor/graph/layer_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace corridor::graph {
namespace {

using model::FeedForward;
using model::Matrix;
using model::Split;
using model::TensorRole;

// Activations travel between kernels in 16 bit in every engine considered, also for fp8 models.
constexpr double activation_bytes = 2;
constexpr double logit_bytes = 4;  // engines cast logits to fp32 before sampling
// Launches of one routed-expert block: top-k, sort by expert, two grouped products, activation, weighted sum.
constexpr double moe_kernels = 6;

bool quantises_activations(const model::WeightFormat& format) {
  return format.compute_class == model::ComputeClass::own && format.bits_per_weight < 12 && format.compute != "bf16" &&
         format.compute != "fp16";
}

}  // namespace

LayerBuilder::LayerBuilder(const model::ModelSpec& model, const StepShape& shape, const GraphOptions& options,
                           const MatrixTable& matrices, std::vector<Op>& ops)
    : model_(model),
      shape_(shape),
      options_(options),
      matrices_(matrices),
      ops_(ops),
      tp_(static_cast<double>(options.parallelism.tp)),
      tokens_(shape.tokens()),
      hidden_(static_cast<double>(model.hidden)) {}

double LayerBuilder::split_ways(const Matrix& matrix) const {
  switch (matrix.split) {
    case Split::replicated:
      return 1;
    case Split::kv_heads:
      return std::min(tp_, std::max(1.0, kv_heads_));
    case Split::columns:
    case Split::rows:
      return tp_;
  }
  return 1;
}

std::vector<LayerBuilder::FusedProduct> LayerBuilder::fuse(const std::vector<Matrix>& matrices) const {
  std::vector<FusedProduct> products;
  std::string open_tag;
  for (const Matrix& matrix : matrices) {
    if (!matrix.is_product || matrix.role == TensorRole::expert) continue;
    const double ways = split_ways(matrix);
    const bool by_input = matrix.split == Split::rows;
    const double n = matrix.out / (by_input ? 1 : ways);
    const double k = matrix.in / (by_input ? ways : 1);
    const double elements = matrix.elements() / ways;
    if (!matrix.fused_with.empty() && matrix.fused_with == open_tag) {
      products.back().n += n * matrix.copies;
      products.back().elements += elements;
      continue;
    }
    open_tag = matrix.fused_with;
    products.push_back(
        {open_tag.empty() ? matrix.name : open_tag, matrix.role, n * matrix.copies, k, elements, by_input && tp_ > 1});
  }
  return products;
}

Op& LayerBuilder::add_product(const FusedProduct& product, double rows) {
  const model::RoleStorage& storage = model_.stored(product.role);
  if (quantises_activations(storage.format)) {
    Op quantise;
    quantise.name = product.name + " quantise";
    quantise.kind = OpKind::quantise;
    quantise.repeats = repeats_;
    quantise.format = storage.format;
    quantise.activations = units::Bytes{rows * product.k * (activation_bytes + storage.format.bits_per_weight / 8)};
    ops_.push_back(std::move(quantise));
  }
  Op op;
  op.name = product.name;
  op.kind = OpKind::product;
  op.repeats = repeats_;
  op.m = rows;
  op.n = product.n;
  op.k = product.k;
  op.flops = units::Flops{2 * rows * product.n * product.k};
  op.weights = units::Bytes{product.elements * storage.bits_per_weight() / 8};
  op.weights_least = op.weights;
  op.activations = units::Bytes{rows * (product.n + product.k) * activation_bytes};
  op.format = storage.format;
  return ops_.emplace_back(std::move(op));
}

void LayerBuilder::add_elementwise(const std::string& name, double bytes, double kernels) {
  if (bytes <= 0) return;
  Op op;
  op.name = name;
  op.kind = OpKind::elementwise;
  op.repeats = repeats_;
  op.kernels = kernels;
  op.activations = units::Bytes{bytes};
  op.m = tokens_;
  ops_.push_back(std::move(op));
}

void LayerBuilder::add_collective(const std::string& name, Collective kind, double ranks, double payload) {
  if (ranks <= 1 || payload <= 0) return;
  Op op;
  op.name = name;
  op.kind = OpKind::collective;
  op.repeats = repeats_;
  op.collective = kind;
  op.ranks = ranks;
  op.payload = units::Bytes{payload};
  op.crosses_node = ranks > options_.devices_in_node;
  ops_.push_back(std::move(op));
}

void LayerBuilder::add_row_reduce(const std::string& name) {
  add_collective(name, Collective::all_reduce, tp_, tokens_ * hidden_ * activation_bytes);
}

void LayerBuilder::add_embedding() {
  repeats_ = 1;
  add_elementwise("embedding", 2 * tokens_ * hidden_ * activation_bytes);
  add_row_reduce("embedding all-reduce");
}

void LayerBuilder::add_small_passes(const model::LayerGroup& group) {
  const double row = tokens_ * hidden_ * activation_bytes;
  const double norms = static_cast<double>(group.norms);
  if (options_.fusion) {
    // Residual add and norm in one kernel: reads the block's output and the residual, writes both.
    add_elementwise("norm + residual", 4 * row * norms, norms);
  } else {
    add_elementwise("norm", 2 * row * norms, norms);
    add_elementwise("residual", 3 * row * norms, norms);
  }
  const FeedForward& ff = group.feed_forward;
  const double width =
      ff.experts > 0 ? static_cast<double>(ff.shared_intermediate) : static_cast<double>(ff.intermediate);
  if (width <= 0) return;
  const double one = tokens_ * width / tp_ * activation_bytes;
  const double inputs = ff.gated ? 2 : 1;
  if (options_.fusion || !ff.gated) {
    add_elementwise("activation", (inputs + 1) * one);
  } else {
    add_elementwise("activation", 2 * one);
    add_elementwise("gate multiply", 3 * one);
  }
}

void LayerBuilder::add_layers(const model::LayerGroup& group, const std::vector<Matrix>& matrices) {
  repeats_ = static_cast<double>(group.count);
  const auto* softmax = std::get_if<model::SoftmaxAttention>(&group.mixer);
  kv_heads_ = softmax != nullptr ? static_cast<double>(softmax->kv_heads) : tp_;

  std::vector<FusedProduct> products = fuse(matrices);
  const bool has_mixer = !std::holds_alternative<model::NoMixer>(group.mixer);
  const bool has_ff = group.feed_forward.experts > 0 || group.feed_forward.intermediate > 0;
  const auto is_mixer = [](const FusedProduct& p) { return p.role == TensorRole::attention; };
  for (const FusedProduct& product : products) {
    if (is_mixer(product)) add_product(product, tokens_);
  }
  if (has_mixer) {
    add_attention(group);
    if (!(group.parallel && has_ff)) add_row_reduce("attention all-reduce");
  }
  for (const FusedProduct& product : products) {
    if (!is_mixer(product)) add_product(product, tokens_);
  }
  if (group.feed_forward.experts > 0) add_experts(group, matrices);
  // With experts spread over more devices than tp, the combine step already returns whole rows.
  const bool combined = group.feed_forward.experts > 0 && options_.parallelism.ep > options_.parallelism.tp;
  if (has_ff && !combined) add_row_reduce("feed-forward all-reduce");
  add_small_passes(group);
}

void LayerBuilder::add_experts(const model::LayerGroup& group, const std::vector<Matrix>& matrices) {
  const FeedForward& ff = group.feed_forward;
  double elements = 0;  // of one expert
  double width = 0;     // values written and read between the two products
  double inner = 0;
  for (const Matrix& matrix : matrices) {
    if (matrix.role != TensorRole::expert || !matrix.is_product) continue;
    elements += matrix.out * matrix.in + matrix.extra_elements;
    width += matrix.out + matrix.in;
    inner = std::max(inner, matrix.out);
  }
  const double experts = static_cast<double>(ff.experts);
  const double per_token = static_cast<double>(ff.experts_per_token);
  const double ep = static_cast<double>(options_.parallelism.ep);
  const bool spread = options_.parallelism.ep > 1;
  // Experts spread over data-parallel ranks see the tokens of all of them.
  const double gathered = options_.parallelism.ep > options_.parallelism.tp ? ep / tp_ : 1;
  const double tokens = tokens_ * gathered;
  const double ways = spread ? ep : tp_;
  const double bits = model_.stored(TensorRole::expert).bits_per_weight();
  const double touched = experts_touched(experts, per_token, tokens, options_.routing);

  Op op;
  op.name = "experts";
  op.kind = OpKind::moe;
  op.repeats = repeats_;
  op.kernels = moe_kernels;
  op.flops = units::Flops{2 * tokens * per_token * elements / ways};
  op.weights = units::Bytes{touched * elements * bits / 8 / ways};
  op.experts = op.weights;
  op.expert_count = experts;
  op.experts_per_token = per_token;
  op.weights_least = units::Bytes{std::min(experts, per_token) * elements * bits / 8 / ways};
  op.activations = units::Bytes{tokens * per_token * width * activation_bytes / ways};
  op.m = tokens * per_token / std::max(1.0, touched);
  op.n = inner / (spread ? 1 : tp_);
  op.k = hidden_;
  op.format = model_.stored(TensorRole::expert).format;
  if (gathered > 1) {
    const double payload = tokens_ * std::min(per_token, ep) * hidden_ * activation_bytes;
    add_collective("expert dispatch", Collective::all_to_all, ep, payload);
    ops_.push_back(op);
    add_collective("expert combine", Collective::all_to_all, ep, payload);
  } else {
    ops_.push_back(op);
  }
}

void LayerBuilder::add_pipeline_transfers() {
  const double stages = static_cast<double>(options_.parallelism.pp);
  if (stages <= 1) return;
  repeats_ = stages - 1;
  Op op;
  op.name = "pipeline send";
  op.kind = OpKind::collective;
  op.repeats = repeats_;
  op.collective = Collective::send_recv;
  op.ranks = 2;
  op.crosses_node = tp_ * stages > options_.devices_in_node;
  op.payload = units::Bytes{tokens_ * hidden_ * activation_bytes};
  ops_.push_back(op);
}

void LayerBuilder::add_head() {
  repeats_ = 1;
  const double rows = shape_.decode_tokens() + shape_.prefill_sequences;
  const double vocab = static_cast<double>(model_.vocab);
  add_elementwise("final norm", 2 * rows * hidden_ * activation_bytes);
  for (const FusedProduct& product : fuse(matrices_.outer)) {
    if (product.role == TensorRole::head) add_product(product, rows);
  }
  add_collective("logits all-gather", Collective::all_gather, tp_, rows * vocab / tp_ * activation_bytes);
  // Sampling reads the logits and writes the scaled ones once.
  add_elementwise("sampling", 2 * rows * vocab * logit_bytes);
}

}  // namespace corridor::graph
