// SPDX-License-Identifier: Apache-2.0
// The physics holds for every model, device and scenario: ordering, sums, monotony, scaling.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>

#include "corridor/graph/placement.h"
#include "corridor/roofline/test_case.h"

namespace corridor::roofline {
namespace {

constexpr std::array models = {"meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-70B", "deepseek-ai/DeepSeek-V3",
                               "openai/gpt-oss-120b",     "Qwen/Qwen3-30B-A3B",       "google/gemma-2-9b-it",
                               "Qwen/Qwen2.5-7B-Instruct"};
constexpr std::array devices = {"h100-sxm", "h200", "a100-sxm-80", "b200",     "rtx-4090",
                                "mi300x",   "gb10", "l4",          "epyc-9654"};
constexpr std::array formats = {"", "bf16", "fp8", "int8", "int4-g128", "nvfp4"};
constexpr std::array engines = {"vllm",      "vllm-2023",      "sglang",  "tensorrt-llm", "tensorrt-llm-2024",
                                "llama.cpp", "llama.cpp-2024", "exllama", "transformers", "ideal"};

constexpr double rounding = 1e-12;  // sums of the same parts in another split differ by this much

/// Any model on any device under any load.
TestCase random_case() {
  const std::string id = *rc::gen::elementOf(models);
  const std::string format = *rc::gen::elementOf(formats);
  TestCase test = TestCase::built_in(id, *rc::gen::elementOf(devices), *rc::gen::elementOf(engines));
  if (!format.empty()) test.model = model::with_weight_format(test.model, *model::find_weight_format(format));
  test.scenario.sequences = *rc::gen::inRange(1, 2000);
  test.scenario.input = *rc::gen::inRange<std::int64_t>(1, 30'000);
  test.scenario.output = *rc::gen::inRange<std::int64_t>(1, 4'000);
  test.scenario.context = static_cast<double>(test.scenario.input + test.scenario.output / 2);
  test.scenario.parallelism.tp = *rc::gen::element<std::int64_t>(1, 2, 4, 8);
  if (!graph::check_layout(test.model, test.scenario.parallelism)) test.scenario.parallelism.tp = 1;
  test.scenario.graphs = *rc::gen::arbitrary<bool>();
  test.scenario.load = *rc::gen::element(graph::Load::batch, graph::Load::concurrency);
  test.scenario.routing = *rc::gen::element(graph::Routing::balanced, graph::Routing::uniform, graph::Routing::skewed);
  return test;
}

RC_GTEST_PROP(Physics, IntervalsAreOrderedAndNeverBelowTheLimit, ()) {
  const Prediction p = random_case().predict();
  for (const auto& [interval, limit] : {std::pair{p.decode.expected, p.decode.limit},
                                        {p.prefill.expected, p.prefill.limit},
                                        {p.prefill.first_token, p.prefill.limit}}) {
    RC_ASSERT(interval.low <= interval.mid);
    RC_ASSERT(interval.mid <= interval.high);
    RC_ASSERT(interval.low >= limit);
    RC_ASSERT(limit.value() > 0);
    RC_ASSERT(std::isfinite(interval.high.value()));
  }
}

RC_GTEST_PROP(Physics, TheBudgetAddsUpToTheExpectedTime, ()) {
  const Prediction p = random_case().predict();
  RC_ASSERT(std::abs(p.decode.budget.total() / p.decode.expected.mid - 1) < 1e-9);
  RC_ASSERT(std::abs(p.prefill.budget.total() / p.prefill.expected.mid - 1) < 1e-9);
  for (const units::Seconds part :
       {p.decode.budget.weights, p.decode.budget.kv, p.decode.budget.activations, p.decode.budget.compute,
        p.decode.budget.launch, p.decode.budget.communication, p.decode.budget.host}) {
    RC_ASSERT(part.value() >= 0);
  }
}

RC_GTEST_PROP(Physics, MoreSequencesMoveMoreAndAreNeverFaster, ()) {
  TestCase test = random_case();
  test.scenario.load = graph::Load::batch;
  const Prediction few = test.predict();
  test.scenario.sequences += *rc::gen::inRange(1, 500);
  const Prediction many = test.predict();
  RC_ASSERT(many.decode.totals.flops > few.decode.totals.flops);
  RC_ASSERT(many.decode.totals.bytes() > few.decode.totals.bytes());
  RC_ASSERT(many.decode.limit >= few.decode.limit);
  RC_ASSERT(many.decode.expected.mid.value() >= few.decode.expected.mid.value() * 0.99);
}

RC_GTEST_PROP(Physics, LongerContextMovesMoreAndIsNeverFaster, ()) {
  TestCase test =
      TestCase::built_in(*rc::gen::element<std::string>("meta-llama/Llama-3.1-8B", "deepseek-ai/DeepSeek-V3"),
                         *rc::gen::elementOf(devices));
  test.scenario.sequences = *rc::gen::inRange(1, 200);
  test.scenario.context = *rc::gen::inRange(1, 100'000);
  const DecodePrediction near = test.predict().decode;
  test.scenario.context += *rc::gen::inRange(1, 100'000);
  const DecodePrediction far = test.predict().decode;
  RC_ASSERT(far.totals.flops > near.totals.flops);
  RC_ASSERT(far.totals.bytes() > near.totals.bytes());
  RC_ASSERT(far.expected.mid.value() >= near.expected.mid.value() * 0.99);
}

RC_GTEST_PROP(Physics, MoreLayersMoveMore, ()) {
  TestCase test = random_case();
  const Prediction shallow = test.predict();
  test.model.layers.front().count += *rc::gen::inRange(1, 20);
  const Prediction deep = test.predict();
  RC_ASSERT(deep.decode.totals.flops * (1 / deep.decode.sequences) >
            shallow.decode.totals.flops * (1 / shallow.decode.sequences));
  RC_ASSERT(deep.weight_bytes > shallow.weight_bytes);
}

RC_GTEST_PROP(Physics, TensorParallelismNeverBeatsItsShare, ()) {
  TestCase test = random_case();
  test.scenario.load = graph::Load::batch;
  test.scenario.parallelism.tp = 1;
  const units::Seconds alone = test.predict().decode.limit;
  const std::int64_t tp = *rc::gen::element<std::int64_t>(2, 4, 8);
  test.scenario.parallelism.tp = tp;
  RC_PRE(graph::check_layout(test.model, test.scenario.parallelism).has_value());
  RC_ASSERT(test.predict().decode.limit.value() >= alone.value() / static_cast<double>(tp) * (1 - 1e-9));
}

RC_GTEST_PROP(Physics, MoreBandwidthIsNeverSlower, ()) {
  TestCase test = random_case();
  const Prediction slow = test.predict();
  test.device.memory_bandwidth->value *= 1 + *rc::gen::inRange(1, 300) / 100.0;
  const Prediction fast = test.predict();
  RC_ASSERT(fast.decode.limit <= slow.decode.limit);
  RC_ASSERT(fast.decode.expected.mid.value() <= slow.decode.expected.mid.value() * (1 + rounding));
  RC_ASSERT(fast.prefill.expected.mid.value() <= slow.prefill.expected.mid.value() * (1 + rounding));
}

RC_GTEST_PROP(Physics, FasterArithmeticIsNeverSlower, ()) {
  TestCase test = random_case();
  const Prediction slow = test.predict();
  const double factor = 1 + *rc::gen::inRange(1, 300) / 100.0;
  for (auto& peak : test.device.peaks) {
    if (peak) peak->value *= factor;
  }
  const Prediction fast = test.predict();
  RC_ASSERT(fast.decode.limit <= slow.decode.limit);
  RC_ASSERT(fast.decode.expected.mid.value() <= slow.decode.expected.mid.value() * (1 + rounding));
  RC_ASSERT(fast.prefill.expected.mid.value() <= slow.prefill.expected.mid.value() * (1 + rounding));
}

RC_GTEST_PROP(Physics, GuessesThatAreNeverRightGainNothing, ()) {
  TestCase test = random_case();
  const double plain = test.predict().decode.expected.mid.value();
  test.scenario.speculation = {*rc::gen::inRange<std::int64_t>(1, 8), 0.0, ""};
  const DecodePrediction useless = test.predict().decode;
  RC_ASSERT(useless.tpot_s(useless.expected.mid) >= plain * 0.999);
}

RC_GTEST_PROP(Physics, AWaitIsNeverNegativeAndComesOnTopOfThePrompt, ()) {
  const Prediction p = random_case().predict();
  RC_ASSERT(p.prefill.queue.value() >= 0);
  RC_ASSERT(p.prefill.first_token.mid.value() >= p.prefill.expected.mid.value() * (1 - rounding));
}

}  // namespace
}  // namespace corridor::roofline
