// SPDX-License-Identifier: Apache-2.0
// Describes models: counts, kinds of layers, matrices and bytes by role.
#include "corridor/app/models.h"

#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "corridor/graph/kv_cache.h"
#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"

namespace corridor::app {
namespace {

using model::FeedForward;
using model::LatentAttention;
using model::LayerGroup;
using model::LinearAttention;
using model::Matrix;
using model::ModelSpec;
using model::NoMixer;
using model::SoftmaxAttention;
using model::StateSpace;

std::string head_kind(const SoftmaxAttention& a) {
  return a.kv_heads == a.heads ? "MHA" : (a.kv_heads == 1 ? "MQA" : "GQA");
}

void add_once(std::string& list, const std::string& kind) {
  if ((", " + list + ",").find(", " + kind + ",") != std::string::npos) return;
  list += (list.empty() ? "" : ", ") + kind;
}

void add_mixer_kinds(std::string& kinds, const model::Mixer& mixer) {
  if (const auto* a = std::get_if<SoftmaxAttention>(&mixer)) {
    add_once(kinds, head_kind(*a));
    if (a->window) add_once(kinds, "window");
    if (a->indexer) add_once(kinds, "sparse");
    if (a->compress_ratio > 1) add_once(kinds, "compressed");
  } else if (const auto* latent = std::get_if<LatentAttention>(&mixer)) {
    add_once(kinds, "MLA");
    if (latent->indexer) add_once(kinds, "sparse");
  } else if (std::holds_alternative<LinearAttention>(mixer)) {
    add_once(kinds, "linear");
  } else if (std::holds_alternative<StateSpace>(mixer)) {
    add_once(kinds, "SSM");
  }
}

std::string kinds_of(const ModelSpec& model) {
  if (model.plain_parameters) return "dense";
  std::string kinds;
  bool experts = false;
  for (const LayerGroup& group : model.layers) {
    add_mixer_kinds(kinds, group.mixer);
    experts = experts || group.feed_forward.experts > 0;
  }
  if (experts) add_once(kinds, "MoE");
  return kinds;
}

ModelSummary summarise(const ModelSpec& model) {
  const model::WeightFormat bf16;
  ModelSummary out;
  out.id = model.id;
  out.architecture = model.architecture;
  out.parameters = parameter_count(model);
  out.active = active_parameter_count(model);
  out.layers = model.layer_count();
  out.hidden = model.hidden;
  out.vocab = model.vocab;
  out.max_positions = model.max_positions;
  out.weights = units::Bytes{weight_bytes(model)};
  out.kv_per_token = graph::kv_bytes_per_token(model, bf16);
  out.state_per_sequence = graph::state_bytes_per_sequence(model);
  out.kinds = kinds_of(model);
  return out;
}

struct MixerText {
  std::string operator()(const NoMixer&) const { return "none"; }
  std::string operator()(const SoftmaxAttention& a) const {
    std::string text = fmt::format("{} {} heads", head_kind(a), a.heads);
    if (a.kv_heads != a.heads) text += fmt::format(", {} KV", a.kv_heads);
    text += a.qk_dim == a.v_dim ? fmt::format(", of {}", a.qk_dim) : fmt::format(", of {} and {}", a.qk_dim, a.v_dim);
    if (a.window) text += fmt::format(", window {}", *a.window);
    if (a.compress_ratio > 1) text += fmt::format(", 1 entry for {} tokens", a.compress_ratio);
    if (a.indexer) text += fmt::format(", top {}", a.indexer->top_k);
    return text;
  }
  std::string operator()(const LatentAttention& a) const {
    std::string text = fmt::format("MLA {} heads, latent {} + {}", a.heads, a.kv_rank, a.rope_dim);
    if (a.indexer) text += fmt::format(", top {}", a.indexer->top_k);
    return text;
  }
  std::string operator()(const LinearAttention& a) const {
    return fmt::format("linear {} heads, state {} × {}", a.value_heads, a.key_dim, a.value_dim);
  }
  std::string operator()(const StateSpace& s) const {
    return fmt::format("Mamba-2 {} heads, state {} × {}", s.heads, s.head_dim, s.state);
  }
};

std::string feed_forward_text(const FeedForward& f) {
  if (f.experts > 0) {
    std::string text = fmt::format("MoE {} of {} × {}", f.experts_per_token, f.experts, f.expert_intermediate);
    if (f.shared_intermediate > 0) text += fmt::format(", shared {}", f.shared_intermediate);
    return text;
  }
  return f.intermediate > 0 ? fmt::format("dense {}", f.intermediate) : "none";
}

MatrixRow matrix_row(const ModelSpec& model, std::size_t group, const Matrix& matrix) {
  MatrixRow row;
  row.group = group;
  row.name = matrix.name;
  row.role = std::string(name(matrix.role));
  row.format = model.stored(matrix.role).format.name;
  row.out = matrix.out;
  row.in = matrix.in;
  row.copies = matrix.copies;
  row.elements = matrix.elements();
  return row;
}

void add_roles(ModelDetail& out, const std::array<double, model::tensor_role_count>& elements) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] <= 0) continue;
    const auto role = static_cast<model::TensorRole>(i);
    const model::RoleStorage& storage = out.model.stored(role);
    RoleRow row;
    row.role = std::string(name(role));
    row.format = storage.format.name;
    row.elements = elements[i];
    row.bits_per_weight = storage.bits_per_weight();
    row.bytes = units::Bytes{elements[i] * row.bits_per_weight / 8};
    row.real = storage.stored_bytes.has_value();
    out.roles.push_back(std::move(row));
  }
}

void describe_layers(ModelDetail& out) {
  std::array<double, model::tensor_role_count> elements{};
  const auto add = [&](const Matrix& matrix, std::size_t group, double times) {
    elements[static_cast<std::size_t>(matrix.role)] += matrix.elements() * times;
    out.matrices.push_back(matrix_row(out.model, group, matrix));
  };
  for (const LayerGroup& group : out.model.layers) {
    LayerRow row{group.count, std::visit(MixerText{}, group.mixer), feed_forward_text(group.feed_forward), 0};
    for (const Matrix& matrix : layer_matrices(out.model, group)) {
      row.parameters += matrix.elements();
      add(matrix, out.layers.size() + 1, static_cast<double>(group.count));
    }
    out.layers.push_back(std::move(row));
  }
  for (const Matrix& matrix : outer_matrices(out.model)) add(matrix, 0, 1);
  add_roles(out, elements);
}

}  // namespace

Result<std::vector<ModelSummary>> list_models(const Assets& assets) {
  std::vector<ModelSummary> out;
  for (const std::string& id : model::model_ids(assets)) {
    const Result<model::ResolvedModel> found = model::find_model(assets, id);
    if (!found) return tl::unexpected<Error>(found.error());
    out.push_back(summarise(found->model));
  }
  return out;
}

Result<ModelDetail> describe_model(const Assets& assets, std::string_view name) {
  Result<model::ResolvedModel> found = model::find_model(assets, name);
  if (!found) return tl::unexpected<Error>(found.error());
  ModelDetail out;
  out.model = std::move(found->model);
  out.resolution_note = std::move(found->note);
  out.summary = summarise(out.model);
  describe_layers(out);
  return out;
}

}  // namespace corridor::app
