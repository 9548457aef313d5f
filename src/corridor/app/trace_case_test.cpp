// SPDX-License-Identifier: Apache-2.0
// Which device a trace is placed on, which of several ranks is the slowest, and what names and flags do to a trace.
#include "corridor/app/trace_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/app/trace_comparison.h"

namespace corridor::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// One product, one collective, and a device of this description.
std::string trace_of(const std::string& device, double product_us = 10, double collective_us = 5, int rank = 0) {
  const auto kernel = [](const char* name, double ts, double dur) {
    return R"({"ph": "X", "cat": "kernel", "name": ")" + std::string(name) + R"(", "ts": )" + std::to_string(ts) +
           R"(, "dur": )" + std::to_string(dur) + R"(, "args": {"device": 0, "stream": 7}})";
  };
  return R"({"deviceProperties": [{"id": 0, )" + device + R"(}], "distributedInfo": {"world_size": 2, "rank": )" +
         std::to_string(rank) + R"(}, "traceEvents": [)" + kernel("gemm", 100, product_us) + "," +
         kernel("ncclDevKernel_AllReduce", 100 + product_us, collective_us) + "]}";
}

Result<TraceAnswer> answer_of(const std::vector<std::string>& texts, PredictRequest base = {}) {
  static const Assets assets = *Assets::open(std::nullopt);
  TraceRequest request{std::move(base), {}, false};
  for (const std::string& text : texts) {
    request.files.push_back({"rank" + std::to_string(request.files.size()) + ".json", text});
  }
  return diagnose_traces(assets, request);
}

const std::string h100 = R"("name": "NVIDIA H100 80GB HBM3", "numSms": 132, "totalGlobalMem": 85018279936)";
const std::string nameless_mi300x = R"("name": "", "numSms": 304, "totalGlobalMem": 206141652992)";

TEST(TraceCase, TheDeviceIsTheTracesOwn) {
  const auto named = answer_of({trace_of(h100)});
  ASSERT_TRUE(named && named->device);
  EXPECT_EQ(named->device->id, "h100-sxm");
  const auto sized = answer_of({trace_of(nameless_mi300x)});
  ASSERT_TRUE(sized && sized->device);
  EXPECT_EQ(sized->device->id, "mi300x");
  EXPECT_THAT(sized->notes, Contains(HasSubstr("304 SMs or CUs")));
}

TEST(TraceCase, ASizeOfSeveralBoardsNamesThemAndChoosesNone) {
  const auto answer = answer_of({trace_of(R"("name": "", "numSms": 132, "totalGlobalMem": 85018279936)")});
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->device);
  EXPECT_THAT(answer->notes, Contains(HasSubstr("may be")));
  EXPECT_THAT(answer->notes, Contains(HasSubstr("h100-sxm")));
}

TEST(TraceCase, AnUnknownDeviceIsAnsweredWithoutRoofs) {
  const std::string unknown = trace_of(R"("name": "Accelerator of tomorrow", "numSms": 7)");
  const auto answer = answer_of({unknown});
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->device);
  EXPECT_THAT(answer->analysis.caveats, Contains(HasSubstr("give --device")));
  PredictRequest base;
  base.device = "h100-sxm";
  const auto told = answer_of({unknown}, base);
  ASSERT_TRUE(told && told->device);
  EXPECT_EQ(told->device->id, "h100-sxm");
  const auto other = answer_of({trace_of(nameless_mi300x)}, base);
  ASSERT_TRUE(other && other->device);
  EXPECT_EQ(other->device->id, "h100-sxm");
  EXPECT_THAT(other->notes, Contains(HasSubstr("recorded on mi300x")));
}

TEST(TraceCase, WithoutCallsOfTheHostNothingIsBlamedOnIt) {
  // Two products with a pause of ten times their length between them, and nothing of the host.
  const std::string kernels = trace_of(h100, 10, 5);
  const std::string late =
      R"(, {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 160, "dur": 10, "args": {"device": 0, "stream": 7}}]})";
  const auto answer = answer_of({kernels.substr(0, kernels.size() - 2) + late});
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->analysis.caveats, Contains(HasSubstr("no calls of the host")));
  for (const diagnose::Finding& f : answer->analysis.findings) {
    EXPECT_EQ(f.cause.find("the host needs longer"), std::string::npos) << f.title;
  }
}

TEST(TraceCase, TheSlowestRankHasTheMostWorkOfItsOwn) {
  // The second rank is busy longest, but with waiting in a collective.
  const auto answer = answer_of({trace_of(h100, 10, 5, 0), trace_of(h100, 4, 20, 1), trace_of(h100, 12, 1, 2)});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->rank, 2);
  ASSERT_EQ(answer->ranks.size(), 3U);
  EXPECT_NEAR(answer->ranks[1].gpu_busy_s, 24e-6, 1e-9);
  EXPECT_NEAR(answer->ranks[1].own_work_s(), 4e-6, 1e-9);
  EXPECT_THAT(answer_of({trace_of(h100)})->ranks, IsEmpty());
}

TEST(TraceCase, TheModelAndTheRanksAreNamed) {
  PredictRequest base;
  base.model = "meta-llama/Llama-3.1-8B";
  base.batch = 4;
  const auto answer = answer_of({trace_of(h100)}, base);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->tp, 2);
  EXPECT_THAT(answer->notes, Contains(HasSubstr("tp taken as 2")));
  EXPECT_THAT(answer->notes, Contains(HasSubstr("without effect on a trace: --batch")));
  base.tp = 1;
  EXPECT_EQ(answer_of({trace_of(h100)}, base)->tp, 1);
}

TEST(TraceCase, FailuresAreOneLineWithTheirPlace) {
  PredictRequest base;
  base.model = "no-such/model";
  EXPECT_THAT(answer_of({trace_of(h100)}, base).error().line(), HasSubstr("no-such/model"));
  base = {};
  base.device = "no-such-device";
  EXPECT_THAT(answer_of({trace_of(h100)}, base).error().line(), HasSubstr("no-such-device"));
  base = {};
  base.kv = "no-such-format";
  EXPECT_THAT(answer_of({trace_of(h100)}, base).error().line(), HasSubstr("--kv no-such-format"));
  base = {};
  base.params = "8B";
  EXPECT_THAT(answer_of({trace_of(h100)}, base).error().line(), HasSubstr("--params 8B"));
  EXPECT_THAT(answer_of({R"({"traceEvents": []})"}).error().line(), HasSubstr("rank0.json: holds no GPU work"));
  EXPECT_THAT(answer_of({"{}"}).error().line(), HasSubstr("rank0.json: has no list of trace events"));
}

TEST(TraceComparison, PartsAddUpAndTheLargestChangeComesFirst) {
  const auto run = answer_of({trace_of(h100, 10, 45)});
  const auto reference = answer_of({trace_of(h100, 20, 5)});
  ASSERT_TRUE(run && reference);
  const TraceComparison c = compare_traces(*run, *reference);
  EXPECT_FALSE(c.per_step);
  double mine = 0, theirs = 0;
  for (const ChangedPart& part : c.parts) {
    mine += part.this_s;
    theirs += part.against_s;
  }
  EXPECT_NEAR(mine, c.this_span_s, 1e-12);
  EXPECT_NEAR(theirs, c.against_span_s, 1e-12);
  ASSERT_GE(c.parts.size(), 2U);
  EXPECT_EQ(c.parts[0].part, "collective");
  EXPECT_NEAR(c.parts[0].change_s(), 40e-6, 1e-9);
  EXPECT_EQ(c.parts[1].part, "product");
  EXPECT_NEAR(c.parts[1].change_s(), -10e-6, 1e-9);
  EXPECT_THAT(c.parts[0].why, HasSubstr("1.00 × the executions"));
  EXPECT_THAT(c.sentence, HasSubstr("the largest change is collective: +40.0 µs"));
  const TraceComparison same = compare_traces(*run, *run);
  for (const ChangedPart& part : same.parts) EXPECT_EQ(part.change_s(), 0) << part.part;
  const auto elsewhere = answer_of({trace_of(nameless_mi300x)});
  ASSERT_TRUE(elsewhere);
  EXPECT_THAT(compare_traces(*run, *elsewhere).caveats, Contains(HasSubstr("different devices")));
}

TEST(TraceCase, ATraceIsToldByItsContent) {
  EXPECT_TRUE(is_trace({"x", trace_of(h100)}).value());
  EXPECT_FALSE(is_trace({"trace.json", "vllm serve meta-llama/Llama-3.1-8B"}).value());
  EXPECT_FALSE(is_trace({"trace.json", ""}).value());
  EXPECT_FALSE(is_trace({"broken.gz", std::string("\x1f\x8b\x00\x01\x02", 5)}).value_or(false));
}

TEST(TraceCase, WhatCannotBeRanksOfOneRunIsNamed) {
  const auto sound = answer_of({trace_of(h100), trace_of(h100, 10, 5, 1)});
  ASSERT_TRUE(sound);
  EXPECT_THAT(sound->notes, Not(Contains(HasSubstr("contradiction"))));
  std::string larger_world = trace_of(nameless_mi300x);
  larger_world.replace(larger_world.find("\"world_size\": 2"), 15, "\"world_size\": 4");
  const auto mixed = answer_of({trace_of(h100), larger_world});
  ASSERT_TRUE(mixed);
  for (const char* words :
       {"the device is h100-sxm in rank0.json and mi300x in rank1.json",
        "the number of ranks is 2 in rank0.json and 4 in rank1.json", "rank0.json and rank1.json both are rank 0"}) {
    EXPECT_THAT(mixed->notes, Contains(HasSubstr("contradiction: " + std::string(words))));
  }
}

}  // namespace
}  // namespace corridor::app
