// SPDX-License-Identifier: Apache-2.0
// Rows against predictions: each counted once, set apart for the stated reasons, operations taken from the graph.
#include "corridor/app/validate.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/app/validate_case.h"
#include "corridor/app/validate_operation.h"
#include "corridor/app/validate_regime.h"

namespace corridor::app {
namespace {

using profile::MeasuredPoint;
using profile::PointMetric;
using profile::PointOperation;
using testing::HasSubstr;

const Assets& assets() {
  static const Assets all = Assets::open().value();
  return all;
}

ValidateAnswer judge_files(const std::vector<std::string>& files) {
  ValidateRequest request;
  request.points = files;
  request.device = "h100-sxm";
  Result<ValidateAnswer> answer = validate(assets(), request);
  EXPECT_TRUE(answer.has_value()) << answer.error().line();
  return answer ? std::move(*answer) : ValidateAnswer{};
}

const ValidateAnswer& fixture() {
  static const ValidateAnswer answer = judge_files({CORRIDOR_SOURCE_DIR "/tests/fixtures/validation/points.csv",
                                                    CORRIDOR_SOURCE_DIR "/tests/fixtures/validation/operations.csv"});
  return answer;
}

const JudgedPoint& row(const std::string& id) {
  const auto& points = fixture().points;
  const auto found = std::find_if(points.begin(), points.end(), [&](const auto& p) { return p.point.id == id; });
  EXPECT_NE(found, points.end()) << id;
  return found == points.end() ? points.front() : *found;
}

/// Every row in exactly one place; intervals in order; no number that is none.
void expect_sound(const ValidateAnswer& answer) {
  std::size_t left_out = 0;
  for (const ReasonCount& reason : answer.not_understood) left_out += reason.points;
  EXPECT_EQ(answer.overall.points + answer.beyond_limit.size() + left_out, answer.points.size());
  std::size_t in_regimes = 0;
  for (const RegimeResult& regime : answer.regimes) in_regimes += regime.points;
  EXPECT_EQ(in_regimes, answer.overall.points);
  for (const JudgedPoint& p : answer.points) {
    if (p.status == PointStatus::not_understood) {
      EXPECT_NE(p.reason, "") << p.point.id;
      continue;
    }
    EXPECT_TRUE(p.low <= p.mid && p.mid <= p.high) << p.point.id << ' ' << p.low << ' ' << p.mid << ' ' << p.high;
    const bool rate = is_rate(p.point.metric);
    EXPECT_TRUE(rate ? p.high <= p.limit * 1.000001 : p.limit <= p.low * 1.000001)
        << p.point.id << " is predicted faster than its limit";
    EXPECT_TRUE(std::isfinite(p.error(p.mid)) && std::isfinite(p.limit)) << p.point.id;
  }
}

TEST(Validate, EveryRowIsCountedOnce) {
  EXPECT_EQ(fixture().points.size(), 19U);
  expect_sound(fixture());
}

TEST(Validate, RowsAreSetApartForTheStatedReason) {
  EXPECT_EQ(row("too-fast").status, PointStatus::beyond_limit);
  EXPECT_THAT(row("too-fast").reason, HasSubstr("times as fast"));
  EXPECT_THAT(row("twice-a").reason, HasSubstr("contradicts"));
  EXPECT_THAT(row("twice-b").reason, HasSubstr("contradicts"));
  EXPECT_THAT(row("no-device").reason, HasSubstr("no such board"));
  EXPECT_THAT(row("no-model").reason, HasSubstr("nobody/nothing"));
  EXPECT_EQ(row("quoted, \"id\"").status, PointStatus::not_understood);
  EXPECT_EQ(fixture().noise_floor.pairs, 1U);
  EXPECT_NEAR(fixture().noise_floor.median_ratio, 1.1, 1e-9);
}

TEST(Validate, RegimesFollowPhaseLoadAndModel) {
  EXPECT_EQ(row("one-user").regime, "single-stream decode");
  EXPECT_EQ(row("loaded").regime, "TPOT, concurrency, dense");
  EXPECT_EQ(row("loaded-ttft").regime, "TTFT, under load");
  EXPECT_EQ(row("repeat-a").regime, "static batch");
  EXPECT_EQ(row("prompt").regime, "prefill, TTFT at batch 1");
  EXPECT_EQ(row("product-fp8").regime, "one product, fp8");
  EXPECT_EQ(row("collective").regime, "collective");
  const auto& names = regime_names();
  for (const RegimeResult& regime : fixture().regimes) {
    EXPECT_NE(std::find(names.begin(), names.end(), regime.name), names.end()) << regime.name;
  }
}

TEST(Validate, TooFastIsBelowZeroForTimesAndRates) {
  JudgedPoint p;
  p.observed = 10;
  p.point.metric = PointMetric::tpot;
  EXPECT_DOUBLE_EQ(p.error(8), -0.2);
  p.point.metric = PointMetric::output_total;
  EXPECT_DOUBLE_EQ(p.error(12.5), -0.2);
  EXPECT_DOUBLE_EQ(p.error(10), 0);
}

PointOperation sized_product(const std::string& type) {
  PointOperation o;
  o.type = type;
  o.m = 128;
  o.n = 4096;
  o.k = 8192;
  return o;
}

TEST(ValidateOperation, AProductComesFromTheGraphWithItsQuantiseKernel) {
  const auto wide = operation_case(sized_product("bf16"));
  ASSERT_TRUE(wide.has_value());
  ASSERT_EQ(wide->ops.size(), 1U);
  EXPECT_DOUBLE_EQ(wide->ops[0].flops.value(), 2.0 * 128 * 4096 * 8192);
  EXPECT_DOUBLE_EQ(wide->ops[0].weights.value(), 2.0 * 4096 * 8192);
  const auto narrow = operation_case(sized_product("fp8"));
  ASSERT_TRUE(narrow.has_value());
  ASSERT_EQ(narrow->ops.size(), 2U);
  EXPECT_EQ(narrow->ops[0].kind, graph::OpKind::quantise);
}

TEST(ValidateOperation, AttentionAndExpertsHaveTheSizesOfTheRow) {
  PointOperation attention;
  attention.kind = PointOperation::Kind::attention_decode;
  attention.kv = "bf16";
  attention.batch = 16;
  attention.heads = 32;
  attention.kv_heads = 8;
  attention.head_dim = 128;
  attention.length = 1000;
  const auto decode = operation_case(attention);
  ASSERT_TRUE(decode.has_value());
  ASSERT_EQ(decode->ops.size(), 1U);
  const double token = 2.0 * 8 * 128 * 2;  // keys and values of one token, 16 bit
  EXPECT_NEAR(decode->ops[0].kv.value(), 16 * 1000 * token, 16 * 2 * token);
  attention.kind = PointOperation::Kind::attention_prefill;
  const auto prefill = operation_case(attention);
  ASSERT_TRUE(prefill.has_value());
  EXPECT_NEAR(prefill->ops[0].flops.value(), 16 * 2 * 32 * 256.0 * 1000 * 1001 / 2, 1);

  PointOperation moe;
  moe.kind = PointOperation::Kind::moe;
  moe.type = "bf16";
  moe.tokens = 4096;
  moe.hidden = 2048;
  moe.inter = 768;
  moe.experts = 128;
  moe.per_token = 8;
  const auto whole = operation_case(moe);
  ASSERT_TRUE(whole.has_value());
  EXPECT_NEAR(whole->ops[0].weights.value(), 128.0 * 3 * 2048 * 768 * 2, 1e6);
  for (double* cut : {&moe.tp, &moe.ep}) {
    *cut = 4;
    const auto part = operation_case(moe);
    ASSERT_TRUE(part.has_value());
    EXPECT_NEAR(part->ops[0].weights / whole->ops[0].weights, 0.25, 0.01);
    EXPECT_NEAR(part->ops[0].flops / whole->ops[0].flops, 0.25, 0.01);
    *cut = 1;
  }
}

TEST(ValidateOperation, BadSizesAreRefusedInWords) {
  for (const double bad : {0.0, -1.0, 0.5, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const auto kind :
         {PointOperation::Kind::product, PointOperation::Kind::attention_decode,
          PointOperation::Kind::attention_prefill, PointOperation::Kind::moe, PointOperation::Kind::collective}) {
      PointOperation o;
      o.kind = kind;
      o.m = o.n = o.k = o.batch = o.heads = o.kv_heads = o.head_dim = o.length = bad;
      o.tokens = o.hidden = o.inter = o.experts = o.per_token = o.ranks = o.payload_bytes = bad;
      EXPECT_FALSE(operation_case(o).has_value()) << bad;
    }
  }
  EXPECT_FALSE(operation_case(sized_product("no such type")).has_value());
}

TEST(Validate, ShippedAndPublishedTablesAreSound) {
  const auto shipped = validate(assets(), {});
  if (shipped) expect_sound(*shipped);
  const std::filesystem::path folder = CORRIDOR_SOURCE_DIR "/../shared/data/measured";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no tables beside the repository: " << folder;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename() != "gpu_aliases.csv") files.push_back(entry.path().string());
  }
  const ValidateAnswer answer = judge_files(files);
  EXPECT_GT(answer.overall.points, answer.points.size() / 2) << "most rows can be predicted";
  expect_sound(answer);
}

}  // namespace
}  // namespace corridor::app
