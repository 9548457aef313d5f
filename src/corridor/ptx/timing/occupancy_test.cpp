// SPDX-License-Identifier: Apache-2.0
// The occupancy calculator against cases worked out by hand from the limits NVIDIA publishes for each SM.
#include "corridor/ptx/timing/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corridor::ptx {
namespace {

using ::testing::HasSubstr;

/// Compute capability 9.0: 64 warps, 32 blocks, 65,536 registers, 228 KiB shared of which a block can have 227.
Machine hopper() {
  Machine machine;
  machine.name = "H100";
  machine.shared_bytes_per_sm = 228 * 1024;
  machine.shared_bytes_per_block = 227 * 1024;
  return machine;
}

/// Compute capability 8.9: 48 warps, 24 blocks, 100 KiB of which a block can have 99.
Machine ada() {
  Machine machine;
  machine.name = "L4";
  machine.warp_slots = 48;
  machine.block_slots = 24;
  machine.shared_bytes_per_sm = 100 * 1024;
  machine.shared_bytes_per_block = 99 * 1024;
  return machine;
}

struct Case {
  BlockNeeds needs;
  std::uint32_t blocks;
  Occupancy::Limit limit;
};

void expect_cases(const Machine& machine, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const auto got = occupancy(c.needs, machine);
    ASSERT_TRUE(got) << got.error().line();
    EXPECT_EQ(got->blocks, c.blocks) << c.needs.threads << " threads, " << c.needs.registers_per_thread << " registers";
    EXPECT_EQ(got->limit, c.limit) << name_of(got->limit);
    EXPECT_EQ(got->warps, c.blocks * ((c.needs.threads + 31) / 32));
    EXPECT_DOUBLE_EQ(got->share, static_cast<double>(got->warps) / machine.warp_slots);
  }
}

TEST(Occupancy, Hopper) {
  using Limit = Occupancy::Limit;
  expect_cases(hopper(), {{{256, 32, 0}, 8, Limit::warps},      // 64 warps: full
                          {{256, 33, 0}, 6, Limit::registers},  // 33 → 1,280 a warp: 12 warps a part, 48 an SM
                          {{256, 64, 0}, 4, Limit::registers},  // 2,048 a warp: 32 warps
                          {{1024, 64, 0}, 1, Limit::registers},
                          {{32, 16, 0}, 32, Limit::blocks},                  // 32 warps of 64
                          {{128, 16, 227 * 1024}, 1, Limit::shared_memory},  // 227 + 1 reserved = all
                          {{128, 16, 48 * 1024}, 4, Limit::shared_memory},   // 49 KiB each: 4.65
                          {{96, 40, 1}, 16, Limit::registers},               // 1,280 a warp: 48 warps; 3 a block
                          {{250, 32, 0}, 8, Limit::warps}});                 // the last warp is not full
}

TEST(Occupancy, Ada) {
  using Limit = Occupancy::Limit;
  expect_cases(ada(), {{{1024, 32, 0}, 1, Limit::warps},  // 48 warps hold one block of 32
                       {{256, 40, 0}, 6, Limit::warps},
                       {{64, 16, 0}, 24, Limit::warps},  // warp and block slots end together
                       {{32, 16, 0}, 24, Limit::blocks},
                       {{128, 32, 20 * 1024}, 4, Limit::shared_memory}});  // 21 KiB each: 4.76
}

TEST(Occupancy, SaysWhatIsTooLarge) {
  const std::pair<BlockNeeds, const char*> cases[] = {{{0, 32, 0}, "0 threads"},
                                                      {{1025, 32, 0}, "more than one SM takes"},
                                                      {{1024, 65, 0}, "more than the 65536 registers"},
                                                      {{32, 256, 0}, "256 registers a thread"},
                                                      {{32, 32, 228 * 1024}, "shared memory"}};
  for (const auto& [needs, message] : cases) {
    const auto got = occupancy(needs, hopper());
    ASSERT_FALSE(got);
    EXPECT_THAT(got.error().line(), HasSubstr(message));
  }
}

}  // namespace
}  // namespace corridor::ptx
