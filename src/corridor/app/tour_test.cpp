// SPDX-License-Identifier: Apache-2.0
// The tour's figures against the golden numbers, its verdicts against readings that fail, and decode against predict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "corridor/app/lab.h"
#include "corridor/app/tour.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/model/readers.h"

namespace corridor::app {
namespace {

using testing::HasSubstr;

const Assets& assets() {
  static const Assets all = Assets::open().value();
  return all;
}

const TourClaim& claim(const TourAnswer& answer, const std::string& id) {
  const auto found =
      std::find_if(answer.claims.begin(), answer.claims.end(), [&](const TourClaim& c) { return c.id == id; });
  EXPECT_NE(found, answer.claims.end()) << id;
  return *found;
}

measure::LabMachine machine() {
  measure::LabMachine m;
  m.threads = 2;
  m.ladder = {
      {"L1", units::Bytes{64e3}, units::Bytes{64e3}, units::BytesPerSecond{400e9}, units::Seconds{1e-9}},
      {"main memory", units::Bytes{16e9}, units::Bytes{16e9}, units::BytesPerSecond{20e9}, units::Seconds{1e-7}}};
  m.fp32 = units::FlopsPerSecond{200e9};
  m.clock = units::Hertz{2e9};
  return m;
}

measure::LabResult fusion(double measured) {
  measure::LabResult result;
  result.name = "fusion";
  result.readings.push_back(measure::reading("three passes ÷ one pass", measure::LabUnit::ratio, 3, 0.8, 1.2));
  result.readings.back().measured = measured;
  return result;
}

TEST(Tour, ComputesTheGoldenNumbers) {
  const auto answer = tour_of(assets(), nullptr, {});
  ASSERT_TRUE(answer) << answer.error().line();
  EXPECT_GE(answer->claims.size(), 24U);
  const std::set<std::string> simulated{"warps", "divergence", "coalescing"};
  std::set<std::string> ids;
  for (const TourClaim& c : answer->claims) {
    EXPECT_TRUE(ids.insert(c.id).second) << c.id;
    EXPECT_TRUE(c.claim.ends_with(".")) << c.id;
    EXPECT_FALSE(c.formula.empty()) << c.id;
    if (simulated.count(c.id) > 0) {  // these need no machine
      EXPECT_TRUE(c.measured) << c.id;
      EXPECT_EQ(c.verdict, TourVerdict::holds) << c.id;
      continue;
    }
    EXPECT_FALSE(c.measured) << c.id << " has a measured figure, but nothing was measured";
    EXPECT_NE(c.verdict, TourVerdict::holds) << c.id;
  }
  EXPECT_TRUE(answer->all_hold());
  EXPECT_THAT(claim(*answer, "ridge").formula, HasSubstr("H100 295 FLOP/B, H200 206 FLOP/B"));
  EXPECT_NEAR(claim(*answer, "token").predicted->value, 140e9 / 3.35e12, 1e-9);
  EXPECT_THAT(claim(*answer, "token").formula, HasSubstr("23.9 tok/s"));
  EXPECT_THAT(claim(*answer, "warps").formula, HasSubstr("8 warps, the last with 26 live lanes"));
  EXPECT_THAT(claim(*answer, "uses").formula, HasSubstr("used 1024 times, 341 FLOP/B"));
  EXPECT_THAT(claim(*answer, "batching").formula, HasSubstr("batch 295"));
  EXPECT_THAT(claim(*answer, "batching").only_if, HasSubstr("1152 tokens"));
  EXPECT_THAT(claim(*answer, "quantisation").formula, HasSubstr("(break-even 148)"));
  EXPECT_THAT(claim(*answer, "trend").only_if, HasSubstr("h100-sxm → h200 fell from 295 to 206"));
  EXPECT_NEAR(claim(*answer, "speculation").predicted->value, 1 + 0.7 + 0.49 + 0.343, 1e-12);
}

TEST(Tour, TakesVerdictsFromReadings) {
  const measure::LabMachine here = machine();
  const auto good = tour_of(assets(), &here, {fusion(2.9)});
  ASSERT_TRUE(good) << good.error().line();
  EXPECT_EQ(claim(*good, "fusion").verdict, TourVerdict::holds);
  EXPECT_DOUBLE_EQ(claim(*good, "fusion").measured->value, 2.9);
  EXPECT_EQ(claim(*good, "ladder").verdict, TourVerdict::holds);
  EXPECT_EQ(claim(*good, "order").verdict, TourVerdict::not_measured);
  EXPECT_TRUE(good->all_hold());
  const auto bad = tour_of(assets(), &here, {fusion(1.1)});
  ASSERT_TRUE(bad);
  EXPECT_EQ(claim(*bad, "fusion").verdict, TourVerdict::does_not_hold);
  EXPECT_FALSE(bad->all_hold());
  measure::LabMachine odd = machine();
  odd.ladder.front().bandwidth = units::BytesPerSecond{10e9};  // slower than main memory
  const auto upside_down = tour_of(assets(), &odd, {});
  ASSERT_TRUE(upside_down);
  EXPECT_EQ(claim(*upside_down, "ladder").verdict, TourVerdict::does_not_hold);
}

TEST(LabDecodeCase, HasTheModelsBytesAndPredictsAsPredictDoes) {
  const auto found = model::find_model(assets(), default_decode_model);
  ASSERT_TRUE(found);
  const auto shape = decode_shape(found->model);
  ASSERT_TRUE(shape) << shape.error().line();
  PredictRequest request;
  request.model = default_decode_model;
  request.weights = "bf16";
  request.device = "epyc-9654";
  request.context = 1152;
  const auto answer = predict(assets(), request);
  ASSERT_TRUE(answer) << answer.error().line();
  const roofline::StepTotals& totals = answer->prediction.decode.totals;
  EXPECT_NEAR(shape->weight_bytes(), totals.weights.value(), 2e-3 * totals.weights.value()) << "norms and biases apart";
  EXPECT_NEAR(shape->kv_bytes_per_token() * 1152, totals.kv.value(), 2e-3 * totals.kv.value());
  const auto points = predict_decode(assets(), answer->device, default_decode_model, {1152});
  ASSERT_TRUE(points) << points.error().line();
  EXPECT_DOUBLE_EQ(points->front().predicted_s, answer->prediction.decode.expected.mid.value());
}

TEST(LabDecodeCase, RefusesWhatItCannotRun) {
  for (const char* id : {"deepseek-ai/DeepSeek-V3", "meta-llama/Llama-3.1-8B", "google/gemma-2-2b"}) {
    const auto found = model::find_model(assets(), id);
    ASSERT_TRUE(found) << id;
    EXPECT_FALSE(decode_shape(found->model)) << id;
  }
  LabRequest request;
  request.name = "no such law";
  EXPECT_FALSE(run_lab(assets(), request, {}));
  request.name = "fusion";
  request.model = default_decode_model;  // only decode runs a model
  EXPECT_FALSE(run_lab(assets(), request, {}));
}

}  // namespace
}  // namespace corridor::app
