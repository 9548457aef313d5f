// SPDX-License-Identifier: Apache-2.0
// The attention core of a layer: query × key and probability × value over the cache, and recurrent states.
#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "corridor/graph/layer_builder.h"

namespace corridor::graph {
namespace {

constexpr double activation_bytes = 2;
// Without FlashAttention the scores and the probabilities are each written to and read from main memory.
constexpr double score_trips = 4;
constexpr double unfused_attention_kernels = 4;  // product, scale + mask, softmax, product
// A recurrent layer runs its short convolution, its state update and its gated norm.
constexpr double state_kernels = 3;
// Per token and state element: decay, outer product (2), read-out (2), correction of the delta rule (1).
constexpr double state_flops_per_element = 6;
constexpr double state_bytes_per_element = 4;  // fp32, as in kv_cache.cpp

/// Σ over i = 1..n of min((past + i) / fold, cap): keys that the queries of a causal chunk see. cap 0 = none.
double causal_sum(double past, double n, double fold, double cap) {
  const auto uncapped = [&](double count) { return (past * count + count * (count + 1) / 2) / fold; };
  if (cap <= 0) return uncapped(n);
  const double below = std::clamp(cap * fold - past, 0.0, n);
  return uncapped(below) + (n - below) * cap;
}

double causal_pairs(const LayerCache& cache, double past, double n) {
  const double near = cache.window > 0 ? causal_sum(past, n, 1, cache.window) : 0;
  if (cache.window > 0 && cache.compress_ratio <= 1) return near;
  return near + causal_sum(past, n, std::max(1.0, cache.compress_ratio), cache.index_top_k);
}

/// Head counts and widths of the core on one device.
struct CoreShape {
  double heads = 0;
  double decode_width = 0;  // d_qk + d_v of the product that decode runs (absorbed for MLA)
  double prefill_width = 0;
  double index_flops_per_key = 0;
};

CoreShape core_shape(const model::Mixer& mixer, double tp) {
  CoreShape core;
  const auto index_flops = [](const std::optional<model::Indexer>& indexer) {
    return indexer ? 2.0 * static_cast<double>(indexer->heads * indexer->head_dim) /
                         static_cast<double>(std::max<std::int64_t>(1, indexer->compress_ratio))
                   : 0.0;
  };
  if (const auto* a = std::get_if<model::SoftmaxAttention>(&mixer)) {
    core.heads = std::ceil(static_cast<double>(a->heads) / tp);
    core.decode_width = core.prefill_width = static_cast<double>(a->qk_dim + a->v_dim);
    core.index_flops_per_key = index_flops(a->indexer);
  } else if (const auto* l = std::get_if<model::LatentAttention>(&mixer)) {
    core.heads = std::ceil(static_cast<double>(l->heads) / tp);
    core.decode_width = static_cast<double>(l->kv_rank + l->rope_dim + l->kv_rank);
    core.prefill_width = static_cast<double>(l->nope_dim + l->rope_dim + l->v_dim);
    core.index_flops_per_key = index_flops(l->indexer);
  }
  return core;
}

}  // namespace

void LayerBuilder::add_attention(const model::LayerGroup& group) {
  const LayerCache cache = layer_cache(group.mixer, options_.kv, tp_);
  if (cache.state_bytes > 0) {
    add_state_core(cache);
  } else {
    add_softmax_core(group.mixer, cache);
  }
}

AttentionCost decode_attention_cost(const model::ModelSpec& model, const model::WeightFormat& kv, double context) {
  AttentionCost cost;
  for (const model::LayerGroup& group : model.layers) {
    const LayerCache cache = layer_cache(group.mixer, kv, 1);
    const CoreShape core = core_shape(group.mixer, 1);
    const double layers = static_cast<double>(group.count);
    const double flops = cache.state_bytes > 0 ? state_flops_per_element * cache.state_bytes / state_bytes_per_element
                                               : 2 * core.heads * core.decode_width * cache.visible(context) +
                                                     core.index_flops_per_key * context;
    cost.flops += units::Flops{layers * flops};
    cost.kv += units::Bytes{layers * (cache.read_bytes(context) + (cache.stored ? cache.bytes_per_token : 0))};
  }
  return cost;
}

void LayerBuilder::add_softmax_core(const model::Mixer& mixer, const LayerCache& cache) {
  const CoreShape core = core_shape(mixer, tp_);
  const auto core_op = [&](OpKind kind, double queries, double pairs, double width) {
    Op op;
    op.name = kind == OpKind::attention_decode ? "attention" : "attention (prompt)";
    op.kind = kind;
    op.repeats = repeats_;
    op.m = queries;
    op.n = core.heads;
    op.k = width;
    op.format = options_.kv;
    op.flops = units::Flops{2 * core.heads * width * pairs};
    double activations = queries * core.heads * width * activation_bytes;
    if (!options_.flash_attention) {
      activations += score_trips * core.heads * pairs * activation_bytes;
      op.kernels = unfused_attention_kernels;
    }
    op.activations = units::Bytes{activations};
    return op;
  };
  // Rotary embedding of q and k, and the write of k and v into the cache: two launches in every engine considered.
  add_elementwise("rope + cache write",
                  tokens_ * (2 * core.heads * core.decode_width * activation_bytes / 2 + cache.bytes_per_token), 2);

  if (shape_.decode_sequences > 0) {
    const double context = shape_.context;
    const double queries = shape_.decode_tokens();
    Op op = core_op(OpKind::attention_decode, queries, queries * cache.visible(context), core.decode_width);
    op.flops += units::Flops{queries * core.index_flops_per_key * context};
    op.kv = units::Bytes{shape_.decode_sequences * cache.read_bytes(context) +
                         (cache.stored ? queries * cache.bytes_per_token : 0)};
    op.sequences = shape_.decode_sequences;
    ops_.push_back(std::move(op));
  }
  if (shape_.prefill_tokens > 0) {
    const double prompts = std::max(1.0, shape_.prefill_sequences);
    const double each = shape_.prefill_tokens / prompts;
    const double past = shape_.prefill_past;
    Op op = core_op(OpKind::attention_prefill, shape_.prefill_tokens, prompts * causal_pairs(cache, past, each),
                    core.prefill_width);
    op.flops += units::Flops{prompts * core.index_flops_per_key * causal_sum(past, each, 1, 0)};
    const double entries = (cache.window > 0 ? std::min(past, cache.window) : past) + 2 * each;
    op.kv = units::Bytes{prompts * entries * cache.bytes_per_token};
    op.sequences = prompts;
    ops_.push_back(std::move(op));
  }
}

void LayerBuilder::add_state_core(const LayerCache& cache) {
  const double state_elements = cache.state_bytes / state_bytes_per_element;
  const auto state_op = [&](OpKind kind, double tokens, double sequences) {
    Op op;
    op.name = kind == OpKind::attention_decode ? "recurrent state" : "recurrent state (prompt)";
    op.kind = kind;
    op.repeats = repeats_;
    op.kernels = state_kernels;
    op.m = tokens;
    op.format = options_.kv;
    op.flops = units::Flops{state_flops_per_element * tokens * state_elements};
    op.kv = units::Bytes{2 * sequences * cache.state_bytes};
    op.activations = units::Bytes{4 * tokens * hidden_ / tp_ * activation_bytes};
    op.sequences = sequences;
    return op;
  };
  if (shape_.decode_sequences > 0) {
    ops_.push_back(state_op(OpKind::attention_decode, shape_.decode_tokens(), shape_.decode_sequences));
  }
  if (shape_.prefill_tokens > 0) {
    ops_.push_back(state_op(OpKind::attention_prefill, shape_.prefill_tokens, std::max(1.0, shape_.prefill_sequences)));
  }
}

}  // namespace corridor::graph
