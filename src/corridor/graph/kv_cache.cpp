// SPDX-License-Identifier: Apache-2.0
// KV geometry of each mixer: MHA/GQA/MQA, latent, sliding windows, compressed entries, constant state.
#include "corridor/graph/kv_cache.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace corridor::graph {
namespace {

using model::LatentAttention;
using model::LinearAttention;
using model::NoMixer;
using model::SoftmaxAttention;
using model::StateSpace;

// An indexer keeps its keys in fp8 with one fp32 scale for each key vector (DeepSeek-V3.2 reference code, 2025-09-29).
constexpr double index_bytes_per_element = 1;
constexpr double index_scale_bytes = 4;
// Recurrent states are kept in fp32 by vLLM and the models' own configurations (mamba_ssm_cache_dtype float32).
constexpr double state_bytes_per_element = 4;
constexpr double conv_bytes_per_element = 2;

struct CacheOf {
  double kv_bytes;  // bytes an element of the cache takes
  double tp;

  void add_indexer(LayerCache& cache, const std::optional<model::Indexer>& indexer) const {
    if (!indexer) return;
    const double key_bytes = static_cast<double>(indexer->head_dim) * index_bytes_per_element + index_scale_bytes;
    cache.index_bytes_per_token = key_bytes / static_cast<double>(std::max<std::int64_t>(1, indexer->compress_ratio));
    cache.index_top_k = static_cast<double>(indexer->top_k);
  }

  LayerCache operator()(const NoMixer&) const { return {}; }

  LayerCache operator()(const SoftmaxAttention& a) const {
    LayerCache cache;
    cache.stored = !a.reuses_kv;
    const double heads = std::max(1.0, std::ceil(static_cast<double>(a.kv_heads) / tp));
    const double width = static_cast<double>(a.shared_kv ? a.qk_dim : a.qk_dim + a.v_dim);
    cache.bytes_per_token = heads * width * kv_bytes;
    cache.window = static_cast<double>(a.window.value_or(0));
    cache.compress_ratio = static_cast<double>(std::max<std::int64_t>(1, a.compress_ratio));
    add_indexer(cache, a.indexer);
    return cache;
  }

  LayerCache operator()(const LatentAttention& a) const {
    LayerCache cache;  // the latent serves all heads, so every rank holds it whole
    cache.bytes_per_token = static_cast<double>(a.kv_rank + a.rope_dim) * kv_bytes;
    add_indexer(cache, a.indexer);
    return cache;
  }

  LayerCache operator()(const LinearAttention& a) const {
    LayerCache cache;
    const double value_heads = std::ceil(static_cast<double>(a.value_heads) / tp);
    const double key_heads = std::ceil(static_cast<double>(a.key_heads) / tp);
    const double state = value_heads * static_cast<double>(a.key_dim * a.value_dim);
    const double channels =
        2 * key_heads * static_cast<double>(a.key_dim) + value_heads * static_cast<double>(a.value_dim);
    cache.state_bytes =
        state * state_bytes_per_element +
        channels * static_cast<double>(std::max<std::int64_t>(0, a.conv_width - 1)) * conv_bytes_per_element;
    return cache;
  }

  LayerCache operator()(const StateSpace& a) const {
    LayerCache cache;
    const double heads = std::ceil(static_cast<double>(a.heads) / tp);
    const double inner = heads * static_cast<double>(a.head_dim);
    const double groups = std::max(1.0, std::ceil(static_cast<double>(a.groups) / tp));
    const double channels = inner + 2 * groups * static_cast<double>(a.state);
    cache.state_bytes =
        inner * static_cast<double>(a.state) * state_bytes_per_element +
        channels * static_cast<double>(std::max<std::int64_t>(0, a.conv_width - 1)) * conv_bytes_per_element;
    return cache;
  }
};

template <class PerLayer>
units::Bytes sum_layers(const model::ModelSpec& model, const model::WeightFormat& kv, double tp, PerLayer per_layer) {
  double bytes = 0;
  for (const model::LayerGroup& group : model.layers) {
    bytes += static_cast<double>(group.count) * per_layer(layer_cache(group.mixer, kv, tp));
  }
  return units::Bytes{bytes};
}

}  // namespace

double LayerCache::visible(double context) const {
  const double near = window > 0 ? std::min(context, window) : 0;
  if (window > 0 && compress_ratio <= 1) return near;
  double far = compress_ratio > 1 ? context / compress_ratio : context;
  if (index_top_k > 0) far = std::min(far, index_top_k);
  return near + far;
}

double LayerCache::resident_bytes(double context) const {
  if (!stored) return 0;
  double entries = context;
  if (window > 0)
    entries = std::min(context, window) + (compress_ratio > 1 ? context / compress_ratio : 0);
  else if (compress_ratio > 1)
    entries = context / compress_ratio;
  return entries * bytes_per_token + context * index_bytes_per_token + state_bytes;
}

double LayerCache::read_bytes(double context) const {
  return visible(context) * bytes_per_token + context * index_bytes_per_token + 2 * state_bytes;
}

LayerCache layer_cache(const model::Mixer& mixer, const model::WeightFormat& kv, double tp) {
  return std::visit(CacheOf{kv.bits_per_weight / 8, tp}, mixer);
}

units::Bytes kv_resident(const model::ModelSpec& model, const model::WeightFormat& kv, double context, double tp) {
  return sum_layers(model, kv, tp, [&](const LayerCache& cache) { return cache.resident_bytes(context); });
}

units::Bytes kv_read(const model::ModelSpec& model, const model::WeightFormat& kv, double context, double tp) {
  return sum_layers(model, kv, tp, [&](const LayerCache& cache) { return cache.read_bytes(context); });
}

units::Bytes kv_bytes_per_token(const model::ModelSpec& model, const model::WeightFormat& kv, double tp) {
  return sum_layers(model, kv, tp, [](const LayerCache& cache) {
    if (!cache.stored) return 0.0;
    const double own = cache.compress_ratio > 1 && cache.window <= 0 ? cache.bytes_per_token / cache.compress_ratio
                                                                     : cache.bytes_per_token;
    return own + cache.index_bytes_per_token;
  });
}

units::Bytes state_bytes_per_sequence(const model::ModelSpec& model, double tp) {
  return sum_layers(model, {}, tp, [](const LayerCache& cache) { return cache.state_bytes; });
}

}  // namespace corridor::graph
