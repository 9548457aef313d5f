// SPDX-License-Identifier: Apache-2.0
// Each lever where it helps and where it cannot.
#include "corridor/lever/lever.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/lever_case.h"
#include "corridor/lever/registry.h"

namespace corridor::lever {
namespace {

using testing::HasSubstr;

constexpr const char* llama8 = "meta-llama/Llama-3.1-8B";
constexpr const char* llama70 = "meta-llama/Llama-3.1-70B";

TEST(Levers, EveryLeverAnswersOnceAndThoseThatDoNotApplyComeLast) {
  const std::vector<LeverResult> all = LeverCase::of(llama8, "h100-sxm").levers();
  std::set<std::string> ids;
  for (const LeverResult& r : all) ids.insert(r.id);
  EXPECT_EQ(ids.size(), all_levers().size());
  EXPECT_EQ(all.size(), all_levers().size());
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_GE(all[i - 1].applies, all[i].applies) << all[i].id;
    if (all[i].applies) {
      EXPECT_GE(all[i - 1].gain.mid, all[i].gain.mid) << all[i].id;
    }
  }
  for (const LeverResult& r : all) {
    EXPECT_FALSE(r.note.empty()) << r.id;
    if (r.applies) {
      EXPECT_NE(r.change.empty(), r.engine_change.empty()) << r.id;
      EXPECT_TRUE(r.change.empty() || r.change.starts_with("--")) << r.id;
      EXPECT_FALSE(how_to(r).empty() || r.cost.empty() || r.stops_at.empty()) << r.id;
    } else {
      EXPECT_EQ(r.gain.mid, 1) << r.id;
    }
  }
}

/// The batch at which KV is 77 % of the bytes of a step, found from the byte counts alone.
LeverCase mostly_kv() {
  LeverCase c = LeverCase::of("Qwen/Qwen3-8B", "h100-sxm", 1);
  c.test.scenario.context = 2048;
  c.test.scenario.input = 1920;
  const roofline::StepTotals one = c.predict().decode.totals;
  c.test.scenario.sequences = std::round(one.weights.value() * 0.77 / 0.23 / one.kv.value());
  return c;
}

TEST(Weights8Bit, GiveAtMost113WhenKvIs77PercentOfTheBytes) {
  const LeverCase c = mostly_kv();
  ASSERT_NEAR(kv_share(c.predict().decode), 0.77, 0.005);
  const LeverResult r = c.lever("weights_8bit");
  EXPECT_TRUE(r.applies);
  EXPECT_EQ(fmt::format("{:.2f}", r.max_gain), "1.13");
  EXPECT_THAT(r.note, HasSubstr("weights are 23 % of the bytes: 8-bit weights give at most 1.13×"));
  EXPECT_LT(r.gain.mid, r.max_gain);
}

TEST(Weights8Bit, NearlyHalveTheTimeOfOneUser) {
  const LeverResult r = LeverCase::of(llama70, "h200").lever("weights_8bit");
  EXPECT_EQ(r.change, "--weights fp8");
  EXPECT_GT(r.gain.mid, 1.5);
  EXPECT_NEAR(r.max_gain, 2, 0.05);
}

TEST(Weights8Bit, AreUnpackedWhereTheChipHasNoFp8) {
  const LeverResult r = LeverCase::of(llama8, "a100-sxm-80").lever("weights_8bit");
  EXPECT_EQ(r.change, "--weights int8");
  EXPECT_THAT(r.stops_at, HasSubstr("unpacked"));
}

TEST(Weights4Bit, LoseAtALargeBatchWhereTheyAreUnpacked) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm", 1);
  c.test.scenario.input = 128;
  c.test.scenario.context = 128;
  const LeverResult one = c.lever("weights_4bit");
  EXPECT_EQ(one.change, "--weights int4-g128");
  EXPECT_GT(one.gain.mid, 1.3);
  c.test.scenario.sequences = 512;
  const LeverResult many = c.lever("weights_4bit");
  EXPECT_LT(many.gain.mid, 1);
  EXPECT_THAT(many.note, HasSubstr("slower here"));
}

TEST(Weights4Bit, UseTheChipsOwnTypeOnBlackwell) {
  EXPECT_EQ(LeverCase::of(llama70, "b200").lever("weights_4bit").change, "--weights nvfp4");
}

TEST(Weights4Bit, CannotShrinkWeightsThatAreThereAlready) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm");
  c.test.model = model::with_weight_format(c.test.model, *model::find_weight_format("int4-g128"));
  EXPECT_FALSE(c.lever("weights_4bit").applies);
  const LeverResult eight = c.lever("weights_8bit");
  EXPECT_FALSE(eight.applies);
  EXPECT_THAT(eight.note, HasSubstr("already take"));
}

TEST(Kv8Bit, HelpsWhereKvIsMostOfTheBytes) {
  const LeverResult r = mostly_kv().lever("kv_8bit");
  EXPECT_GT(r.gain.mid, 1.2);
  EXPECT_THAT(r.note, HasSubstr("KV is 77 % of the bytes"));
}

TEST(Kv8Bit, CannotHelpTwice) {
  LeverCase c = mostly_kv();
  c.test.scenario.kv = *model::find_weight_format("fp8");
  EXPECT_FALSE(c.lever("kv_8bit").applies);
}

TEST(Batch, GrowsToWhatMemoryHolds) {
  const LeverCase c = LeverCase::of(llama8, "h100-sxm");
  const LeverResult r = c.lever("batch");
  ASSERT_TRUE(r.applies);
  EXPECT_GT(r.gain.mid, 10);
  LeverCase larger = c;
  larger.test.scenario = *r.changed->scenario;
  EXPECT_TRUE(larger.predict().memory.fits);
  EXPECT_FALSE(larger.lever("batch").applies && larger.lever("batch").gain.mid > 1.1);
}

TEST(Batch, HasNoUseWhenTheModelAloneFillsTheMemory) {
  const LeverResult r = LeverCase::of(llama70, "h100-sxm").lever("batch");
  EXPECT_FALSE(r.applies);
  EXPECT_THAT(r.note, HasSubstr("make it fit"));
}

TEST(Graphs, HelpASmallModelLaunchedEagerly) {
  LeverCase c = LeverCase::of("meta-llama/Llama-3.2-1B", "h100-sxm");
  c.test.scenario.graphs = false;
  const LeverResult r = c.lever("graphs");
  EXPECT_TRUE(r.applies);
  EXPECT_GT(r.gain.mid, 1.2);
  c.test.scenario.graphs = true;
  const LeverResult on = c.lever("graphs");
  EXPECT_FALSE(on.applies);
  EXPECT_THAT(on.note, HasSubstr("already on"));
}

TEST(Fusion, HelpsWhereItIsOffAndNeverForAPlainProduct) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm");
  c.test.scenario.fusion = false;
  EXPECT_GT(c.lever("fusion").gain.mid, 1);
  c.test.scenario.fusion = true;
  EXPECT_FALSE(c.lever("fusion").applies);
  LeverCase plain = c;
  plain.test.model = model::plain_dense_model(8e9).value();
  plain.test.scenario.fusion = false;
  EXPECT_FALSE(plain.lever("fusion").applies);
  EXPECT_THAT(plain.lever("fusion").note, HasSubstr("changes nothing"));
}

TEST(FlashAttention, HelpsTheLongPromptMoreThanDecode) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm");
  c.test.scenario.input = 16'384;
  c.test.scenario.context = 16'512;
  c.test.scenario.flash_attention = false;
  const LeverResult r = c.lever("flash_attention");
  EXPECT_EQ(r.metric, Metric::first_token);
  EXPECT_GT(r.gain.mid, 1.5);
  c.test.scenario.flash_attention = true;
  EXPECT_FALSE(c.lever("flash_attention").applies);
}

TEST(Speculation, PaysForOneUserAndNotAtAcceptanceZero) {
  LeverCase c = LeverCase::of(llama70, "h200");
  const LeverResult r = c.lever("speculation");
  EXPECT_GT(r.gain.mid, 1.3);
  EXPECT_THAT(r.note, HasSubstr("(assumed)"));
  EXPECT_THAT(r.note, HasSubstr("n-gram"));
  c.acceptance = 0;
  EXPECT_LT(c.lever("speculation").gain.mid, 1);
  c.acceptance = 0.9;
  EXPECT_GT(c.lever("speculation").gain.mid, r.gain.mid);
}

TEST(Speculation, TrustsNGramsHalfAsMuchAsADraftAndRanksTheBetter) {
  LeverCase c = LeverCase::of(llama70, "h200");
  for (const double acceptance : {0.2, 0.5, 0.8, 1.0}) {
    c.acceptance = acceptance;
    const LeverResult r = c.lever("speculation");
    ASSERT_TRUE(r.changed && r.changed->scenario);
    const graph::Speculation& chosen = r.changed->scenario->speculation;
    EXPECT_DOUBLE_EQ(chosen.acceptance, chosen.draft_model.empty() ? acceptance / 2 : acceptance);
    EXPECT_LE(r.gain.mid, r.max_gain);
    EXPECT_THAT(r.note, HasSubstr("half of it"));
    // The other way of drafting, told in the note, gains no more than the ranked one.
    const std::size_t give = r.note.find("give");
    ASSERT_NE(give, std::string::npos);
    EXPECT_LE(std::strtod(r.note.c_str() + r.note.find(' ', give), nullptr), r.gain.mid * 1.006);
  }
}

TEST(Speculation, PaysLessAtABatchWithoutBandwidthToSpare) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm");
  c.test.scenario.input = c.test.scenario.output = 32;
  c.test.scenario.context = 48;
  const double one = c.lever("speculation").gain.mid;
  c.test.scenario.sequences = 512;
  EXPECT_LT(c.lever("speculation").gain.mid, one);
}

TEST(ContinuousBatching, FollowsTheLengthsAndAsksForThem) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm", 32);
  const LeverResult asked = c.lever("continuous_batching");
  EXPECT_FALSE(asked.applies);
  EXPECT_THAT(asked.note, HasSubstr("needs the length distribution"));
  c.output_lengths = {16, 16, 16, 16, 16, 16, 16, 2000};
  const LeverResult uneven = c.lever("continuous_batching");
  c.output_lengths = {256};
  const LeverResult even = c.lever("continuous_batching");
  EXPECT_GT(uneven.gain.mid, 2);
  EXPECT_GT(uneven.gain.mid, even.gain.mid);
  EXPECT_LE(even.gain.mid, even.max_gain);
  c.test.scenario.load = graph::Load::concurrency;
  EXPECT_FALSE(c.lever("continuous_batching").applies);
}

TEST(ChunkSize, HelpsAPromptOfManyChunksOnly) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm");
  c.test.engine.max_batched_tokens = 512;
  c.test.scenario.input = 16'384;
  const LeverResult r = c.lever("chunk_size");
  EXPECT_TRUE(r.applies);
  EXPECT_GT(r.gain.mid, 1);
  EXPECT_THAT(r.cost, HasSubstr("other users"));
  c.test.scenario.input = 256;
  EXPECT_FALSE(c.lever("chunk_size").applies);
}

TEST(TensorParallelism, UpHelpsALargeModelAndDownFreesDevicesOfASmallOne) {
  EXPECT_GT(LeverCase::of(llama70, "h200").lever("tp_up").gain.mid, 1.5);
  EXPECT_FALSE(LeverCase::of(llama70, "h200").lever("tp_down").applies);
  LeverCase small = LeverCase::of("meta-llama/Llama-3.2-1B", "h100-sxm");
  small.test.scenario.parallelism.tp = 8;
  const LeverResult down = small.lever("tp_down");
  EXPECT_TRUE(down.applies);
  EXPECT_THAT(down.note, HasSubstr("4 devices become free"));
  LeverCase large = LeverCase::of(llama70, "h100-sxm");
  large.test.scenario.parallelism.tp = 2;
  const LeverResult refused = large.lever("tp_down");
  EXPECT_FALSE(refused.applies);
  EXPECT_THAT(refused.note, HasSubstr("does not fit"));
}

TEST(Replicas, BeatTensorParallelismForManyUsersOfASmallModel) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm", 256);
  c.test.scenario.parallelism.tp = 8;
  const LeverResult r = c.lever("replicas");
  ASSERT_TRUE(r.applies);
  EXPECT_GT(r.gain.mid, 1);
  EXPECT_EQ(r.changed->scenario->parallelism.devices(), 8);
  c.test.scenario.sequences = 1;
  EXPECT_THAT(c.lever("replicas").note, HasSubstr("cannot feed"));
  c.test.scenario.parallelism.tp = 1;
  EXPECT_FALSE(c.lever("replicas").applies);
}

TEST(ShorterContext, NamesThePrefixAndNeedsMoreThanOneToken) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm");
  c.test.scenario.input = 32'768;
  c.test.scenario.context = 32'896;
  const LeverResult r = c.lever("shorter_context");
  EXPECT_GT(r.gain.mid, 1.8);
  EXPECT_THAT(r.note, HasSubstr("a cached prefix of 16384 tokens"));
  c.test.scenario.input = 1;
  EXPECT_FALSE(c.lever("shorter_context").applies);
}

TEST(OtherDevice, NamesTheRatioAndTheShareThatScales) {
  LeverCase c = LeverCase::of(llama8, "h100-sxm");
  EXPECT_FALSE(c.lever("other_device").applies);
  c.add_choice("l4");
  EXPECT_THAT(c.lever("other_device").note, HasSubstr("no device of this maker in the catalogue is faster"));
  c.add_choice("h200");
  const LeverResult r = c.lever("other_device");
  EXPECT_EQ(r.change, "--device h200");
  EXPECT_GT(r.gain.mid, 1.1);
  const double bandwidths = c.choices[1].device.memory_bandwidth->value / c.test.device.memory_bandwidth->value;
  EXPECT_LT(r.gain.mid, bandwidths);
  EXPECT_NEAR(r.max_gain, bandwidths, 0.01);
  EXPECT_THAT(r.note, HasSubstr("scales with bandwidth"));
}

TEST(Offload, HasNoUseWhenAllFitsAndTellsThePriceWhenNot) {
  EXPECT_THAT(LeverCase::of(llama8, "h100-sxm").lever("offload").note, HasSubstr("everything fits"));
  EXPECT_THAT(LeverCase::of(llama70, "h100-sxm").lever("offload").note, HasSubstr("host link"));
}

TEST(Gain, IsRaisedNeverLoweredAndWithoutOverheadHasNoInterval) {
  LeverCase c{roofline::TestCase::built_in(llama8, "h100-sxm", "ideal"), {}, {}, {}, {}};
  const LeverResult r = c.lever("weights_8bit");
  EXPECT_LE(r.gain.low, r.gain.mid);
  EXPECT_LE(r.gain.mid, r.gain.high);
  EXPECT_DOUBLE_EQ(gain_without(0.5), 2);
  EXPECT_TRUE(std::isfinite(gain_without(1)));
}

}  // namespace
}  // namespace corridor::lever
