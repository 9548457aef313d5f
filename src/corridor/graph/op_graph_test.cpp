// SPDX-License-Identifier: Apache-2.0
// Operations of a step: FLOPs and bytes against formulas worked out by hand.
#include "corridor/graph/op_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/graph/kv_cache.h"
#include "corridor/graph/placement.h"
#include "corridor/model/readers.h"

namespace corridor::graph {
namespace {

const Assets& assets() {
  static const Assets all = *Assets::open();
  return all;
}

model::ModelSpec built_in(const char* id) {
  return model::find_model(assets(), id)->model;
}

GraphOptions options_with_tp(std::int64_t tp) {
  GraphOptions options;
  options.parallelism.tp = tp;
  return options;
}

double total(const OpGraph& graph, units::Bytes Op::*part) {
  double sum = 0;
  for (const Op& op : graph.ops) sum += (op.*part).value() * op.repeats;
  return sum;
}

double total_flops(const OpGraph& graph, OpKind kind) {
  double sum = 0;
  for (const Op& op : graph.ops) {
    if (op.kind == kind) sum += op.flops.value() * op.repeats;
  }
  return sum;
}

double count_of(const OpGraph& graph, Collective collective) {
  double sum = 0;
  for (const Op& op : graph.ops) {
    if (op.collective == collective) sum += op.repeats;
  }
  return sum;
}

StepShape decode(double sequences, double context) {
  StepShape shape;
  shape.decode_sequences = sequences;
  shape.context = context;
  return shape;
}

TEST(Experts, BatchOneTouchesKUnderEveryRouting) {
  for (const Routing routing : {Routing::balanced, Routing::uniform, Routing::skewed}) {
    EXPECT_NEAR(experts_touched(256, 8, 1, routing), 8, 1e-9) << name(routing);
  }
}

TEST(Experts, UniformIsBetweenKAndBalancedAndSkewedBelowIt) {
  const double uniform = experts_touched(128, 8, 16, Routing::uniform);
  EXPECT_NEAR(uniform, 128 * (1 - std::pow(1 - 8.0 / 128, 16)), 1e-9);
  EXPECT_LT(uniform, experts_touched(128, 8, 16, Routing::balanced));
  EXPECT_LT(experts_touched(128, 8, 16, Routing::skewed), uniform);
  EXPECT_GT(experts_touched(128, 8, 16, Routing::skewed), 8);
}

TEST(Speculation, TokensARoundAndItsInverse) {
  EXPECT_DOUBLE_EQ(tokens_per_round(4, 1), 5);
  EXPECT_DOUBLE_EQ(tokens_per_round(4, 0), 1);
  EXPECT_NEAR(tokens_per_round(3, 0.7), 1 + 0.7 + 0.49 + 0.343, 1e-12);
  EXPECT_NEAR(acceptance_for(3, tokens_per_round(3, 0.7)), 0.7, 1e-9);
}

TEST(KvCache, GoldenBytesPerToken) {
  const model::WeightFormat bf16 = *model::find_weight_format("bf16");
  EXPECT_EQ(kv_bytes_per_token(built_in("meta-llama/Llama-3.1-70B"), bf16).value(), 80 * 2 * 8 * 128 * 2);  // 327,680
  EXPECT_EQ(kv_bytes_per_token(built_in("deepseek-ai/DeepSeek-V3"), bf16).value(), 61 * (512 + 64) * 2);    // 70,272
}

TEST(KvCache, TensorParallelismDuplicatesKvHeadsBeyondTheirCount) {
  const model::WeightFormat bf16 = *model::find_weight_format("bf16");
  const model::ModelSpec llama = built_in("meta-llama/Llama-3.1-70B");
  const double whole = kv_resident(llama, bf16, 1000).value();
  EXPECT_DOUBLE_EQ(kv_resident(llama, bf16, 1000, 8).value(), whole / 8);
  EXPECT_DOUBLE_EQ(kv_resident(llama, bf16, 1000, 16).value(), whole / 8);  // 8 KV heads: never less than one
  const model::ModelSpec deepseek = built_in("deepseek-ai/DeepSeek-V3");
  EXPECT_DOUBLE_EQ(kv_resident(deepseek, bf16, 1000, 8).value(), kv_resident(deepseek, bf16, 1000).value());
}

TEST(KvCache, AWindowBoundsWhatIsKeptAndRead) {
  model::SoftmaxAttention attention;
  attention.heads = attention.kv_heads = 4;
  attention.qk_dim = attention.v_dim = 64;
  attention.window = 128;
  const LayerCache cache = layer_cache(model::Mixer{attention}, *model::find_weight_format("bf16"), 1);
  EXPECT_DOUBLE_EQ(cache.resident_bytes(10'000), 128 * 4 * 128 * 2);
  EXPECT_DOUBLE_EQ(cache.read_bytes(10'000), cache.read_bytes(128));
  EXPECT_LT(cache.read_bytes(100), cache.read_bytes(128));
}

TEST(Graph, Llama70BReads139GigabytesAToken) {
  const OpGraph graph = build_graph(built_in("meta-llama/Llama-3.1-70B"), decode(1, 1152), {});
  EXPECT_NEAR(total(graph, &Op::weights) / 1e9, 139.0, 0.05);                   // 141.1 resident less the input table
  EXPECT_NEAR(total_flops(graph, OpKind::product), 2 * 69'501'714'432.0, 1e6);  // without norms
  // 2·heads·(d_qk + d_v) FLOP a layer for each visible key.
  EXPECT_DOUBLE_EQ(total_flops(graph, OpKind::attention_decode), 80 * 2.0 * 64 * 256 * 1152);
}

TEST(Graph, PrefillAttentionCountsCausalPairsExactly) {
  StepShape shape;
  shape.prefill_tokens = 7;
  shape.prefill_sequences = 1;
  shape.prefill_past = 5;
  const OpGraph graph = build_graph(built_in("meta-llama/Llama-3.1-70B"), shape, {});
  double pairs = 0;
  for (int query = 0; query < 7; ++query) pairs += 5 + query + 1;
  EXPECT_DOUBLE_EQ(total_flops(graph, OpKind::attention_prefill), 80 * 2.0 * 64 * 256 * pairs);
}

TEST(Graph, PrefillPairsOfAWindowMatchABruteForceCount) {
  model::ModelSpec model = built_in("meta-llama/Llama-3.1-8B");
  std::get<model::SoftmaxAttention>(model.layers.front().mixer).window = 6;
  for (const double past : {0.0, 3.0, 20.0}) {
    StepShape shape;
    shape.prefill_tokens = 9;
    shape.prefill_sequences = 1;
    shape.prefill_past = past;
    double pairs = 0;
    for (int query = 1; query <= 9; ++query) pairs += std::min(past + query, 6.0);
    EXPECT_DOUBLE_EQ(total_flops(build_graph(model, shape, {}), OpKind::attention_prefill), 32 * 2.0 * 32 * 256 * pairs)
        << "past " << past;
  }
}

TEST(Graph, MlaDecodeIsCountedAbsorbed) {
  const OpGraph graph = build_graph(built_in("deepseek-ai/DeepSeek-V3"), decode(1, 1000), {});
  EXPECT_DOUBLE_EQ(total_flops(graph, OpKind::attention_decode), 61 * 2.0 * 128 * ((512 + 64) + 512) * 1000);
}

TEST(Graph, TwoAllReducesALayerAndOneForTheEmbedding) {
  const OpGraph graph = build_graph(built_in("meta-llama/Llama-3.1-70B"), decode(1, 100), options_with_tp(4));
  EXPECT_EQ(count_of(graph, Collective::all_reduce), 2 * 80 + 1);
  EXPECT_EQ(count_of(graph, Collective::all_gather), 1);
  EXPECT_EQ(count_of(build_graph(built_in("meta-llama/Llama-3.1-70B"), decode(1, 100), {}), Collective::all_reduce), 0);
}

TEST(Graph, AttentionBesideTheMlpNeedsOneAllReduce) {
  model::ModelSpec model = built_in("meta-llama/Llama-3.1-8B");
  for (model::LayerGroup& group : model.layers) group.parallel = true;
  EXPECT_EQ(count_of(build_graph(model, decode(1, 100), options_with_tp(2)), Collective::all_reduce), 32 + 1);
}

TEST(Graph, TensorParallelRanksShareTheWeights) {
  const model::ModelSpec model = built_in("meta-llama/Llama-3.1-70B");
  const double one = total(build_graph(model, decode(1, 100), {}), &Op::weights);
  EXPECT_NEAR(total(build_graph(model, decode(1, 100), options_with_tp(8)), &Op::weights), one / 8, one * 1e-4);
}

TEST(Graph, WithoutFlashAttentionTheScoresTravel) {
  const model::ModelSpec model = built_in("meta-llama/Llama-3.1-8B");
  StepShape shape;
  shape.prefill_tokens = 100;
  shape.prefill_sequences = 1;
  GraphOptions unfused;
  unfused.flash_attention = false;
  const double with = total(build_graph(model, shape, {}), &Op::activations);
  const double without = total(build_graph(model, shape, unfused), &Op::activations);
  EXPECT_DOUBLE_EQ(without - with, 32.0 * 4 * 32 * (100 * 101 / 2) * 2);  // layers · trips · heads · pairs · bytes
}

TEST(Graph, FusionRemovesTripsAndLaunches) {
  const model::ModelSpec model = built_in("meta-llama/Llama-3.1-8B");
  GraphOptions apart;
  apart.fusion = false;
  const OpGraph fused = build_graph(model, decode(8, 100), {});
  const OpGraph unfused = build_graph(model, decode(8, 100), apart);
  EXPECT_GT(total(unfused, &Op::activations), total(fused, &Op::activations));
  EXPECT_DOUBLE_EQ(total(unfused, &Op::weights), total(fused, &Op::weights));
}

TEST(Graph, Fp8ProductsPayAKernelThatQuantisesTheirInput) {
  const model::ModelSpec fp8 =
      model::with_weight_format(built_in("meta-llama/Llama-3.1-8B"), *model::find_weight_format("fp8"));
  const OpGraph graph = build_graph(fp8, decode(1, 100), {});
  double kernels = 0;
  for (const Op& op : graph.ops) kernels += op.kind == OpKind::quantise ? op.repeats : 0;
  EXPECT_EQ(kernels, 32 * 4);  // qkv, o, gate_up, down; the head stays 16 bit
}

TEST(Graph, ExpertsSpreadBeyondTensorParallelismExchangeTokens) {
  GraphOptions options;
  options.parallelism = {.tp = 1, .pp = 1, .ep = 8, .dp = 8};
  const OpGraph graph = build_graph(built_in("deepseek-ai/DeepSeek-V3"), decode(4, 100), options);
  EXPECT_EQ(count_of(graph, Collective::all_to_all), 2 * 58);  // dispatch and combine of the 58 routed layers
}

TEST(Placement, DefaultLayoutStaysInANodeAndDividesTheHeads) {
  const model::ModelSpec llama = built_in("meta-llama/Llama-3.1-70B");
  EXPECT_EQ(default_layout(llama, 8, 8).tp, 8);
  const Parallelism sixteen = default_layout(llama, 16, 8);
  EXPECT_EQ(sixteen.tp, 8);
  EXPECT_EQ(sixteen.pp, 2);
  EXPECT_EQ(default_layout(llama, 3, 8).pp, 3);  // 64 heads cannot be cut in three
}

TEST(Placement, RefusesLayoutsThatCannotBe) {
  const model::ModelSpec llama = built_in("meta-llama/Llama-3.1-70B");
  EXPECT_THAT(check_layout(llama, {.tp = 3}).error().line(), testing::HasSubstr("64 attention heads"));
  EXPECT_FALSE(check_layout(llama, {.pp = 81}).has_value());
  EXPECT_FALSE(check_layout(llama, {.tp = 8, .ep = 8}).has_value());
  EXPECT_FALSE(check_layout(llama, {.tp = 0}).has_value());
  EXPECT_TRUE(check_layout(built_in("deepseek-ai/DeepSeek-V3"), {.tp = 8, .ep = 8}).has_value());
}

TEST(Placement, DevicesShareWeightsButNotReplicatedParts) {
  const model::ModelSpec deepseek = built_in("deepseek-ai/DeepSeek-V3");
  const double one = weights_per_device(deepseek, {}).value();
  EXPECT_GT(weights_per_device(deepseek, {.tp = 8}).value(), one / 8);
  EXPECT_LT(weights_per_device(deepseek, {.tp = 8}).value(), one / 7);
}

}  // namespace
}  // namespace corridor::graph
