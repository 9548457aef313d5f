// SPDX-License-Identifier: Apache-2.0
// One SM over time, on traces short enough to be counted by hand.
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "corridor/ptx/syntax/parse.h"
#include "corridor/ptx/timing/load_waits.h"
#include "corridor/ptx/timing/timeline.h"

namespace corridor::ptx {
namespace {

/// The function of a module whose body is `body`.
Module module_of(const std::string& body) {
  auto parsed = parse_module(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .f32 %f<20>;\n.reg .b64 %rd<4>;\n" +
          body + "}\n",
      "test.ptx");
  EXPECT_TRUE(parsed) << parsed.error().line();
  return std::move(*parsed);
}

/// `count` warps of one block that ran `entries`.
std::vector<WarpTrace> warps(std::uint32_t count, const std::vector<TraceEntry>& entries, std::uint32_t block = 0) {
  std::vector<WarpTrace> out;
  for (std::uint32_t i = 0; i < count; ++i) out.push_back({block, i, entries});
  return out;
}

std::vector<TraceEntry> straight(std::uint32_t instructions) {
  std::vector<TraceEntry> out;
  for (std::uint32_t i = 0; i < instructions; ++i) out.push_back({i, 0, 0});
  return out;
}

Machine machine() {
  Machine m;
  m.sm_count = 132;
  m.clock_hz = 1e9;
  m.lanes_per_clock[static_cast<std::size_t>(Pipe::fma)] = 128;
  m.lanes_per_clock[static_cast<std::size_t>(Pipe::alu)] = 64;
  m.lanes_per_clock[static_cast<std::size_t>(Pipe::lsu)] = 32;
  m.l1_latency_clocks = 40;
  m.shared_latency_clocks = 29;
  m.l2_latency_clocks = 280;
  m.dram_latency_clocks = 700;
  return m;
}

double share(const Timeline& t, WarpState state) {
  return t.share_of[static_cast<std::size_t>(state)];
}

TEST(Timeline, DependentChainIssuesOncePerLatency) {
  std::string body;
  for (int i = 1; i <= 10; ++i) body += "add.f32 %f" + std::to_string(i) + ", %f" + std::to_string(i - 1) + ", %f0;\n";
  const Module module = module_of(body);
  const auto one = timeline(module.functions[0], warps(1, straight(10)), machine(), 1);
  EXPECT_EQ(one.clocks, 9U * 4 + 1);
  EXPECT_DOUBLE_EQ(one.issue_share, 10.0 / (4 * 37));
  ASSERT_EQ(one.states.size(), 1U);
  ASSERT_EQ(one.states[0].size(), 37U);
  EXPECT_EQ(one.states[0][0], WarpState::issued);
  EXPECT_EQ(one.states[0][1], WarpState::waits_result);
  EXPECT_EQ(one.states[0][4], WarpState::issued);
  // Sixteen warps, four on each scheduler, fill the four clocks of the latency.
  const auto full = timeline(module.functions[0], warps(16, straight(10)), machine(), 16);
  EXPECT_EQ(full.clocks, 40U);
  EXPECT_DOUBLE_EQ(full.issue_share, 1);
  // Five on one scheduler: now they wait for their turn.
  const auto more = timeline(module.functions[0], warps(20, straight(10)), machine(), 20);
  EXPECT_EQ(more.clocks, 50U);
  EXPECT_GT(share(more, WarpState::eligible), 0.1);
}

TEST(Timeline, IndependentInstructionsIssueEachClock) {
  std::string body;
  for (int i = 1; i <= 10; ++i) body += "add.f32 %f" + std::to_string(i) + ", %f0, %f0;\n";
  const Module module = module_of(body);
  EXPECT_EQ(timeline(module.functions[0], warps(1, straight(10)), machine(), 1).clocks, 10U);
  Machine half = machine();
  half.lanes_per_clock[static_cast<std::size_t>(Pipe::fma)] = 64;  // two clocks an instruction on each scheduler
  EXPECT_EQ(timeline(module.functions[0], warps(1, straight(10)), half, 1).clocks, 19U);
}

constexpr const char* load_then_use =
    "ld.global.f32 %f1, [%rd1];\nld.global.f32 %f2, [%rd2];\nadd.f32 %f3, %f1, %f2;\n";

TEST(Timeline, LoadsWaitAsLongAsTheirLevel) {
  const Module module = module_of(load_then_use);
  const std::vector<TraceEntry> trace = {{0, 4, 1}, {1, 4, 1}, {2, 0, 0}};
  // Loads at clocks 0 and 1; the first keeps the path to L2 until 2, so the second's data are there at 2 + 700.
  const auto dram = timeline(module.functions[0], warps(1, trace), machine(), 1);
  EXPECT_EQ(dram.clocks, 703U);
  EXPECT_NEAR(share(dram, WarpState::waits_memory), 700.0 / 703, 1e-12);
  EXPECT_EQ(timeline(module.functions[0], warps(1, trace), machine(), 1, {1, 0}).clocks, 42U);
  EXPECT_EQ(timeline(module.functions[0], warps(1, trace), machine(), 1, {0, 1}).clocks, 283U);
  // The first load from L1, the second from L2.
  EXPECT_EQ(timeline(module.functions[0], warps(1, trace), machine(), 1, {0.5, 0.5}).clocks, 282U);
  // Shared memory: no sectors, two passes each: at 0 and 2, ready at 2 + 1 + 29.
  const std::vector<TraceEntry> shared = {{0, 0, 2}, {1, 0, 2}, {2, 0, 0}};
  EXPECT_EQ(timeline(module.functions[0], warps(1, shared), machine(), 1).clocks, 33U);
}

TEST(Timeline, MoreWarpsHideTheWait) {
  const Module module = module_of(load_then_use);
  const std::vector<TraceEntry> trace = {{0, 4, 1}, {1, 4, 1}, {2, 0, 0}};
  std::vector<WarpTrace> recorded;
  for (std::uint32_t block = 0; block < 16; ++block) {
    for (WarpTrace& warp : warps(4, trace, block)) recorded.push_back(std::move(warp));
  }
  double before = 0;
  for (const std::uint32_t resident : {4U, 16U, 64U}) {
    const auto t = timeline(module.functions[0], recorded, machine(), resident);
    EXPECT_EQ(t.warps_run, 64U);
    EXPECT_GT(t.issue_share, 3 * before) << resident;
    EXPECT_EQ(t.states.size(), resident);
    EXPECT_NEAR(std::accumulate(t.share_of.begin(), t.share_of.end(), 0.0), 1, 1e-9);
    EXPECT_FALSE(t.cut);
    before = t.issue_share;
  }
}

TEST(Timeline, BandwidthOfOneSmEndsTheGain) {
  const Module module = module_of("ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\n");
  Machine slow = machine();
  slow.dram_bytes_per_s = 132 * 1e9;  // one byte a clock for this SM: 128 clocks a request of four sectors
  const auto t = timeline(module.functions[0], warps(64, {{0, 4, 1}, {1, 0, 0}}), slow, 64);
  EXPECT_GE(t.clocks, 64U * 128);
  EXPECT_LE(t.clocks, 64U * 128 + 700);
}

TEST(Timeline, BarrierHoldsTheBlockUntilTheLastComes) {
  const Module module =
      module_of("add.f32 %f1, %f0, %f0;\nadd.f32 %f2, %f1, %f1;\nbar.sync 0;\nadd.f32 %f3, %f0, %f0;\n");
  std::vector<WarpTrace> recorded = warps(1, {{2, 0, 0}, {3, 0, 0}});        // comes at once
  recorded.push_back({0, 1, {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}});  // comes at clock 5
  const auto t = timeline(module.functions[0], recorded, machine(), 2);
  // Barrier instruction at 5, open 15 clocks later, the sum at 20.
  EXPECT_EQ(t.clocks, 21U);
  EXPECT_EQ(t.states[0][0], WarpState::issued);
  for (std::size_t c = 1; c <= 5; ++c) EXPECT_EQ(t.states[0][c], WarpState::barrier) << c;
  EXPECT_EQ(t.states[1][4], WarpState::issued);
  // Another block does not wait for this one.
  std::vector<WarpTrace> apart = recorded;
  apart[1].block = 1;
  EXPECT_EQ(timeline(module.functions[0], apart, machine(), 2).states[0][1], WarpState::waits_result);
}

TEST(Timeline, FewerPlacesThanABlockHas) {
  const Module module = module_of("bar.sync 0;\nadd.f32 %f1, %f0, %f0;\n");
  const auto t = timeline(module.functions[0], warps(8, straight(2)), machine(), 4);
  EXPECT_EQ(t.warps_run, 8U);
  EXPECT_FALSE(t.cut);
}

TEST(Timeline, BlocksEnterWhole) {
  const Module module = module_of("bar.sync 0;\nadd.f32 %f1, %f0, %f0;\n");
  std::vector<WarpTrace> recorded = warps(4, straight(2));
  const auto t = timeline(module.functions[0], recorded, machine(), 6);
  for (std::size_t place : {4U, 5U}) EXPECT_EQ(t.states[place][0], WarpState::absent);  // no room for four more
  EXPECT_EQ(t.warps_run, 8U);
}

TEST(LoadsPerWait, CountsWhatIsUnderWay) {
  EXPECT_EQ(loads_per_wait(module_of(load_then_use).functions[0]), 2);
  EXPECT_EQ(loads_per_wait(module_of("add.f32 %f1, %f0, %f0;\n").functions[0]), 0);
  // One alone, then three before the first use: four loads in two waits.
  EXPECT_EQ(loads_per_wait(module_of("ld.global.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\n"
                                     "ld.global.f32 %f3, [%rd1];\nld.global.f32 %f4, [%rd1+4];\n"
                                     "ld.global.f32 %f5, [%rd1+8];\nadd.f32 %f6, %f3, %f5;\nadd.f32 %f7, %f4, %f6;\n")
                               .functions[0]),
            2);
  EXPECT_EQ(loads_per_wait(module_of("ld.shared.f32 %f1, [%rd1];\nadd.f32 %f2, %f1, %f1;\n").functions[0]), 0);
}

TEST(Timeline, BadTracesGiveNothing) {
  const Module module = module_of("add.f32 %f1, %f0, %f0;\n");
  EXPECT_EQ(timeline(module.functions[0], warps(1, {{7, 0, 0}}), machine(), 4).clocks, 0U);
  EXPECT_EQ(timeline(module.functions[0], warps(3, {}), machine(), 4).clocks, 0U);
  EXPECT_EQ(timeline(module.functions[0], {}, machine(), 4).clocks, 0U);
  EXPECT_EQ(timeline(module.functions[0], warps(1, straight(1)), machine(), 0).clocks, 0U);
  EXPECT_EQ(timeline(module.functions[0], warps(1, straight(1)), {}, 1).clocks, 1U);
  // A very long wait is jumped over; a very long run is cut.
  Machine far = machine();
  far.alu_latency_clocks = 1e8;
  const Module chain = module_of("add.f32 %f1, %f0, %f0;\nadd.f32 %f2, %f1, %f1;\n");
  EXPECT_TRUE(timeline(chain.functions[0], warps(1, straight(2)), far, 1).cut);
}

}  // namespace
}  // namespace corridor::ptx
