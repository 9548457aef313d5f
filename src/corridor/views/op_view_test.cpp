// SPDX-License-Identifier: Apache-2.0
// The keys `corridor op` promises, and what the terminal says.
#include "corridor/views/op_view.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "corridor/app/tools_test_device.h"

namespace corridor::views {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

report::Document document_of(const app::Op& op, bool explain = false) {
  const auto result = app::cost_op(op, "bf16", app::h100_by_hand());
  EXPECT_TRUE(result.has_value());
  return op_document(*result, explain, {"dtype bf16: none was given"});
}

TEST(OpView, JsonHasThePromisedKeys) {
  const app::OpResult expected = *app::cost_op(app::MatmulOp{1024, 1024, 1024}, "bf16", app::h100_by_hand());
  const report::Document document = document_of(app::MatmulOp{1024, 1024, 1024});
  EXPECT_THAT(report::duplicate_keys(document), IsEmpty());
  const auto json = nlohmann::json::parse(report::render_json(document));
  EXPECT_EQ(json["schema"], "corridor/op/1");
  EXPECT_EQ(json["flops"], expected.flops.value());
  EXPECT_EQ(json["bytes"], expected.bytes.value());
  EXPECT_EQ(json["intensity_flop_per_byte"], expected.intensity.value());
  EXPECT_EQ(json["wall"], "compute");
  EXPECT_EQ(json["trips"], 3);
  EXPECT_TRUE(json["trips"].is_number_integer());
  EXPECT_EQ(json["uses_per_value"], 1024);
  EXPECT_EQ(json["uses"]["a"], 1024);
  EXPECT_EQ(json["memory_time_s"], expected.memory_time.value());
  EXPECT_EQ(json["compute_time_s"], expected.compute_time.value());
  EXPECT_EQ(json["limit_s"], expected.limit.value());
  EXPECT_EQ(json["device"]["id"], "h100-sxm");
  EXPECT_EQ(json["assumptions"].size(), 1U);
}

TEST(OpView, GivenWorkHasNoTrips) {
  const auto json =
      nlohmann::json::parse(report::render_json(document_of(app::RawOp{units::Flops{140e9}, units::Bytes{140e9}})));
  EXPECT_TRUE(json["trips"].is_null());
  EXPECT_TRUE(json["uses_per_value"].is_null());
  EXPECT_EQ(json["wall"], "memory");
}

TEST(OpView, TerminalTellsFusionAndExplains) {
  const std::string plain = report::render_terminal(document_of(app::ElementwiseOp{1e6, 3, true}));
  EXPECT_THAT(plain, HasSubstr("Verdict: memory wall"));
  EXPECT_THAT(plain, HasSubstr("67 % of the traffic is gone"));
  EXPECT_THAT(plain, Not(HasSubstr("bytes = trips")));
  EXPECT_THAT(report::render_terminal(document_of(app::ElementwiseOp{1e6, 3, true}, true)), HasSubstr("bytes = trips"));
  EXPECT_THAT(report::render_terminal(document_of(app::MatmulOp{8, 8, 8, true})), HasSubstr("--fused changes nothing"));
}

}  // namespace
}  // namespace corridor::views
