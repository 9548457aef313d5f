// SPDX-License-Identifier: Apache-2.0
// Tokens and bytes are conserved: no limit serves more prompts than the arithmetic allows, and fit, counts and layouts
// agree with each other.
#include <gtest/gtest.h>

#include <tuple>

#include "corridor/roofline/test_case.h"

namespace corridor::roofline {
namespace {

TEST(ClosedLoop, LongPromptsWithShortAnswersCannotBeatTheArithmeticOfTheirPrompts) {
  for (const auto& [users, input, output] : {std::tuple{50, 8000, 20}, {64, 8000, 1}, {128, 2000, 10}, {8, 512, 512}}) {
    TestCase test = TestCase::built_in("meta-llama/Llama-3.1-8B", "h100-sxm");
    test.scenario.load = graph::Load::concurrency;
    test.scenario.sequences = users;
    test.scenario.input = input;
    test.scenario.output = output;
    test.scenario.context = input + output / 2.0;
    const Prediction p = test.predict();
    const double tokens_per_s = p.decode.sequences / p.decode.limit.value();
    const double prompts_per_s = tokens_per_s / output;
    TestCase alone = test;
    alone.scenario.load = graph::Load::batch;
    alone.scenario.sequences = 1;
    const double possible = 1 / alone.predict().prefill.limit_compute.value();
    EXPECT_LE(prompts_per_s, possible * 1.001) << users << " users, " << input << " in, " << output << " out";
    EXPECT_NEAR(p.decode.prompt_tokens_per_step, p.decode.sequences * input / output, 1e-6 * input);
  }
}

TEST(Memory, ADraftIsResidentToo) {
  const TestCase test = TestCase::built_in("meta-llama/Llama-3.1-8B", "h100-sxm");
  const TestCase huge = TestCase::built_in("meta-llama/Llama-3.1-405B", "h100-sxm");
  graph::Scenario scenario = test.scenario;
  scenario.speculation = {3, 0.5, "meta-llama/Llama-3.1-405B"};
  const auto p = predict({test.model, test.device, scenario, test.engine, test.constants, &huge.model});
  ASSERT_TRUE(p.has_value());
  EXPECT_FALSE(p->memory.fits);
  EXPECT_GT(p->memory.weights.value(), 800e9);
}

TEST(Memory, AsManyRequestsAsItCountsDoFit) {
  for (const char* id : {"Qwen/Qwen2.5-0.5B", "meta-llama/Llama-3.1-8B"}) {
    TestCase test = TestCase::built_in(id, "h100-sxm");
    const double most = test.predict().memory.max_requests;
    test.scenario.sequences = most;
    EXPECT_TRUE(test.predict().memory.fits) << id << " with " << most;
  }
}

TEST(Memory, AsManyDevicesAsItAsksForHoldIt) {
  for (const std::int64_t replicas : {1, 2}) {
    TestCase test = TestCase::built_in("google/gemma-2-9b-it", "rx-7900-xt");
    test.scenario.sequences = 16;
    test.scenario.parallelism.dp = replicas;
    const MemoryFit asked = test.predict().memory;
    ASSERT_GT(asked.devices_needed, 0);
    EXPECT_EQ(asked.layout_needed.devices(), asked.devices_needed);
    test.scenario.parallelism = asked.layout_needed;
    EXPECT_TRUE(test.predict().memory.fits) << replicas << " replicas on " << asked.devices_needed;
  }
}

TEST(Memory, UnknownCapacityIsNotChecked) {
  const TestCase test = TestCase::built_in("01-ai/Yi-34B", "xeon-8480");
  const Prediction p = test.predict();
  EXPECT_FALSE(p.memory.capacity_known);
  EXPECT_TRUE(p.memory.fits);
}

}  // namespace
}  // namespace corridor::roofline
