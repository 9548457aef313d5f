// SPDX-License-Identifier: Apache-2.0
// From the shapes of a layer to the list of its weight matrices, and the parameter and byte counts that follow.
#include "corridor/model/matrices.h"

#include <utility>

namespace corridor::model {
namespace {

double real(std::int64_t value) {
  return static_cast<double>(value);
}

/// Collects the matrices of one layer.
class MatrixList {
 public:
  explicit MatrixList(double hidden) : hidden_(hidden) {}

  Matrix& add(std::string name, TensorRole role, double out, double in, Split split) {
    Matrix matrix;
    matrix.name = std::move(name);
    matrix.role = role;
    matrix.out = out;
    matrix.in = in;
    matrix.split = split;
    list_.push_back(std::move(matrix));
    return list_.back();
  }
  Matrix& attention(std::string name, double out, double in, Split split) {
    return add(std::move(name), TensorRole::attention, out, in, split);
  }
  /// Elements that are no matrix product: norm vectors, convolutions, state parameters.
  void vectors(std::string name, TensorRole role, double elements, Split split) {
    Matrix& matrix = add(std::move(name), role, 0, 0, split);
    matrix.extra_elements = elements;
    matrix.is_product = false;
  }

  void mix(const NoMixer&) {}
  void mix(const SoftmaxAttention& a);
  void mix(const LatentAttention& a);
  void mix(const LinearAttention& a);
  void mix(const StateSpace& s);
  void indexer(const Indexer& indexer, double query_in);
  void compressor(const SoftmaxAttention& a);
  void feed_forward(const FeedForward& f);
  void experts(const FeedForward& f);

  double norm_elements = 0;
  std::vector<Matrix> take() { return std::move(list_); }

 private:
  double hidden_;
  std::vector<Matrix> list_;
};

void MatrixList::mix(const SoftmaxAttention& a) {
  const double q = real(a.heads * a.qk_dim);
  const double k = real(a.kv_heads * a.qk_dim);
  const double v = real(a.kv_heads * a.v_dim);
  if (a.q_rank > 0) {
    attention("q_a", real(a.q_rank), hidden_, Split::replicated).fused_with = "qkv_a";
    attention("q_b", q, real(a.q_rank), Split::columns);
    norm_elements += real(a.q_rank);
  } else {
    Matrix& query = attention("q", q, hidden_, Split::columns);
    query.fused_with = "qkv";
    query.extra_elements = a.bias ? q : 0;
  }
  if (a.output_gate) attention("q_gate", q, hidden_, Split::columns).fused_with = "qkv";
  if (!a.reuses_kv) {
    const char* tag = a.q_rank > 0 ? "qkv_a" : "qkv";
    Matrix& key = attention("k", k, hidden_, Split::kv_heads);
    key.fused_with = tag;
    key.extra_elements = a.bias ? k : 0;
    if (!a.shared_kv) {
      Matrix& value = attention("v", v, hidden_, Split::kv_heads);
      value.fused_with = tag;
      value.extra_elements = a.bias ? v : 0;
    }
  }
  if (a.qk_norm) norm_elements += 2 * real(a.qk_dim);
  if (a.compress_ratio > 1) compressor(a);
  if (a.indexer) indexer(*a.indexer, a.q_rank > 0 ? real(a.q_rank) : hidden_);
  const double joined = real(a.heads * a.v_dim);
  if (a.output_rank > 0) {
    const double groups = real(a.output_groups > 0 ? a.output_groups : 1);
    attention("o_a", groups * real(a.output_rank), joined / groups, Split::columns);
    attention("o_b", hidden_, groups * real(a.output_rank), Split::rows);
  } else {
    attention("o", hidden_, joined, Split::rows).extra_elements = a.output_bias ? hidden_ : 0;
  }
}

/// Tokens folded into one cache entry: a value and a gate projection each (twice as wide when blocks overlap).
void MatrixList::compressor(const SoftmaxAttention& a) {
  const double width = real(a.qk_dim) * (a.compress_ratio <= 4 ? 2 : 1);
  attention("compress_kv", width, hidden_, Split::replicated);
  attention("compress_gate", width, hidden_, Split::replicated);
  norm_elements += width * real(a.compress_ratio) + real(a.qk_dim);
}

void MatrixList::indexer(const Indexer& indexer, double query_in) {
  if (indexer.heads <= 0) return;  // uses the selection of an earlier layer
  const double heads = real(indexer.heads);
  const double dim = real(indexer.head_dim);
  attention("index_q", heads * dim, query_in, Split::replicated);
  if (indexer.compress_ratio > 1) {
    const double width = dim * (indexer.compress_ratio <= 4 ? 2 : 1);
    attention("index_k", 2 * width, hidden_, Split::replicated);
  } else {
    attention("index_k", dim, hidden_, Split::replicated);
  }
  attention("index_weights", heads, hidden_, Split::replicated);
  norm_elements += 2 * dim;
}

void MatrixList::mix(const LatentAttention& a) {
  const double heads = real(a.heads);
  const double qk = real(a.nope_dim + a.rope_dim);
  if (a.q_rank > 0) {
    attention("q_a", real(a.q_rank), hidden_, Split::replicated).fused_with = "qkv_a";
    attention("q_b", heads * qk, real(a.q_rank), Split::columns);
    norm_elements += real(a.q_rank);
  } else {
    attention("q", heads * qk, hidden_, Split::columns);
  }
  attention("kv_a", real(a.kv_rank + a.rope_dim), hidden_, Split::replicated).fused_with = a.q_rank > 0 ? "qkv_a" : "";
  attention("kv_b", heads * real(a.nope_dim + a.v_dim), real(a.kv_rank), Split::columns);
  norm_elements += real(a.kv_rank);
  if (a.output_gate) attention("o_gate", heads * real(a.v_dim), hidden_, Split::columns);
  if (a.indexer) indexer(*a.indexer, a.q_rank > 0 ? real(a.q_rank) : hidden_);
  attention("o", hidden_, heads * real(a.v_dim), Split::rows);
}

void MatrixList::mix(const LinearAttention& a) {
  const double key = real(a.key_heads * a.key_dim);
  const double value = real(a.value_heads * a.value_dim);
  attention("linear_qkv", 2 * key + value, hidden_, Split::columns).fused_with = "linear_in";
  if (a.gate_size > 0) attention("linear_gate", real(a.gate_size), hidden_, Split::columns).fused_with = "linear_in";
  if (a.low_rank_gates > 0) {
    const double gates = real(a.low_rank_gates);
    attention("gate_a", gates * real(a.gate_rank), hidden_, Split::replicated);
    attention("gate_b", gates * value, real(a.gate_rank), Split::columns);
  }
  if (a.conv_width > 0) {
    vectors("convolution", TensorRole::attention, (2 * key + value) * real(a.conv_width), Split::columns);
  }
  vectors("state", TensorRole::attention, 2 * real(a.value_heads) + real(a.value_dim), Split::columns);
  attention("o", hidden_, value, Split::rows);
}

void MatrixList::mix(const StateSpace& s) {
  const double inner = real(s.heads * s.head_dim);
  const double state = real(s.groups * s.state);
  attention("ssm_in", 2 * inner + 2 * state + real(s.heads), hidden_, Split::columns);
  if (s.conv_width > 0) {
    vectors("convolution", TensorRole::attention, (inner + 2 * state) * (real(s.conv_width) + 1), Split::columns);
  }
  vectors("state", TensorRole::attention, 3 * real(s.heads) + inner, Split::columns);
  attention("o", hidden_, inner, Split::rows);
}

void MatrixList::experts(const FeedForward& f) {
  const double experts = real(f.experts);
  const double inner = real(f.expert_intermediate);
  const double width = f.expert_hidden > 0 ? real(f.expert_hidden) : hidden_;
  const double ways = f.gated ? 2 : 1;
  add("router", TensorRole::router, experts, hidden_, Split::replicated).extra_elements = f.router_bias ? experts : 0;
  if (f.expert_hidden > 0) add("latent_down", TensorRole::shared_expert, width, hidden_, Split::replicated);
  Matrix& up = add(f.gated ? "expert_gate_up" : "expert_up", TensorRole::expert, ways * inner, width, Split::columns);
  up.copies = experts;
  up.extra_elements = f.expert_bias ? ways * inner : 0;
  Matrix& down = add("expert_down", TensorRole::expert, width, inner, Split::rows);
  down.copies = experts;
  down.extra_elements = f.expert_bias ? width : 0;
  if (f.expert_hidden > 0) add("latent_up", TensorRole::shared_expert, hidden_, width, Split::replicated);
  if (f.shared_intermediate > 0) {
    const double shared = real(f.shared_intermediate);
    add(f.gated ? "shared_gate_up" : "shared_up", TensorRole::shared_expert, ways * shared, hidden_, Split::columns);
    add("shared_down", TensorRole::shared_expert, hidden_, shared, Split::rows);
  }
  if (f.shared_gate) add("shared_gate", TensorRole::router, 1, hidden_, Split::replicated);
}

void MatrixList::feed_forward(const FeedForward& f) {
  if (f.experts > 0) return experts(f);
  if (f.intermediate > 0) {
    const double inner = real(f.intermediate);
    const double ways = f.gated ? 2 : 1;
    Matrix& up = add(f.gated ? "gate_up" : "up", TensorRole::dense_mlp, ways * inner, hidden_, Split::columns);
    up.extra_elements = f.bias ? ways * inner : 0;
    add("down", TensorRole::dense_mlp, hidden_, inner, Split::rows).extra_elements = f.bias ? hidden_ : 0;
  }
}

/// Sum over layers and outer matrices of `weigh(matrix) × times it occurs`.
template <class Weigh>
double sum_matrices(const ModelSpec& model, Weigh weigh) {
  double total = 0;
  for (const LayerGroup& group : model.layers) {
    double one = 0;
    for (const Matrix& matrix : layer_matrices(model, group)) one += weigh(matrix, group);
    total += one * real(group.count);
  }
  const LayerGroup none;
  for (const Matrix& matrix : outer_matrices(model)) total += weigh(matrix, none);
  return total;
}

}  // namespace

std::vector<Matrix> layer_matrices(const ModelSpec& model, const LayerGroup& group) {
  const double hidden = real(model.hidden);
  MatrixList list(hidden);
  list.norm_elements = real(group.norms) * hidden;
  std::visit([&](const auto& mixer) { list.mix(mixer); }, group.mixer);
  list.feed_forward(group.feed_forward);
  if (list.norm_elements > 0) list.vectors("norms", TensorRole::norm, list.norm_elements, Split::replicated);
  return list.take();
}

std::vector<Matrix> outer_matrices(const ModelSpec& model) {
  const double hidden = real(model.hidden);
  const double vocab = real(model.vocab);
  if (model.hidden <= 0) return {};
  MatrixList list(hidden);
  if (!model.tied_embeddings) {
    list.add("embedding", TensorRole::embedding, vocab, hidden, Split::columns).is_product = false;
  }
  if (model.learned_positions > 0) {
    list.vectors("positions", TensorRole::embedding, real(model.learned_positions) * hidden, Split::replicated);
  }
  list.vectors("final_norm", TensorRole::norm, hidden, Split::replicated);
  list.add("head", TensorRole::head, vocab, hidden, Split::columns);
  return list.take();
}

double parameter_count(const ModelSpec& model) {
  if (model.plain_parameters) return *model.plain_parameters;
  return sum_matrices(model, [](const Matrix& matrix, const LayerGroup&) { return matrix.elements(); });
}

double active_parameter_count(const ModelSpec& model) {
  if (model.plain_parameters) return *model.plain_parameters;
  return sum_matrices(model, [](const Matrix& matrix, const LayerGroup& group) {
    if (matrix.role == TensorRole::embedding) return 0.0;
    if (matrix.role != TensorRole::expert) return matrix.elements();
    const double used = real(group.feed_forward.experts_per_token);
    return matrix.copies > 0 ? matrix.elements() / matrix.copies * used : 0.0;
  });
}

double weight_bytes(const ModelSpec& model) {
  if (model.plain_parameters) {
    return *model.plain_parameters * model.stored(TensorRole::dense_mlp).bits_per_weight() / 8;
  }
  return sum_matrices(model, [&](const Matrix& matrix, const LayerGroup&) {
    return matrix.elements() * model.stored(matrix.role).bits_per_weight() / 8;
  });
}

}  // namespace corridor::model
