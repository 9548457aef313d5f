// SPDX-License-Identifier: Apache-2.0
// Roles told from the names that real checkpoints and quantisation lists use.
#include "corridor/model/tensor_names.h"

#include <gtest/gtest.h>

namespace corridor::model {
namespace {

struct Named {
  const char* tensor;
  TensorRole role;
};
class HfName : public ::testing::TestWithParam<Named> {};
TEST_P(HfName, HasItsRole) {
  EXPECT_EQ(tensor_role(GetParam().tensor), GetParam().role) << GetParam().tensor;
}
INSTANTIATE_TEST_SUITE_P(
    Names, HfName,
    ::testing::Values(Named{"model.embed_tokens.weight", TensorRole::embedding},
                      Named{"transformer.wte.weight", TensorRole::embedding}, Named{"lm_head.weight", TensorRole::head},
                      Named{"model.norm.weight", TensorRole::norm},
                      Named{"model.layers.0.self_attn.q_norm.weight", TensorRole::norm},
                      Named{"model.layers.0.self_attn.q_proj.weight_scale_inv", TensorRole::attention},
                      Named{"model.layers.3.mlp.experts.7.gate_proj.weight", TensorRole::expert},
                      Named{"model.layers.3.mlp.shared_experts.up_proj.weight", TensorRole::shared_expert},
                      Named{"model.layers.3.mlp.shared_expert_gate.weight", TensorRole::router},
                      Named{"model.layers.3.mlp.gate.weight", TensorRole::router},
                      Named{"model.layers.3.block_sparse_moe.gate.weight", TensorRole::router},
                      Named{"model.layers.3.mlp.gate_proj.weight", TensorRole::dense_mlp},
                      Named{"model.layers.3.linear_attn.in_proj_qkvz.weight", TensorRole::attention},
                      Named{"backbone.layers.4.mixer.in_proj.weight", TensorRole::attention},
                      Named{"backbone.layers.4.mixer.experts.1.up_proj.weight", TensorRole::expert},
                      Named{"model.visual.blocks.0.attn.qkv.weight", TensorRole::vision},
                      Named{"mtp.layers.0.self_attn.q_proj.weight", TensorRole::mtp}));

class GgufName : public ::testing::TestWithParam<Named> {};
TEST_P(GgufName, HasItsRole) {
  EXPECT_EQ(gguf_tensor_role(GetParam().tensor), GetParam().role) << GetParam().tensor;
}
INSTANTIATE_TEST_SUITE_P(Names, GgufName,
                         ::testing::Values(Named{"token_embd.weight", TensorRole::embedding},
                                           Named{"output.weight", TensorRole::head},
                                           Named{"output_norm.weight", TensorRole::norm},
                                           Named{"blk.0.attn_norm.weight", TensorRole::norm},
                                           Named{"blk.0.attn_output.weight", TensorRole::attention},
                                           Named{"blk.9.ffn_gate_inp.weight", TensorRole::router},
                                           Named{"blk.9.ffn_down_exps.weight", TensorRole::expert},
                                           Named{"blk.9.ffn_gate.3.weight", TensorRole::expert},
                                           Named{"blk.9.ffn_up_shexp.weight", TensorRole::shared_expert},
                                           Named{"blk.9.ffn_up.weight", TensorRole::dense_mlp},
                                           Named{"blk.9.ssm_in.weight", TensorRole::attention}));

TEST(LayerIndex, IsFoundInAllSpellings) {
  EXPECT_EQ(layer_index("model.layers.17.mlp.up_proj"), 17);
  EXPECT_EQ(layer_index("blk.3.ffn_up.weight"), 3);
  EXPECT_EQ(layer_index("transformer.h.5.attn"), 5);
  EXPECT_FALSE(layer_index("lm_head.weight"));
  EXPECT_FALSE(layer_index("model.layers.*.self_attn"));
}

TEST(ModulePlace, PatternsOfIgnoreLists) {
  EXPECT_EQ(module_place("re:.*self_attn.*").roles, std::vector{TensorRole::attention});
  EXPECT_TRUE(module_place("model.layers.3.self_attn*").whole);
  EXPECT_FALSE(module_place("model.layers.3.self_attn.kv_b_proj").whole);
  EXPECT_EQ(module_place("re:.*mlp\\.(gate|up|gate_up|down)_proj.*").roles.front(), TensorRole::dense_mlp);
  EXPECT_EQ(module_place("model.layers.0*").roles.size(), 4U);
  EXPECT_EQ(module_place("model.layers.0*").layer, 0);
  EXPECT_TRUE(module_place("lm_head").roles.empty());
  EXPECT_TRUE(module_place("model.layers.1.mlp.gate").roles.empty());
  EXPECT_TRUE(module_place("vision_tower.layers.1.self_attn.q_proj").roles.empty());
}

}  // namespace
}  // namespace corridor::model
