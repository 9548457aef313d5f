// SPDX-License-Identifier: Apache-2.0
// Single operations: never below the limit, monotone in the device's rates, and each term where physics puts it.
#include "corridor/roofline/op_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>

#include "corridor/graph/op_graph.h"
#include "corridor/roofline/constant_file.h"
#include "corridor/roofline/resident_share.h"
#include "corridor/roofline/test_case.h"

namespace corridor::roofline {
namespace {

using graph::Op;
using graph::OpKind;
using units::Bytes;
using units::Flops;
using units::Seconds;

constexpr std::array devices = {"h100-sxm", "h200", "a100-sxm-80", "a40",         "l40s",        "b200",
                                "rtx-4090", "gb10", "mi300x",      "v100-sxm-32", "rtx-pro-6000"};

struct OnDevice {
  explicit OnDevice(const std::string& name)
      : device(hardware::find_device(TestCase::assets(), name).value().device),
        constants(TestCase::constant_files().constants(device).value()) {}
  [[nodiscard]] OpTime time(const Op& op, double copies = 0, bool library = false) const {
    TimingContext context{device, constants, std::nullopt};
    context.repeated_copies = copies;
    context.library_all_reduce = library;
    return time_op(op, context).value();
  }
  hardware::Device device;
  KernelConstants constants;
};

Op product(double m, double n, double k, const std::string& format = "bf16") {
  Op op;
  op.kind = OpKind::product;
  op.format = *model::find_weight_format(format);
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = Flops{2 * m * n * k};
  op.weights = op.weights_least = Bytes{n * k * op.format.bits_per_weight / 8};
  op.activations = Bytes{2 * m * (n + k)};
  return op;
}

Op decode_attention(double batch, double heads, double kv_heads, double width, double length) {
  Op op;
  op.kind = OpKind::attention_decode;
  op.format = *model::find_weight_format("bf16");
  op.m = op.sequences = batch;
  op.n = heads;
  op.k = 2 * width;
  op.flops = Flops{4 * batch * heads * width * length};
  op.kv = Bytes{4 * batch * kv_heads * width * (length + 1)};
  op.activations = Bytes{4 * batch * heads * width};
  return op;
}

Op prompt_attention(double prompts, double heads, double kv_heads, double width, double length) {
  Op op = decode_attention(prompts, heads, kv_heads, width, length);
  op.kind = OpKind::attention_prefill;
  op.m = prompts * length;
  op.flops = Flops{4 * prompts * heads * width * length * (length + 1) / 2};
  op.kv = Bytes{8 * prompts * kv_heads * width * length};
  op.activations = Bytes{4 * prompts * heads * width * length};
  return op;
}

Op collective(graph::Collective kind, double ranks, double payload) {
  Op op;
  op.kind = OpKind::collective;
  op.collective = kind;
  op.ranks = ranks;
  op.payload = Bytes{payload};
  return op;
}

double size() {
  return std::floor(std::exp2(*rc::gen::inRange(0, 160) / 10.0));
}

Op any_op() {
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return product(size(), size(), size(), *rc::gen::element<std::string>("bf16", "fp8", "int8", "int4-g128"));
    case 1:
      return decode_attention(size(), 32, *rc::gen::element(1, 8, 32), *rc::gen::element(64, 128, 256), size());
    case 2:
      return prompt_attention(1 + std::floor(size() / 1024), 32, 8, *rc::gen::element(64, 128, 256), size());
    case 3:
      return collective(*rc::gen::element(graph::Collective::all_reduce, graph::Collective::all_gather,
                                          graph::Collective::all_to_all, graph::Collective::send_recv),
                        *rc::gen::element(2, 3, 4, 8), size() * size());
    default:
      Op op;
      op.activations = Bytes{size() * size()};
      op.m = 1;
      return op;
  }
}

RC_GTEST_PROP(OneOperation, IsNeverFasterThanItsLimit, ()) {
  const Op op = any_op();
  const OpTime time = OnDevice(*rc::gen::elementOf(devices)).time(op);
  RC_ASSERT(std::isfinite(time.expected.value()));
  for (const Seconds limit : {time.limit_memory, time.limit_compute, time.limit_link}) {
    RC_ASSERT(time.expected.value() >= limit.value() * (1 - 1e-9));
  }
  RC_ASSERT(time.interval.low <= 1 && time.interval.high >= 1);
}

RC_GTEST_PROP(OneOperation, IsNotSlowerOnAFasterDevice, ()) {
  const Op op = any_op();
  const OnDevice base(*rc::gen::elementOf(devices));
  OnDevice faster = base;
  const double factor = 1 + *rc::gen::inRange(1, 30) / 10.0;
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      faster.device.memory_bandwidth->value *= factor;
      break;
    case 1:
      for (auto& peak : faster.device.peaks) {
        if (peak) peak->value *= factor;
      }
      break;
    default:
      if (faster.device.link.bandwidth_per_direction) faster.device.link.bandwidth_per_direction->value *= factor;
  }
  const double copies = *rc::gen::element(0, 1, 6);
  RC_ASSERT(faster.time(op, copies).expected.value() <= base.time(op, copies).expected.value() * (1 + 1e-9));
}

RC_GTEST_PROP(OneOperation, RepeatedIsNotSlowerThanCold, ()) {
  const Op op = any_op();
  const OnDevice on(*rc::gen::elementOf(devices));
  RC_ASSERT(on.time(op, 1).expected.value() <= on.time(op).expected.value() * (1 + 1e-9));
}

RC_GTEST_PROP(ResidentShare, FallsFromOneAndSolvesItsEquation, ()) {
  const double pressure = *rc::gen::inRange(1, 150) / 10.0;
  const double hit = resident_share(pressure, 1);
  RC_ASSERT(hit >= 0 && hit <= 1);
  RC_ASSERT(resident_share(pressure + 0.05, 1) <= hit + 1e-6);
  if (pressure > 1) RC_ASSERT(std::abs(hit - std::exp(-(1 - hit) * pressure)) < 1e-4);
  if (pressure <= 1) RC_ASSERT(hit == 1);
}

TEST(Decode, ManyShortSequencesCostATileEach) {
  const OnDevice h100("h100-sxm");
  const Seconds few = h100.time(decode_attention(64, 32, 8, 128, 8)).expected;
  const Seconds many = h100.time(decode_attention(2048, 32, 8, 128, 8)).expected;
  // 16,384 tiles on 132 SMs: the bytes alone would take less than a tenth of this.
  EXPECT_GT((many - few).value(), 0.9 * (2048 - 64) * 8 / 132 * h100.constants.attention_decode.tile_s);
}

TEST(Decode, ALatentIsReadOnceForAllHeads) {
  Op latent = decode_attention(1, 128, 1, 544, 4096);  // k = 1,088 = 512 + 64 + 512
  latent.kv = Bytes{2 * 576 * 4097.0};
  const OnDevice h100("h100-sxm");
  EXPECT_LT(h100.time(latent).memory.value(), h100.time(decode_attention(1, 128, 8, 544, 4096)).memory.value());
}

TEST(Prompt, NarrowHeadsReachLessOfThePeak) {
  const OnDevice h100("h100-sxm");
  const auto rate = [&](double width, double heads) {
    const Op op = prompt_attention(1, heads, 8, width, 16384);
    return op.flops / h100.time(op).expected;
  };
  EXPECT_LT(rate(64, 64).value(), rate(128, 32).value());
  EXPECT_LT(rate(128, 32).value(), rate(256, 16).value());
}

TEST(AllReduce, OnPciExpressRunsInTheLibraryBeyondTwoRanks) {
  const OnDevice l40s("l40s");
  const Op eight = collective(graph::Collective::all_reduce, 8, 65536);
  EXPECT_EQ(l40s.time(eight).expected, l40s.time(eight, 0, true).expected);
  const Op two = collective(graph::Collective::all_reduce, 2, 65536);
  EXPECT_LT(l40s.time(two).expected, l40s.time(two, 0, true).expected);
}

TEST(Experts, AnActivationWidePassIsPaidByEveryRank) {
  // The same tokens on a rank with an eighth of the experts: an eighth of the products, but every row is still summed.
  Op whole;
  whole.kind = OpKind::moe;
  whole.format = *model::find_weight_format("bf16");
  whole.expert_count = 128;
  whole.experts_per_token = 8;
  whole.k = 4096;
  whole.n = 2 * 1536;
  constexpr double tokens = 8192, elements = 3 * 4096.0 * 1536;
  whole.flops = Flops{2 * tokens * 8 * elements};
  whole.weights = Bytes{128 * elements * 2};
  whole.weights_least = Bytes{8 * elements * 2};
  Op eighth = whole;
  eighth.flops = whole.flops / 8;
  eighth.weights = whole.weights / 8;
  eighth.weights_least = whole.weights_least / 8;
  const OnDevice h100("h100-sxm");
  const Seconds rows = Bytes{2 * tokens * 8 * 2 * 4096} / h100.device.memory_bandwidth->value;
  EXPECT_GT(h100.time(eighth).memory, rows);
  EXPECT_GT(h100.time(eighth).expected.value() * 8, h100.time(whole).expected.value());
}

TEST(Rules, AMeasuredLaunchFloorAndBandwidthTakeThePlaceOfTheClasss) {
  const OnDevice published("h100-sxm");
  hardware::Device own = published.device;
  own.launch_floor =
      hardware::Fact<Seconds>{Seconds{4e-6}, hardware::Basis::measured, "this machine", "2026-11-29", ""};
  own.reachable_bandwidth->value = own.memory_bandwidth->value * 0.5;
  const KernelConstants c = TestCase::constant_files().constants(own).value();
  EXPECT_DOUBLE_EQ(c.bf16.t0_s, 4e-6);
  EXPECT_DOUBLE_EQ(c.elementwise.t0_s, 4e-6 + (published.constants.elementwise.t0_s - published.constants.bf16.t0_s));
  EXPECT_GT(c.moe.t0_s - published.constants.moe.t0_s, 5 * (4e-6 - published.constants.bf16.t0_s));
  EXPECT_LT(c.bf16.bandwidth_fraction, 0.5);
  EXPECT_GT(c.bf16.bandwidth_fraction, 0.4);
}

TEST(Rules, ABoardOfLessPowerReachesLessOfThePeak) {
  const OnDevice sxm("h100-sxm");
  hardware::Device capped = sxm.device;
  capped.board_power_w->value = 350;
  EXPECT_LT(TestCase::constant_files().constants(capped).value().bf16.compute_fraction,
            0.7 * sxm.constants.bf16.compute_fraction);
}

TEST(Constants, ASourceIsOneWordExplainedOnceOrAText) {
  const auto file = parse_constants(R"(
[a]
x = { value = 1, unit = "s", source = "word", basis = "measured", date = "2026-11-29" }
[sources]
word = "a table that somebody published"
)",
                                    "t.toml");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->values.at("a.x").source, "a table that somebody published");
  const auto bad = parse_constants(R"(x = { value = 1, unit = "s", source = "word", basis = "measured" })", "t.toml");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().where, "t.toml:1");
}

}  // namespace
}  // namespace corridor::roofline
