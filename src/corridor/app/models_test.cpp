// SPDX-License-Identifier: Apache-2.0
// Lists and descriptions of models: sums must agree with the model they describe.
#include "corridor/app/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/model/matrices.h"

namespace corridor::app {
namespace {

const Assets& data() {
  static const Result<Assets> assets = Assets::open();
  return *assets;
}

TEST(ListModels, AllOfThemWithTheirNumbers) {
  const auto list = list_models(data());
  ASSERT_TRUE(list) << list.error().line();
  EXPECT_GE(list->size(), 40U);
  for (const ModelSummary& summary : *list) {
    EXPECT_GT(summary.parameters, 1e7) << summary.id;
    EXPECT_LE(summary.active, summary.parameters) << summary.id;
    EXPECT_GT(summary.kv_per_token.value(), 0) << summary.id;
    EXPECT_FALSE(summary.kinds.empty()) << summary.id;
  }
}

TEST(DescribeModel, Llama70B) {
  const auto detail = describe_model(data(), "llama-3.1-70b");
  ASSERT_TRUE(detail) << detail.error().line();
  EXPECT_EQ(detail->summary.kv_per_token.value(), 327'680);
  EXPECT_EQ(detail->summary.kinds, "GQA");
  ASSERT_EQ(detail->layers.size(), 1U);
  EXPECT_EQ(detail->layers[0].count, 80);
  EXPECT_FALSE(detail->resolution_note.empty());
}

TEST(DescribeModel, RolesAndMatricesAddUp) {
  for (const char* name : {"gpt-oss-120b", "deepseek-v3", "gemma-2-9b", "nemotron-3-nano", "qwen3.5-35b"}) {
    const auto detail = describe_model(data(), name);
    ASSERT_TRUE(detail) << detail.error().line();
    double elements = 0;
    double bytes = 0;
    for (const RoleRow& row : detail->roles) {
      elements += row.elements;
      bytes += row.bytes.value();
    }
    EXPECT_NEAR(elements / detail->summary.parameters, 1, 1e-12) << name;
    EXPECT_NEAR(bytes / detail->summary.weights.value(), 1, 1e-12) << name;
    double matrices = 0;
    for (const MatrixRow& row : detail->matrices) {
      const auto times = row.group == 0 ? 1.0 : static_cast<double>(detail->layers.at(row.group - 1).count);
      matrices += row.elements * times;
    }
    EXPECT_NEAR(matrices / elements, 1, 1e-12) << name;
  }
}

TEST(DescribeModel, HybridModelsNameTheirLayers) {
  const auto detail = describe_model(data(), "nemotron-3-nano");
  ASSERT_TRUE(detail);
  EXPECT_THAT(detail->summary.kinds, ::testing::AllOf(::testing::HasSubstr("SSM"), ::testing::HasSubstr("MoE")));
  EXPECT_GT(detail->summary.state_per_sequence.value(), 0);
}

TEST(DescribeModel, UnknownNamesFail) {
  const auto detail = describe_model(data(), "no-such-model");
  ASSERT_FALSE(detail);
  EXPECT_THAT(detail.error().line(), ::testing::HasSubstr("no-such-model"));
}

}  // namespace
}  // namespace corridor::app
