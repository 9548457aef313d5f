// SPDX-License-Identifier: Apache-2.0
// Each verdict from numbers made for it: observed times are multiples of the prediction's own, so no constant is
// repeated.
#include "corridor/diagnose/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <utility>

#include "corridor/roofline/test_case.h"

namespace corridor::diagnose {
namespace {

using roofline::TestCase;
using testing::HasSubstr;

TestCase llama() {
  return TestCase::built_in("meta-llama/Llama-3.1-8B", "h100-sxm");
}

Diagnosis run(const TestCase& test, const Observation& seen, std::optional<double> capacity = std::nullopt,
              std::vector<BoardVariant> variants = {}) {
  const roofline::PredictInput input{test.model, test.device, test.scenario, test.engine, test.constants, nullptr};
  const roofline::Prediction prediction = test.predict();
  return diagnose({input, prediction, seen, capacity, std::move(variants)}).value();
}

TEST(Verdict, InsideTheBandIsHealthy) {
  const TestCase test = llama();
  Observation seen;
  seen.tpot_s = test.predict().decode.expected.mid.value();
  const Diagnosis d = run(test, seen);
  EXPECT_EQ(d.status, Status::healthy);
  EXPECT_EQ(d.wall, roofline::Wall::memory);
  EXPECT_TRUE(d.hypotheses.empty());
  EXPECT_NEAR(d.comparison->fraction_of_expected(), 1, 1e-9);
}

TEST(Verdict, OneUsersRateAndItsTpotSayTheSame) {
  const TestCase test = llama();
  Observation time;
  time.tpot_s = 0.02;
  Observation rate;
  rate.tok_s_per_user = 50;
  EXPECT_DOUBLE_EQ(run(test, time).comparison->observed.value(), run(test, rate).comparison->observed.value());
}

TEST(Verdict, BeyondTheBandIsSlowAndTheRestIsUnexplained) {
  const TestCase test = llama();
  const roofline::Prediction p = test.predict();
  Observation seen;
  seen.tpot_s = p.decode.expected.high.value() * 4;
  const Diagnosis d = run(test, seen);
  EXPECT_EQ(d.status, Status::slow);
  EXPECT_NEAR((d.unexplained + p.decode.budget.total()).value(), *seen.tpot_s, 1e-9);
  ASSERT_FALSE(d.hypotheses.empty());
  for (std::size_t i = 1; i < d.hypotheses.size(); ++i)
    EXPECT_LE(std::pair(d.hypotheses[i - 1].oversized, d.hypotheses[i - 1].mismatch),
              std::pair(d.hypotheses[i].oversized, d.hypotheses[i].mismatch));
}

TEST(Verdict, EagerLaunchesAreFoundFromTheirOwnSize) {
  TestCase test = TestCase::built_in("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "h100-sxm");
  TestCase eager = test;
  eager.scenario.graphs = false;
  Observation seen;
  seen.tpot_s = eager.predict().decode.expected.mid.value();
  const Diagnosis d = run(test, seen);
  EXPECT_EQ(d.status, Status::slow);
  EXPECT_EQ(d.wall, roofline::Wall::overhead);
  EXPECT_THAT(d.hypotheses.front().cause, HasSubstr("one by one"));
}

TEST(Verdict, WrongFormatIsFoundFromItsOwnSize) {
  TestCase wide = TestCase::built_in("meta-llama/Llama-3.1-70B", "h200");
  TestCase narrow = wide;
  narrow.model = model::with_weight_format(narrow.model, *model::find_weight_format("fp8"));
  Observation seen;
  seen.tpot_s = wide.predict().decode.expected.mid.value();
  EXPECT_THAT(run(narrow, seen).hypotheses.front().cause, HasSubstr("16-bit weights were loaded"));
}

TEST(Verdict, FasterThanPhysicsIsBelowTheFloorAndNamesABoardThatFits) {
  const TestCase test = llama();
  Observation seen;
  seen.tpot_s = test.predict().decode.limit.value() / 2;
  const Diagnosis d = run(test, seen, std::nullopt, {{"h900", units::Seconds{*seen.tpot_s}}});
  EXPECT_EQ(d.status, Status::below_floor);
  EXPECT_THAT(d.sentence, HasSubstr("2.00 times faster"));
  EXPECT_THAT(d.sentence, HasSubstr("h900"));
}

TEST(Verdict, LoadBelowCapacityIsLoadLimited) {
  TestCase test = llama();
  test.scenario.output = 200;
  Observation seen;
  seen.request_rate = 10;
  seen.output_tok_s = 1900;
  seen.lengths_given = true;
  EXPECT_EQ(run(test, seen, 30).status, Status::load_limited);
  EXPECT_NE(run(test, seen, 11).status, Status::load_limited);  // near its capacity the hardware speaks
}

TEST(Verdict, ArrivalsAboveCapacityQueue) {
  TestCase test = llama();
  Observation seen;
  seen.request_rate = 50;
  seen.output_tok_s = 1000;
  EXPECT_EQ(run(test, seen, 20).status, Status::queueing);
}

TEST(Verdict, ALateFirstTokenAtAHealthyPaceQueues) {
  const TestCase test = llama();
  const roofline::Prediction p = test.predict();
  Observation seen;
  seen.tpot_s = p.decode.expected.mid.value();
  seen.ttft_s = p.prefill.expected.high.value() * 10;
  const Diagnosis d = run(test, seen);
  EXPECT_EQ(d.status, Status::queueing);
  EXPECT_NEAR(d.queue.value(), *seen.ttft_s - p.prefill.expected.mid.value(), 1e-9);
}

TEST(Verdict, AnEmptyBatchIsSized) {
  TestCase test = llama();
  test.scenario.sequences = 128;
  Observation seen;
  TestCase four = test;
  four.scenario.sequences = 4;
  seen.output_tok_s = 4 / four.predict().decode.expected.mid.value();
  const Diagnosis d = run(test, seen);
  EXPECT_EQ(d.status, Status::not_batched);
  EXPECT_NEAR(*d.effective_batch, 4, 1);
}

TEST(Verdict, NumbersThatContradictEachOtherAreNotCompared) {
  TestCase test = llama();
  test.scenario.output = 128;
  Observation seen;
  seen.lengths_given = true;
  seen.output_tok_s = 2800;
  seen.request_per_s = 100;
  EXPECT_EQ(run(test, seen).status, Status::not_comparable);
  EXPECT_THAT(run(test, seen).sentence, HasSubstr("28.0 tokens a request"));
  Observation reversed;
  reversed.output_tok_s = 500;
  reversed.total_tok_s = 100;
  EXPECT_EQ(run(test, reversed).status, Status::not_comparable);
}

TEST(Verdict, WhatDoesNotFitIsRefusedFirst) {
  const TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm");
  Observation seen;
  seen.tpot_s = 0.05;
  EXPECT_EQ(run(test, seen).status, Status::does_not_fit);
  EXPECT_FALSE(run(test, seen).comparison.has_value());
  EXPECT_FALSE(run(test, seen).rates.mbu.has_value());
}

TEST(Verdict, NothingObservedIsAnError) {
  const TestCase test = llama();
  const roofline::PredictInput input{test.model, test.device, test.scenario, test.engine, test.constants, nullptr};
  const roofline::Prediction prediction = test.predict();
  const Observation nothing;
  EXPECT_THAT(diagnose({input, prediction, nothing, std::nullopt, {}}).error().line(),
              HasSubstr("nothing was observed"));
}

TEST(Verdict, FasterThanTheBandIsSaidAndNotCalledRight) {
  const TestCase test = llama();
  const roofline::Prediction p = test.predict();
  Observation seen;
  seen.tpot_s = (p.decode.limit.value() + p.decode.expected.low.value()) / 2;
  const Diagnosis d = run(test, seen);
  EXPECT_EQ(d.status, Status::healthy);
  EXPECT_THAT(d.sentence, HasSubstr("Faster than expected"));
  EXPECT_THAT(d.remedy, testing::Not(HasSubstr("nothing is wrong")));
}

TEST(Verdict, AFullKvCacheQueues) {
  const TestCase test = llama();
  Observation seen;
  seen.output_tok_s = 1 / test.predict().decode.expected.mid.value() / 10;
  seen.from_log_windows = true;
  EXPECT_EQ(run(test, seen).status, Status::not_comparable);
  seen.kv_usage = 0.95;
  seen.waiting = 7;
  EXPECT_EQ(run(test, seen).status, Status::queueing);
  EXPECT_THAT(run(test, seen).sentence, HasSubstr("7 requests wait"));
}

TEST(Verdict, PaceAndThroughputMustAgree) {
  TestCase test = llama();
  test.scenario.sequences = 8;
  Observation seen;
  seen.tpot_s = test.predict().decode.expected.mid.value();
  seen.output_tok_s = 8 / *seen.tpot_s;
  EXPECT_EQ(run(test, seen).status, Status::healthy);
  seen.output_tok_s = 80 / *seen.tpot_s;
  EXPECT_EQ(run(test, seen).status, Status::not_comparable);
}

TEST(Verdict, ARateAloneIsHeldAgainstTheCapacity) {
  Observation seen;
  seen.request_rate = 10;
  EXPECT_EQ(run(llama(), seen, 30).status, Status::load_limited);
  EXPECT_THAT(run(llama(), seen, 11).sentence, HasSubstr("91 %"));
  EXPECT_EQ(run(llama(), seen, 5).status, Status::queueing);
}

TEST(Verdict, ImpossibleNumbersAreErrors) {
  const TestCase test = llama();
  const roofline::PredictInput input{test.model, test.device, test.scenario, test.engine, test.constants, nullptr};
  const roofline::Prediction prediction = test.predict();
  Observation seen;
  seen.tpot_s = 1e-12;
  EXPECT_FALSE(diagnose({input, prediction, seen, std::nullopt, {}}).has_value());
  seen.tpot_s = 0.01;
  seen.bytes_per_s = 2 * test.device.memory_bandwidth->value.value();
  EXPECT_FALSE(diagnose({input, prediction, seen, std::nullopt, {}}).has_value());
}

RC_GTEST_PROP(VerdictProperties, EveryTimeGetsAVerdictAndTheGapAddsUp, ()) {
  const TestCase test = llama();
  const roofline::Prediction p = test.predict();
  Observation seen;
  seen.tpot_s = p.decode.limit.value() * *rc::gen::inRange(1, 100'000) / 1000.0;
  const Diagnosis d = run(test, seen);
  RC_ASSERT(!d.sentence.empty());
  const double explained = (d.comparison->budget.total() + d.queue + d.unexplained).value();
  RC_ASSERT(std::abs(explained / *seen.tpot_s - 1) < 1e-9);
  RC_ASSERT((d.status == Status::below_floor) == (*seen.tpot_s < p.decode.limit.value() * 0.97));
}

TEST(Rates, ThreeOutcomes) {
  const hardware::Device device = llama().device;
  const auto outcome = [&](double bytes, double flops) {
    return diagnose_rates(device, hardware::ComputeType::bf16, bytes, flops, 1.0)->outcome;
  };
  EXPECT_EQ(outcome(2.9e12, 12e12), RateDiagnosis::Outcome::memory);
  EXPECT_EQ(outcome(1e12, 720e12), RateDiagnosis::Outcome::compute);
  EXPECT_EQ(outcome(0.3e12, 12e12), RateDiagnosis::Outcome::both_low);
  EXPECT_FALSE(diagnose_rates(device, hardware::ComputeType::bf16, 9e12, 1, std::nullopt).has_value());
}

}  // namespace
}  // namespace corridor::diagnose
