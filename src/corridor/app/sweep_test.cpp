// SPDX-License-Identifier: Apache-2.0
// A sweep against predictions of the same scenarios, its marks, and what it refuses.
#include "corridor/app/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "corridor/app/predict.h"

namespace corridor::app {
namespace {

using ::testing::HasSubstr;

const Assets& assets() {
  static const Assets all = Assets::open().value();
  return all;
}

PredictRequest llama(const std::string& device = "h100-sxm") {
  PredictRequest request;
  request.model = "meta-llama/Llama-3.1-8B";
  request.device = device;
  return request;
}

SweepAnswer swept(const PredictRequest& base, std::vector<std::string> over) {
  Result<SweepAnswer> answer = sweep(assets(), {base, std::move(over), {}});
  EXPECT_TRUE(answer.has_value()) << (answer ? "" : answer.error().line());
  return std::move(answer.value());
}

std::string refused(const PredictRequest& base, std::vector<std::string> over) {
  const Result<SweepAnswer> answer = sweep(assets(), {base, std::move(over), {}});
  return answer ? "no error" : answer.error().line();
}

void expect_same(const SweepPoint& point, const roofline::Prediction& p) {
  EXPECT_EQ(point.limit.value(), p.decode.limit.value());
  EXPECT_EQ(point.step.low.value(), p.decode.expected.low.value());
  EXPECT_EQ(point.step.mid.value(), p.decode.expected.mid.value());
  EXPECT_EQ(point.step.high.value(), p.decode.expected.high.value());
  EXPECT_EQ(point.ttft_limit.value(), p.prefill.limit.value());
  EXPECT_EQ(point.ttft.mid.value(), p.prefill.expected.mid.value());
  EXPECT_EQ(point.wall, p.decode.wall);
  EXPECT_EQ(point.ttft_wall, p.prefill.wall);
  EXPECT_EQ(point.fits, p.memory.fits);
  EXPECT_EQ(point.kv.value(), p.decode.totals.kv.value());
  EXPECT_EQ(point.weights.value(), p.decode.totals.weights.value());
  EXPECT_EQ(point.break_even, p.decode.break_even.batch);
  EXPECT_EQ(point.per_user(point.step.mid), 1 / p.decode.tpot_s(p.decode.expected.mid));
}

RC_GTEST_PROP(Sweep, PointsEqualPredictionsOfTheSameScenario, ()) {
  PredictRequest base;
  base.model = *rc::gen::element<std::string>("meta-llama/Llama-3.1-8B", "Qwen/Qwen3-30B-A3B",
                                              "deepseek-ai/DeepSeek-V2-Lite", "google/gemma-3-27b");
  if (*rc::gen::arbitrary<bool>()) base.kv = "fp8";
  if (*rc::gen::arbitrary<bool>()) base.no_graphs = true;
  const std::string numbers =
      *rc::gen::element<std::string>("batch", "concurrency", "context", "input", "output", "tp");
  const std::string names =
      *rc::gen::element<std::string>("device=h100-sxm,l4,b200", "weights=bf16,fp8,q4_k", "engine=vllm,llama.cpp");
  if (names.rfind("device", 0) != 0) base.device = "h200";
  const int high = numbers == "tp" ? 4 : *rc::gen::inRange(2, 3000);
  const SweepAnswer answer = swept(base, {numbers + "=1.." + std::to_string(high), names});
  for (int i = 0; i < 3; ++i) {
    const SweepLine& line = answer.lines[*rc::gen::inRange<std::size_t>(0, answer.lines.size())];
    const SweepPoint& point = line.points[*rc::gen::inRange<std::size_t>(0, line.points.size())];
    PredictRequest request = base;
    for (std::size_t axis = 0; axis < 2; ++axis) answer.axes[axis].put(point.at[axis], request);
    const Result<PredictAnswer> one = predict(assets(), request);
    RC_ASSERT(one.has_value() == point.error.empty());
    if (one) expect_same(point, one->prediction);
  }
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(Sweep, EveryFlipHasItsOldWallBeforeAndItsNewWallAfter) {
  PredictRequest base = llama();
  base.model = "Qwen/Qwen3-30B-A3B";
  base.context = 128;
  const SweepAnswer answer = swept(base, {"batch=1..4096"});
  ASSERT_FALSE(answer.flips.empty());
  for (const SweepFlip& flip : answer.flips) {
    EXPECT_EQ(flip.after[0] - flip.before[0], 1) << flip.of;
    EXPECT_GE(flip.before[0], flip.asked_before);
    EXPECT_LE(flip.after[0], flip.asked_after);
    const auto state = [&](double batch) -> std::string {
      PredictRequest request = base;
      request.batch = batch;
      const roofline::Prediction p = predict(assets(), request).value().prediction;
      if (flip.of == "memory") return p.memory.fits ? "fits" : "does not fit";
      return std::string(roofline::name(flip.of == "decode" ? p.decode.wall : p.prefill.wall));
    };
    EXPECT_EQ(state(flip.before[0]), flip.from);
    EXPECT_EQ(state(flip.after[0]), flip.to);
  }
}

TEST(Sweep, EveryWallChangeOfTheAskedPointsHasAFlip) {
  PredictRequest base = llama("");
  base.batch = 64;
  base.context = 64;
  base.weights = "int4";
  const SweepAnswer answer = swept(base, {"device=h100-sxm,l4,rtx-4090,b200,mi300x,a100-sxm-80"});
  std::size_t changes = 0;
  const auto& points = answer.lines.front().points;
  for (std::size_t i = 1; i < points.size(); ++i) changes += points[i].wall != points[i - 1].wall ? 1 : 0;
  EXPECT_GT(changes, 0U);
  EXPECT_EQ(std::count_if(answer.flips.begin(), answer.flips.end(), [](const auto& f) { return f.of == "decode"; }),
            static_cast<std::ptrdiff_t>(changes));
}

TEST(Sweep, TheKneeIsAPointWhereDoublingStopsPaying) {
  const SweepAnswer answer = swept(llama(), {"batch=1..512"});
  const SweepLine& line = answer.lines.front();
  ASSERT_TRUE(line.knee.has_value());
  const auto rate = [&](double batch) {
    PredictRequest request = llama();
    request.batch = batch;
    return batch / predict(assets(), request).value().prediction.decode.expected.mid.value();
  };
  EXPECT_LT(rate(2 * *line.knee), knee_gain * rate(*line.knee));
  EXPECT_GE(rate(2 * (*line.knee - 1)), knee_gain * rate(*line.knee - 1));
  const auto added = std::find_if(line.points.begin(), line.points.end(), [](const SweepPoint& p) { return p.added; });
  ASSERT_NE(added, line.points.end());
  EXPECT_EQ(added->at[0], *line.knee);
  EXPECT_TRUE(std::is_sorted(line.points.begin(), line.points.end(),
                             [](const SweepPoint& a, const SweepPoint& b) { return a.at[0] < b.at[0]; }));
}

TEST(Sweep, KvBytesOvertakeTheWeightsExactlyThere) {
  PredictRequest base = llama();
  base.batch = 8;
  const SweepAnswer answer = swept(base, {"context=1000..200000"});
  ASSERT_TRUE(answer.lines.front().kv_overtakes.has_value());
  const auto totals = [&](double context) {
    PredictRequest request = base;
    request.context = static_cast<std::int64_t>(context);
    return predict(assets(), request).value().prediction.decode.totals;
  };
  const double at = *answer.lines.front().kv_overtakes;
  EXPECT_GT(totals(at).kv.value(), totals(at).weights.value());
  EXPECT_LE(totals(at - 1).kv.value(), totals(at - 1).weights.value());
}

TEST(Sweep, PointsThatDoNotFitOrAreNotPossibleAreKept) {
  const SweepAnswer batch = swept(llama(), {"batch=1,100000"});
  EXPECT_TRUE(batch.lines[0].points[0].fits);
  EXPECT_FALSE(batch.lines[0].points[1].fits);
  EXPECT_GT(batch.lines[0].points[1].step.mid.value(), 0);
  const SweepAnswer tp = swept(llama(), {"tp=1,3,8"});
  EXPECT_TRUE(tp.lines[0].points[0].error.empty());
  EXPECT_THAT(tp.lines[0].points[1].error, HasSubstr("attention heads"));
  EXPECT_TRUE(tp.lines[0].points[2].error.empty());
}

TEST(Sweep, ProgressEndsWithAllPoints) {
  std::size_t last = 0;
  std::size_t all = 0;
  const auto progress = [&](std::size_t done, std::size_t of) {
    EXPECT_GT(done, last);
    last = done;
    all = of;
  };
  ASSERT_TRUE(sweep(assets(), {llama(), {"batch=1..5000:1"}, progress}).has_value());
  EXPECT_EQ(last, 5000U);
  EXPECT_EQ(all, 5000U);
}

TEST(Sweep, RefusesInOneLine) {
  EXPECT_THAT(refused(llama(), {}), HasSubstr("no axis"));
  EXPECT_THAT(refused(llama(), {"batch=1", "tp=1", "input=1"}), HasSubstr("one or two"));
  EXPECT_THAT(refused(llama(), {"device=h200"}), HasSubstr("--device is given beside"));
  EXPECT_THAT(refused(llama(), {"batch=1..4", "concurrency=1..4"}), HasSubstr("cannot be swept together"));
  EXPECT_THAT(refused(llama(), {"batch=1..4", "batch=1..4"}), HasSubstr("cannot be swept together"));
  EXPECT_THAT(refused(llama(), {"batch=1..2000:1", "context=1..2000:1"}), HasSubstr("4000000 points"));
  EXPECT_THAT(refused(llama(), {"weights=bf16,what"}), HasSubstr("unknown weight format"));
  EXPECT_THAT(refused(llama(), {"engine=vllm,what"}), HasSubstr("what"));
  EXPECT_THAT(refused(llama(""), {"device=h100-sxm,what"}), HasSubstr("what"));
  EXPECT_THAT(refused(llama(""), {"batch=1..4"}), HasSubstr("device"));
  EXPECT_THAT(refused(llama(), {"tp=3,5"}), HasSubstr("attention heads"));
  PredictRequest busy = llama();
  busy.batch = 3;
  EXPECT_THAT(refused(busy, {"concurrency=1..4"}), HasSubstr("--batch is given beside"));
}

}  // namespace
}  // namespace corridor::app
