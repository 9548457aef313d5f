// SPDX-License-Identifier: Apache-2.0
// Formats: bits by rule, names and aliases, and putting a whole model into one format.
#include "corridor/model/weight_format.h"

#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "corridor/model/matrices.h"
#include "corridor/model/readers.h"

namespace corridor::model {
namespace {

struct Expected {
  const char* name;
  double bits;
  const char* compute;
  ComputeClass compute_class;
};

class FormatRule : public ::testing::TestWithParam<Expected> {};

TEST_P(FormatRule, BitsAndArithmetic) {
  const auto format = find_weight_format(GetParam().name);
  ASSERT_TRUE(format) << GetParam().name;
  EXPECT_NEAR(format->bits_per_weight, GetParam().bits, 1e-4);
  EXPECT_EQ(format->compute, GetParam().compute);
  EXPECT_EQ(format->compute_class, GetParam().compute_class);
}

constexpr auto own = ComputeClass::own;
constexpr auto unpacked = ComputeClass::weight_only;
INSTANTIATE_TEST_SUITE_P(
    Table, FormatRule,
    ::testing::Values(Expected{"fp32", 32, "fp32", own}, Expected{"bf16", 16, "bf16", own},
                      Expected{"fp16", 16, "fp16", own}, Expected{"fp8", 8, "fp8", own},
                      Expected{"fp8-block", 8 + 32.0 / 16384, "fp8", own}, Expected{"nvfp4", 4.5, "fp4", own},
                      Expected{"mxfp4", 4.25, "fp4", own}, Expected{"int8", 8, "bf16", unpacked},
                      Expected{"int8 w8a8", 8, "int8", own}, Expected{"int4", 4.15625, "bf16", unpacked},
                      Expected{"awq", 4.15625, "bf16", unpacked}, Expected{"gptq", 4.15625, "bf16", unpacked},
                      Expected{"int4-g32", 4.625, "bf16", unpacked}, Expected{"nf4-dq", 4.127, "bf16", unpacked},
                      Expected{"q4_0", 4.5, "bf16", unpacked}, Expected{"q4_1", 5, "bf16", unpacked},
                      Expected{"q5_0", 5.5, "bf16", unpacked}, Expected{"q5_1", 6, "bf16", unpacked},
                      Expected{"q8_0", 8.5, "bf16", unpacked}, Expected{"q2_k", 2.625, "bf16", unpacked},
                      Expected{"q3_k", 3.4375, "bf16", unpacked}, Expected{"q4_k", 4.5, "bf16", unpacked},
                      Expected{"q5_k", 5.5, "bf16", unpacked}, Expected{"q6_k", 6.5625, "bf16", unpacked}));

TEST(WeightFormat, NamesAreUniqueAndFindThemselves) {
  std::set<std::string> names;
  for (const WeightFormat& format : weight_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    const auto found = find_weight_format(format.name);
    ASSERT_TRUE(found) << format.name;
    EXPECT_EQ(found->name, format.name);
    EXPECT_GT(format.bits_per_weight, 1);
    EXPECT_LE(format.bits_per_weight, 32);
  }
}

TEST(WeightFormat, CaseAndSeparatorsDoNotMatter) {
  EXPECT_EQ(find_weight_format("Q4_K_M")->name, "q4_k_m");
  EXPECT_EQ(find_weight_format("q4-k-m")->name, "q4_k_m");
  EXPECT_EQ(find_weight_format("BFloat16")->name, "bf16");
  EXPECT_EQ(find_weight_format("FP8_E4M3")->name, "fp8");
  EXPECT_EQ(find_weight_format("W4A16")->name, "int4-g128");
}

TEST(WeightFormat, UnknownNamesAreRefused) {
  EXPECT_FALSE(find_weight_format(""));
  EXPECT_FALSE(find_weight_format("fp7"));
  EXPECT_FALSE(find_weight_format(std::string(1000, 'q')));
}

TEST(WithWeightFormat, EmbeddingHeadNormsAndRouterStay16Bit) {
  const ModelSpec model = with_weight_format(ModelSpec{}, *find_weight_format("fp8"));
  for (const TensorRole role : {TensorRole::embedding, TensorRole::head, TensorRole::norm, TensorRole::router}) {
    EXPECT_EQ(model.stored(role).format.name, "bf16") << name(role);
  }
  for (const TensorRole role :
       {TensorRole::attention, TensorRole::expert, TensorRole::shared_expert, TensorRole::dense_mlp}) {
    EXPECT_EQ(model.stored(role).format.name, "fp8") << name(role);
  }
}

TEST(WithWeightFormat, ForgetsStoredBytes) {
  ModelSpec model;
  model.stored(TensorRole::attention).stored_bytes = 1e9;
  model.stored(TensorRole::attention).elements = 1e9;
  EXPECT_DOUBLE_EQ(model.stored(TensorRole::attention).bits_per_weight(), 8);
  model = with_weight_format(model, *find_weight_format("bf16"));
  EXPECT_DOUBLE_EQ(model.stored(TensorRole::attention).bits_per_weight(), 16);
}

TEST(WithWeightFormat, GgufQuantisesTheTablesToo) {
  const ModelSpec model = with_weight_format(ModelSpec{}, *find_weight_format("q4_k_m"));
  EXPECT_EQ(model.stored(TensorRole::embedding).format.name, "q4_k");
  EXPECT_EQ(model.stored(TensorRole::head).format.name, "q6_k");
}

TEST(PlainDenseModel, AllWeightsAndNoLayers) {
  const auto model = plain_dense_model(70e9);
  ASSERT_TRUE(model);
  EXPECT_DOUBLE_EQ(parameter_count(*model), 70e9);
  EXPECT_DOUBLE_EQ(weight_bytes(*model), 140e9);
  EXPECT_DOUBLE_EQ(weight_bytes(with_weight_format(*model, *find_weight_format("fp8"))), 70e9);
  EXPECT_TRUE(model->layers.empty());
}

TEST(PlainDenseModel, RefusesWhatIsNoModel) {
  for (const double count : {0.0, -1.0, 10.0, 1e15, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(plain_dense_model(count)) << count;
  }
}

}  // namespace
}  // namespace corridor::model
