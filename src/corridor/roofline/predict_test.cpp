// SPDX-License-Identifier: Apache-2.0
// Golden numbers of the physics, each from inputs, on the built-in catalogue.
#include "corridor/roofline/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/roofline/test_case.h"

namespace corridor::roofline {
namespace {

TEST(Golden, SeventyBillionParametersAtBatchOneOnH100) {
  const TestCase test = TestCase::plain(70e9, "bf16", "h100-sxm");
  const Prediction p = test.predict();
  EXPECT_NEAR(p.decode.totals.flops.value(), 140e9, 1);
  EXPECT_NEAR(p.decode.totals.bytes().value(), 140e9, 1);
  EXPECT_NEAR(p.decode.limit.value(), 41.8e-3, 0.05e-3);
  EXPECT_NEAR(1 / p.decode.limit.value(), 23.9, 0.05);
  EXPECT_NEAR(p.ridge.value(), 295, 0.5);
  EXPECT_EQ(p.decode.wall, Wall::memory);
  EXPECT_NEAR(*p.decode.break_even.batch_weights_only, 295, 1);
  EXPECT_FALSE(p.memory.fits);
  EXPECT_EQ(p.memory.devices_needed, 2);
}

TEST(Golden, WeightsOnlyAtBatchOneIsBytesOverBandwidth) {
  for (const char* device : {"h100-sxm", "h200", "a100-sxm-80", "rtx-4090", "mi300x", "gb10"}) {
    const TestCase test = TestCase::plain(13e9, "bf16", device);
    EXPECT_DOUBLE_EQ(test.predict().decode.limit.value(), 26e9 / test.device.memory_bandwidth->value.value()) << device;
  }
}

TEST(Golden, BreakEvenBatchByWeightFormat) {
  const auto break_even = [](const char* format, const char* device) {
    return *TestCase::plain(70e9, format, device).predict().decode.break_even.batch_weights_only;
  };
  EXPECT_NEAR(break_even("bf16", "h100-sxm"), 295, 1);
  EXPECT_NEAR(break_even("bf16", "h200"), 206, 1);
  EXPECT_NEAR(break_even("fp8", "h100-sxm"), 295, 1);   // twice the ridge, half the bytes
  EXPECT_NEAR(break_even("int8", "h100-sxm"), 148, 1);  // half the bytes, bf16 arithmetic
  EXPECT_NEAR(break_even("int4-g128", "h100-sxm"), 77, 1);
}

TEST(Golden, RidgeOfTheArithmeticInUse) {
  EXPECT_NEAR(TestCase::plain(70e9, "fp8", "h100-sxm").predict().ridge.value(), 591, 1);
  EXPECT_NEAR(TestCase::plain(70e9, "int8", "h100-sxm").predict().ridge.value(), 295, 1);
  EXPECT_NEAR(TestCase::plain(70e9, "bf16", "h200").predict().ridge.value(), 206, 1);
  // A100 has no fp8: fp8 weights compute in bf16.
  EXPECT_EQ(TestCase::plain(70e9, "fp8", "a100-sxm-80").predict().arithmetic.type, hardware::ComputeType::bf16);
  // Hopper has no fp4: 4-bit floats are unpacked to 16 bit, not run as fp8.
  EXPECT_EQ(TestCase::plain(70e9, "mxfp4", "h100-sxm").predict().arithmetic.type, hardware::ComputeType::bf16);
  EXPECT_EQ(TestCase::plain(70e9, "nvfp4", "b200").predict().arithmetic.type, hardware::ComputeType::fp4);
}

TEST(Golden, TenRequestsTenTimesTheIntensity) {
  TestCase test = TestCase::plain(70e9, "bf16", "h100-sxm");
  const double one = test.predict().decode.totals.flops / test.predict().decode.totals.bytes() / units::FlopsPerByte{1};
  test.scenario.sequences = 10;
  const auto ten = test.predict().decode.totals;
  EXPECT_NEAR((ten.flops / ten.bytes()).value() / one, 10, 1e-9);
}

TEST(Golden, Llama70BWeightsAndBreakEvenWithKv) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm");
  test.scenario.parallelism.tp = 8;
  test.scenario.context = 1152;
  const Prediction p = test.predict();
  EXPECT_NEAR(p.weight_bytes.value(), 141.1e9, 0.05e9);
  EXPECT_NEAR(p.decode.totals.weights.value(), 139.0e9, 0.05e9);
  EXPECT_EQ(p.memory.kv_bytes_per_token.value(), 327'680);
  EXPECT_NEAR(*p.decode.break_even.batch, 1340, 14);
  EXPECT_NEAR(*p.decode.break_even.none_from_context, 1480, 15);
}

TEST(Golden, Llama70BInFp8) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm");
  test.model = model::with_weight_format(test.model, *model::find_weight_format("fp8"));
  const Prediction p = test.predict();
  EXPECT_NEAR(p.weight_bytes.value(), 72.65e9, 0.05e9);
  EXPECT_NEAR(p.decode.totals.weights.value(), 70.55e9, 0.05e9);
}

TEST(BreakEven, IsNullWithAReasonWhereKvCostsMoreThanItsArithmetic) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm");
  test.scenario.context = 8192;
  const BreakEven even = test.predict().decode.break_even;
  EXPECT_FALSE(even.batch.has_value());
  EXPECT_THAT(even.reason, testing::HasSubstr("no batch reaches the ridge"));
  EXPECT_NEAR(*even.batch_weights_only, 295, 2);
}

TEST(Prefill, TwoThousandTokensOnFourH100IsComputeBound) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm");
  test.scenario.parallelism.tp = 4;
  test.scenario.input = 2048;
  EXPECT_EQ(test.predict().prefill.wall, Wall::compute);
}

TEST(Overhead, TinyModelWithoutGraphsWaitsForLaunches) {
  TestCase test = TestCase::built_in("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "h100-sxm", "vllm");
  test.scenario.graphs = false;
  EXPECT_EQ(test.predict().decode.wall, Wall::overhead);
}

TEST(Overhead, EightWaySplitAtBatchOneIsFarFromTheLimit) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm", "vllm");
  test.scenario.parallelism.tp = 8;
  const DecodePrediction d = test.predict().decode;
  EXPECT_GE(d.expected.mid / d.limit, 1.8);
  EXPECT_GT((d.budget.launch + d.budget.communication + d.budget.host) / d.expected.mid, 0.25);
}

TEST(Memory, ClosedLoopAdmitsWhatTheKvCacheHolds) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm");
  test.scenario.parallelism.tp = 4;
  test.scenario.load = graph::Load::concurrency;
  test.scenario.sequences = 100'000;
  const Prediction p = test.predict();
  EXPECT_TRUE(p.memory.fits);  // a queue is not a shortfall
  // Caches grow while requests run: on average each holds its prompt and half of its answer.
  EXPECT_GT(p.decode.sequences, p.memory.max_requests);
  EXPECT_LT(p.decode.sequences, 1.13 * p.memory.max_requests);  // (1024 + 256) / (1024 + 128) = 1.11
  EXPECT_LT(p.decode.sequences, 1000);
  test.engine.reserves_whole = true;
  EXPECT_EQ(test.predict().decode.sequences, p.memory.max_requests);
}

TEST(Memory, WhoIsNotAdmittedWaitsForAPlace) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm");
  test.scenario.parallelism.tp = 4;
  test.scenario.load = graph::Load::concurrency;
  test.scenario.input = 8192;
  test.scenario.output = 1024;
  test.scenario.context = 8704;
  test.scenario.sequences = 4;
  const Prediction free = test.predict();
  ASSERT_EQ(free.decode.sequences, 4);
  test.scenario.sequences = 400;
  const Prediction full = test.predict();
  ASSERT_LT(full.decode.sequences, 200);
  const double answer = full.decode.expected.mid.value() * 1024;
  EXPECT_GT(full.prefill.queue.value(), answer);  // more than one answer has to end first
  EXPECT_LT(free.prefill.queue.value(), answer);
  EXPECT_EQ(free.prefill.first_token.mid.value(), free.prefill.queue.value() + free.prefill.expected.mid.value());
}

TEST(LayersInTurn, MoreDevicesHoldMoreButAreNotFaster) {
  TestCase one = TestCase::built_in("meta-llama/Llama-3.1-8B", "a40", "llama.cpp");
  const double alone = one.predict().decode.expected.mid.value();
  one.scenario.parallelism.tp = 4;
  const Prediction four = one.predict();
  EXPECT_GE(four.decode.expected.mid.value(), alone);
  EXPECT_LT(four.decode.expected.mid.value(), 1.2 * alone);
  EXPECT_THAT(four.assumptions, testing::Contains(testing::HasSubstr("in turn")));
  one.engine.layers_in_turn = false;
  EXPECT_LT(one.predict().decode.expected.mid.value(), 0.7 * alone);
}

TEST(QuantisedPrompts, RunInInt8WhereTheEngineHasSuchKernels) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-8B", "rtx-4090", "llama.cpp");
  test.model = model::with_weight_format(test.model, *model::find_weight_format("q4_0"));
  test.scenario.input = 512;
  const Prediction int8 = test.predict();
  test.engine.quantised_fraction = 0;
  const Prediction unpacked = test.predict();
  EXPECT_LT(int8.prefill.limit_compute, unpacked.prefill.limit_compute);
  EXPECT_EQ(int8.decode.expected.mid.value(), unpacked.decode.expected.mid.value());  // one row: bytes decide
}

TEST(Memory, AStaticBatchMustBeResidentWhole) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm");
  test.scenario.parallelism.tp = 4;
  test.scenario.sequences = 100'000;
  const Prediction p = test.predict();
  EXPECT_FALSE(p.memory.fits);
  EXPECT_GT(p.memory.shortfall.value(), 0);
  EXPECT_GT(p.memory.devices_needed, 4);
}

TEST(Speculation, PerfectGuessesYieldKPlusOneTokensARound) {
  TestCase test = TestCase::built_in("meta-llama/Llama-3.1-70B", "h100-sxm");
  test.scenario.parallelism.tp = 4;
  const double plain = test.predict().decode.tpot_s(test.predict().decode.expected.mid);
  test.scenario.speculation = {4, 1.0, ""};
  const DecodePrediction d = test.predict().decode;
  EXPECT_DOUBLE_EQ(d.tokens_per_sequence, 5);
  EXPECT_LT(d.tpot_s(d.expected.mid), plain / 3);  // verification of five tokens costs little more than one
  test.scenario.speculation = {4, 0.0, ""};
  const DecodePrediction useless = test.predict().decode;
  EXPECT_GE(useless.tpot_s(useless.expected.mid), plain);
  test.engine.speculation_round_s = 0.004;  // a round's own host time is paid once a round
  EXPECT_NEAR(test.predict().decode.expected.mid.value() - useless.expected.mid.value(), 0.004, 1e-9);
}

TEST(Device, WithoutBandwidthIsRefusedInOneLine) {
  TestCase test = TestCase::plain(1e9, "bf16", "h100-sxm");
  test.device.memory_bandwidth.reset();
  const auto result = test.try_predict();
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().line(), testing::HasSubstr("bandwidth"));
}

}  // namespace
}  // namespace corridor::roofline
