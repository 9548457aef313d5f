// SPDX-License-Identifier: Apache-2.0
// Shapes of the matrices of one layer, worked out by hand for each kind of layer.
#include "corridor/model/matrices.h"

#include <map>

#include <gtest/gtest.h>

namespace corridor::model {
namespace {

std::map<std::string, Matrix> by_name(const ModelSpec& model, const LayerGroup& group) {
  std::map<std::string, Matrix> out;
  for (const Matrix& matrix : layer_matrices(model, group)) out[matrix.name] = matrix;
  return out;
}

ModelSpec tiny() {
  ModelSpec model;
  model.hidden = 8;
  model.vocab = 100;
  return model;
}

TEST(LayerMatrices, GroupedQueryAttentionAndSwiGlu) {
  SoftmaxAttention attention;
  attention.heads = 4;
  attention.kv_heads = 2;
  attention.qk_dim = 3;
  attention.v_dim = 3;
  attention.bias = true;
  FeedForward mlp;
  mlp.intermediate = 20;
  const auto found = by_name(tiny(), {1, attention, mlp, 2, false});
  EXPECT_EQ(found.at("q").elements(), 12 * 8 + 12);
  EXPECT_EQ(found.at("k").elements(), 6 * 8 + 6);
  EXPECT_EQ(found.at("o").out, 8);
  EXPECT_EQ(found.at("o").in, 12);
  EXPECT_EQ(found.at("k").split, Split::kv_heads);
  EXPECT_EQ(found.at("q").fused_with, found.at("v").fused_with);
  EXPECT_EQ(found.at("gate_up").out, 40);
  EXPECT_EQ(found.at("down").in, 20);
  EXPECT_EQ(found.at("norms").elements(), 16);
  EXPECT_FALSE(found.at("norms").is_product);
}

TEST(LayerMatrices, LatentAttention) {
  LatentAttention latent;
  latent.heads = 2;
  latent.q_rank = 5;
  latent.kv_rank = 4;
  latent.nope_dim = 3;
  latent.rope_dim = 1;
  latent.v_dim = 3;
  const auto found = by_name(tiny(), {1, latent, FeedForward{}, 0, false});
  EXPECT_EQ(found.at("q_a").elements(), 5 * 8);
  EXPECT_EQ(found.at("q_b").elements(), 2 * 4 * 5);
  EXPECT_EQ(found.at("kv_a").elements(), (4 + 1) * 8);
  EXPECT_EQ(found.at("kv_b").elements(), 2 * (3 + 3) * 4);
  EXPECT_EQ(found.at("kv_a").split, Split::replicated);
  EXPECT_EQ(found.count("q"), 0U);
}

TEST(LayerMatrices, ExpertsCountAllAndOnlyKAreActive) {
  ModelSpec model = tiny();
  FeedForward moe;
  moe.experts = 10;
  moe.experts_per_token = 2;
  moe.expert_intermediate = 5;
  moe.shared_intermediate = 5;
  model.layers.push_back({3, NoMixer{}, moe, 0, false});
  const double expert = 3 * 8 * 5;
  const double rest = 3 * (10 * 8 + expert) + 8 + 100 * 8;  // routers, shared experts, final norm, head
  EXPECT_EQ(parameter_count(model), 3 * 10 * expert + rest + 100 * 8);
  EXPECT_EQ(active_parameter_count(model), 3 * 2 * expert + rest);
}

TEST(LayerMatrices, LatentExpertsWorkInTheirOwnWidth) {
  FeedForward moe;
  moe.experts = 4;
  moe.experts_per_token = 1;
  moe.expert_intermediate = 6;
  moe.expert_hidden = 2;
  moe.gated = false;
  const auto found = by_name(tiny(), {1, NoMixer{}, moe, 0, false});
  EXPECT_EQ(found.at("expert_up").elements(), 4 * 6 * 2);
  EXPECT_EQ(found.at("latent_down").elements(), 2 * 8);
}

TEST(LayerMatrices, ReusedCacheHasNoKeyAndValue) {
  SoftmaxAttention attention;
  attention.heads = 2;
  attention.kv_heads = 2;
  attention.qk_dim = attention.v_dim = 4;
  attention.reuses_kv = true;
  const auto found = by_name(tiny(), {1, attention, FeedForward{}, 0, false});
  EXPECT_EQ(found.count("k"), 0U);
  EXPECT_EQ(found.count("q"), 1U);
}

TEST(OuterMatrices, ATiedTableIsOneMatrix) {
  ModelSpec model = tiny();
  EXPECT_EQ(parameter_count(model), 2 * 800 + 8);
  model.tied_embeddings = true;
  EXPECT_EQ(parameter_count(model), 800 + 8);
  EXPECT_EQ(active_parameter_count(model), 800 + 8);
}

TEST(WeightBytes, FollowTheStorageOfEachRole) {
  ModelSpec model = tiny();
  model.stored(TensorRole::head).stored_bytes = 400;
  model.stored(TensorRole::head).elements = 800;
  EXPECT_EQ(weight_bytes(model), 800 * 2 + 8 * 2 + 400);
}

TEST(TensorRoles, AllHaveNames) {
  for (std::size_t i = 0; i < tensor_role_count; ++i) EXPECT_FALSE(name(static_cast<TensorRole>(i)).empty());
}

}  // namespace
}  // namespace corridor::model
