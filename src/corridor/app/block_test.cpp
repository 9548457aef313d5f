// SPDX-License-Identifier: Apache-2.0
// Placement of blocks: at each limit, just before it and just at it.
#include "corridor/app/block.h"

#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/app/tools_test_device.h"

namespace corridor::app {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

BlockResult placed(const BlockRequest& request) {
  auto result = place_block(request, h100_by_hand());
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().line());
  return result ? *result : BlockResult{};
}

BlockRequest with(double threads, double registers, double shared = 0) {
  return {threads, registers, units::Bytes{shared}, std::nullopt};
}

TEST(Block, TwoHundredFiftyThreadsAreEightWarps) {
  const BlockResult r = placed({250, std::nullopt, units::Bytes{0}, std::nullopt});
  EXPECT_EQ(r.warps, 8);
  EXPECT_EQ(r.last_warp_lanes, 26);
  EXPECT_TRUE(r.registers_assumed);
  EXPECT_EQ(r.blocks_per_sm, 8);
  EXPECT_EQ(r.warps_per_sm, 64);
  EXPECT_DOUBLE_EQ(r.occupancy, 1);
  EXPECT_THAT(r.limited_by, Contains("threads"));
  EXPECT_EQ(*r.blocks_per_device, 8 * 132);
  EXPECT_EQ(*r.threads_per_device, 8 * 132 * 250);
  EXPECT_EQ(r.register_file->value(), 132.0 * 65536 * 4);
}

TEST(Block, WarpBordersAreExact) {
  EXPECT_EQ(placed(with(1, 32)).warps, 1);
  EXPECT_EQ(placed(with(1, 32)).last_warp_lanes, 1);
  EXPECT_EQ(placed(with(32, 32)).warps, 1);
  EXPECT_EQ(placed(with(32, 32)).last_warp_lanes, 32);
  EXPECT_EQ(placed(with(33, 32)).warps, 2);
  EXPECT_EQ(placed(with(33, 32)).last_warp_lanes, 1);
}

TEST(Block, TheThreadLimitIsToldInThreadsAndWarps) {
  EXPECT_EQ(placed(with(1024, 32)).warps, 32);
  const auto r = place_block(with(1025, 32), h100_by_hand());
  ASSERT_FALSE(r.has_value());
  EXPECT_THAT(r.error().line(), HasSubstr("1024 threads = 32 warps"));
}

TEST(Block, SmallBlocksStopAtTheBlockCount) {
  const BlockResult r = placed(with(32, 32));
  EXPECT_EQ(r.blocks_per_sm, 32);
  EXPECT_DOUBLE_EQ(r.occupancy, 0.5);
  EXPECT_THAT(r.limited_by, ElementsAre("blocks"));
}

TEST(Block, RegistersRoundUpToEightAThread) {
  // 65,536 registers: 256 threads × 32 let 8 blocks in; 33 counts as 40.
  EXPECT_EQ(placed(with(256, 32)).blocks_per_sm, 8);
  const BlockResult more = placed(with(256, 33));
  EXPECT_EQ(more.blocks_per_sm, placed(with(256, 40)).blocks_per_sm);
  EXPECT_EQ(more.blocks_per_sm, 6);  // 16,384 a part ÷ 1,280 a warp = 12 warps; 48 warps ÷ 8
  EXPECT_THAT(more.limited_by, ElementsAre("registers"));
  EXPECT_LT(placed(with(256, 41)).blocks_per_sm, 6);
  EXPECT_EQ(placed(with(256, 255)).blocks_per_sm, 1);
}

TEST(Block, SharedMemoryCountsTheReserve) {
  // 228 KiB: two blocks of 113 KiB + 1 KiB just fit; 113 KiB + 1 B rounds up and does not.
  EXPECT_EQ(placed(with(128, 32, 113 * 1024)).blocks_per_sm, 2);
  const BlockResult one = placed(with(128, 32, 113 * 1024 + 1));
  EXPECT_EQ(one.blocks_per_sm, 1);
  EXPECT_THAT(one.limited_by, ElementsAre("shared_memory"));
  EXPECT_EQ(one.shared_a_block.value(), 113 * 1024 + 128 + 1024);
  EXPECT_EQ(placed(with(128, 32, 227 * 1024)).blocks_per_sm, 1);
  EXPECT_FALSE(place_block(with(128, 32, 227 * 1024 + 1), h100_by_hand()).has_value());
}

TEST(Block, EveryTyingLimitIsNamed) {
  EXPECT_THAT(placed(with(256, 32)).limited_by, ElementsAre("threads", "registers"));
}

TEST(Block, GridGivesWaves) {
  BlockRequest request = with(256, 32);
  request.grid = 8.0 * 132 + 1;
  const BlockResult r = placed(request);
  EXPECT_EQ(*r.waves, 2);
  EXPECT_EQ(*r.last_wave, 1);
  request.grid = 8.0 * 132;
  EXPECT_EQ(*placed(request).waves, 1);
  EXPECT_EQ(*placed(request).last_wave, 8 * 132);
}

TEST(Block, ResidentBlocksNeverExceedAnyLimit) {
  for (double threads = 1; threads <= 1024; threads += 13) {
    for (double registers = 1; registers <= 255; registers += 7) {
      const auto placed_block = place_block(with(threads, registers), h100_by_hand());
      if (!placed_block) {  // only blocks whose registers do not fit at all
        EXPECT_GT(threads * registers, 40000);
        continue;
      }
      const BlockResult& r = *placed_block;
      EXPECT_LE(r.warps_per_sm, 64);
      EXPECT_LE(r.blocks_per_sm, 32);
      EXPECT_LE(r.blocks_per_sm * r.warps * 32 * registers, 65536);
      EXPECT_GT(r.occupancy, 0);
      EXPECT_LE(r.occupancy, 1);
    }
  }
}

TEST(Block, RefusesBadInputInOneLine) {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, 2.5, nan, inf, 1e18}) {
    EXPECT_FALSE(place_block(with(bad, 32), h100_by_hand()).has_value());
    EXPECT_FALSE(place_block(with(32, bad), h100_by_hand()).has_value());
    BlockRequest grid = with(32, 32);
    grid.grid = bad;
    EXPECT_FALSE(place_block(grid, h100_by_hand()).has_value());
  }
  EXPECT_FALSE(place_block(with(32, 256), h100_by_hand()).has_value());
  EXPECT_FALSE(place_block(with(32, 32, -1), h100_by_hand()).has_value());
}

TEST(Block, ADeviceWithoutBlocksSaysSo) {
  hardware::Device device = h100_by_hand();
  device.kind = hardware::DeviceKind::cpu;
  const auto r = place_block(with(32, 32), device);
  ASSERT_FALSE(r.has_value());
  EXPECT_THAT(r.error().line(), HasSubstr("does not run thread blocks"));
  hardware::Device unknown = h100_by_hand();
  unknown.sm = {};
  EXPECT_FALSE(place_block(with(32, 32), unknown).has_value());
}

}  // namespace
}  // namespace corridor::app
