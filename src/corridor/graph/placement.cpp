// SPDX-License-Identifier: Apache-2.0
// Layouts: which are possible, which is the default, and what a device then holds.
#include "corridor/graph/placement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <variant>

#include "corridor/model/matrices.h"

namespace corridor::graph {
namespace {

using model::Matrix;
using model::Split;
using model::TensorRole;

double kv_heads_of(const model::Mixer& mixer) {
  const auto* softmax = std::get_if<model::SoftmaxAttention>(&mixer);
  return softmax != nullptr ? static_cast<double>(softmax->kv_heads) : 0;
}

double ways(const Matrix& matrix, const Parallelism& layout, double kv_heads) {
  const double tp = static_cast<double>(layout.tp);
  if (matrix.role == TensorRole::expert) return std::max(tp, static_cast<double>(layout.ep));
  switch (matrix.split) {
    case Split::replicated:
      return 1;
    case Split::kv_heads:
      return kv_heads > 0 ? std::min(tp, kv_heads) : tp;
    case Split::columns:
    case Split::rows:
      return matrix.is_product ? tp : 1;
  }
  return 1;
}

/// Query heads that tensor parallelism must divide: the greatest common divisor over all kinds of layers; 0 = none.
std::int64_t divisible_heads(const model::ModelSpec& model) {
  std::int64_t common = 0;
  for (const model::LayerGroup& group : model.layers) {
    if (const auto* a = std::get_if<model::SoftmaxAttention>(&group.mixer)) common = std::gcd(common, a->heads);
    if (const auto* l = std::get_if<model::LatentAttention>(&group.mixer)) common = std::gcd(common, l->heads);
  }
  return common;
}

std::int64_t most_experts(const model::ModelSpec& model) {
  std::int64_t experts = 0;
  for (const model::LayerGroup& group : model.layers) experts = std::max(experts, group.feed_forward.experts);
  return experts;
}

}  // namespace

double WeightPlacement::layer_bytes(const Parallelism& layout) const {
  double bytes = 0;
  for (std::size_t i = 0; i < model_.layers.size(); ++i) {
    const model::LayerGroup& group = model_.layers[i];
    for (const Matrix& matrix : matrices_.layers[i]) {
      const double share = matrix.elements() / ways(matrix, layout, kv_heads_of(group.mixer));
      bytes += static_cast<double>(group.count) * share * model_.stored(matrix.role).bits_per_weight() / 8;
    }
  }
  return bytes;
}

units::Bytes WeightPlacement::on_one_device(const Parallelism& layout) {
  if (model_.plain_parameters) {
    const double bits = model_.stored(TensorRole::dense_mlp).bits_per_weight();
    return units::Bytes{*model_.plain_parameters * bits / 8 / static_cast<double>(layout.tp * layout.pp)};
  }
  if (tp_ != layout.tp || ep_ != layout.ep) {
    layer_bytes_ = layer_bytes(layout);
    tp_ = layout.tp;
    ep_ = layout.ep;
  }
  const double layers = static_cast<double>(std::max<std::int64_t>(1, model_.layer_count()));
  const double pp = static_cast<double>(layout.pp);
  double bytes = layer_bytes_ * std::ceil(layers / pp) / layers;
  // With pipeline stages the table sits on the first and the head on the last; the fuller of them counts.
  double outer = 0;
  for (const Matrix& matrix : matrices_.outer) {
    const double one =
        matrix.elements() / static_cast<double>(layout.tp) * model_.stored(matrix.role).bits_per_weight() / 8;
    outer = layout.pp > 1 ? std::max(outer, one) : outer + one;
  }
  return units::Bytes{bytes + outer};
}

units::Bytes weights_per_device(const model::ModelSpec& model, const Parallelism& layout) {
  const MatrixTable matrices(model);
  return WeightPlacement(model, matrices).on_one_device(layout);
}

units::Bytes activations_per_device(const model::ModelSpec& model, const Parallelism& layout, double tokens,
                                    double rows) {
  const double tp = static_cast<double>(layout.tp);
  double widest = 0;
  for (const model::LayerGroup& group : model.layers) {
    const auto& ff = group.feed_forward;
    const double dense = static_cast<double>(std::max(ff.intermediate, ff.shared_intermediate));
    const double routed = static_cast<double>(ff.expert_intermediate * ff.experts_per_token);
    widest = std::max({widest, 3 * dense / tp, 3 * routed / tp});
  }
  // Alive at once: the residual stream, a block's input and output (16 bit), and its widest inner rows.
  const double per_token = (4 * static_cast<double>(model.hidden) + widest) * 2;
  return units::Bytes{tokens * per_token + rows * static_cast<double>(model.vocab) * 4};
}

Parallelism default_layout(const model::ModelSpec& model, std::int64_t devices, std::int64_t devices_in_node) {
  Parallelism layout;
  const std::int64_t heads = divisible_heads(model);
  for (std::int64_t tp = std::min(devices, std::max<std::int64_t>(1, devices_in_node)); tp >= 1; --tp) {
    if (devices % tp == 0 && (heads == 0 || heads % tp == 0)) {
      layout.tp = tp;
      layout.pp = devices / tp;
      break;
    }
  }
  return layout;
}

Result<Parallelism> check_layout(const model::ModelSpec& model, const Parallelism& layout) {
  const auto positive = [](std::int64_t n) { return n >= 1 && n <= 65536; };
  if (!positive(layout.tp)) return fail("must be 1 to 65536", "--tp " + std::to_string(layout.tp));
  if (!positive(layout.pp)) return fail("must be 1 to 65536", "--pp " + std::to_string(layout.pp));
  if (!positive(layout.ep)) return fail("must be 1 to 65536", "--ep " + std::to_string(layout.ep));
  if (!positive(layout.dp)) return fail("must be 1 to 65536", "--dp " + std::to_string(layout.dp));
  const std::int64_t heads = divisible_heads(model);
  if (heads > 0 && heads % layout.tp != 0) {
    return fail("does not divide the " + std::to_string(heads) + " attention heads of " + model.name,
                "--tp " + std::to_string(layout.tp), "choose a divisor of " + std::to_string(heads));
  }
  if (model.layer_count() > 0 && layout.pp > model.layer_count()) {
    return fail("more pipeline stages than the " + std::to_string(model.layer_count()) + " layers of " + model.name,
                "--pp " + std::to_string(layout.pp), "choose at most one stage a layer");
  }
  if (layout.ep > 1) {
    const std::int64_t experts = most_experts(model);
    const std::string where = "--ep " + std::to_string(layout.ep);
    if (experts == 0) return fail(model.name + " has no experts", where, "leave --ep out");
    if (experts % layout.ep != 0) {
      return fail("does not divide the " + std::to_string(experts) + " experts of " + model.name, where,
                  "choose a divisor of " + std::to_string(experts));
    }
    if (layout.ep != layout.tp && layout.ep != layout.tp * layout.dp) {
      return fail("must equal tp (" + std::to_string(layout.tp) + ") or tp × dp (" +
                      std::to_string(layout.tp * layout.dp) + ")",
                  where, "experts are spread over all devices of a stage");
    }
  }
  return layout;
}

}  // namespace corridor::graph
