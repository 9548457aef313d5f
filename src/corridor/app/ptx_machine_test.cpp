// SPDX-License-Identifier: Apache-2.0
// Every NVIDIA GPU of the catalogue becomes a machine; what is not stated is listed; other devices are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/app/ptx_capability.h"
#include "corridor/app/ptx_machine.h"
#include "corridor/base/assets.h"
#include "corridor/hardware/catalogue.h"

namespace corridor::app {
namespace {

const Assets& assets() {
  static const Assets embedded = *Assets::open();
  return embedded;
}

hardware::Device device(std::string_view name) {
  auto found = hardware::find_device(assets(), name);
  EXPECT_TRUE(found) << name;
  return found ? found->device : hardware::Device{};
}

/// The machine of a device that has one.
PtxMachine made(std::string_view name) {
  const auto out = ptx_machine(device(name));
  EXPECT_TRUE(out) << name;
  return out ? *out : PtxMachine{};
}

double lanes(const ptx::Machine& machine, ptx::Pipe pipe) {
  return machine.lanes_per_clock[static_cast<std::size_t>(pipe)];
}

TEST(PtxMachine, EveryDeviceOfTheCatalogue) {
  int machines = 0, refused = 0;
  for (const std::string& id : hardware::device_ids(assets())) {
    const hardware::Device one = device(id);
    const auto tried = ptx_machine(one);
    if (one.vendor != "NVIDIA" || one.kind != hardware::DeviceKind::gpu) {
      ASSERT_FALSE(tried) << id;
      EXPECT_EQ(tried.error().line().find('\n'), std::string::npos);
      ++refused;
      continue;
    }
    ASSERT_TRUE(tried) << tried.error().line();
    ++machines;
    const ptx::Machine& m = tried->machine;
    EXPECT_GE(m.sm_count, 8U) << id;
    EXPECT_LE(m.sm_count, 200U) << id;
    EXPECT_GT(m.clock_hz, 0.6e9) << id;
    EXPECT_LT(m.clock_hz, 3e9) << id;
    EXPECT_GE(m.warp_slots, 32U) << id;
    EXPECT_GE(m.block_slots, 16U) << id;
    EXPECT_EQ(m.registers, 65536U) << id;
    EXPECT_LE(m.shared_bytes_per_block, m.shared_bytes_per_sm) << id;
    EXPECT_LE(m.shared_bytes_per_sm, m.l1_shared_bytes) << id;
    EXPECT_GE(m.l2_bytes, 1U << 20) << id;
    EXPECT_GT(m.l1_latency_clocks, 20) << id;
    EXPECT_GT(m.l2_latency_clocks, m.l1_latency_clocks) << id;
    EXPECT_GT(m.dram_latency_clocks, m.l2_latency_clocks) << id;
    EXPECT_LT(m.dram_latency_clocks, 1200) << id;
    EXPECT_GE(m.l2_bytes_per_s, m.dram_bytes_per_s) << id;
    EXPECT_GT(m.dram_bytes_per_s, 5e10) << id;
    EXPECT_GE(lanes(m, ptx::Pipe::fma), 64) << id;
    EXPECT_GE(lanes(m, ptx::Pipe::fp64), 1) << id;
    EXPECT_GT(m.launch_s, 0) << id;
    for (const std::string& note : tried->assumed) EXPECT_FALSE(note.empty());
    // The same block everywhere: 256 threads of 32 registers and 16 KiB of shared memory.
    const auto occupancy = ptx::occupancy({256, 32, 16 * 1024}, m);
    ASSERT_TRUE(occupancy) << id << ": " << occupancy.error().line();
    EXPECT_GE(occupancy->blocks, 1U) << id;
    EXPECT_LE(occupancy->warps, m.warp_slots) << id;
    const ptx::RunDevice run = run_device(m, {256, 32, 16 * 1024}, *occupancy);
    EXPECT_LE(run.memory.l1_bytes + occupancy->blocks * 16 * 1024, m.l1_shared_bytes) << id;
    EXPECT_EQ(run.memory.l2_bytes, m.l2_bytes) << id;
  }
  EXPECT_GT(machines, 60);
  EXPECT_GT(refused, 40);
}

TEST(PtxMachine, StatesWhatTheCatalogueStates) {
  const auto h100 = ptx_machine(device("h100-sxm"));
  ASSERT_TRUE(h100);
  EXPECT_THAT(h100->assumed, testing::IsEmpty());
  EXPECT_EQ(h100->machine.compute_major, 9U);
  EXPECT_EQ(h100->machine.sm_count, 132U);
  EXPECT_EQ(h100->machine.warp_slots, 64U);
  EXPECT_NEAR(h100->machine.l1_latency_clocks, 40, 1);
  EXPECT_NEAR(h100->machine.dram_latency_clocks, 700, 1);
  EXPECT_EQ(h100->machine.tensor_f16_flop_per_clock_sm, 4096);
  EXPECT_NEAR(made("rtx-3090").machine.tensor_f16_flop_per_clock_sm, 512, 5);
  EXPECT_LT(lanes(made("h800").machine, ptx::Pipe::fp64), 3);  // an export part
  EXPECT_EQ(made("rtx-4090").machine.compute_minor, 9U);
  EXPECT_EQ(made("b300").machine.compute_minor, 3U);
}

TEST(PtxMachine, ListsWhatIsAssumed) {
  using testing::Contains;
  using testing::HasSubstr;
  EXPECT_THAT(made("b100").assumed, Contains(HasSubstr("148 SMs")));
  EXPECT_THAT(made("rtx-4000-ada").assumed, Contains(HasSubstr("clocks to DRAM")));
  EXPECT_THAT(made("jetson-agx-orin").assumed, Contains(HasSubstr("16 SMs")));
  hardware::Device unknown = device("h100-sxm");
  unknown.architecture = "something new";
  unknown.family = "";
  EXPECT_THAT(ptx_machine(unknown)->assumed, Contains(HasSubstr("compute capability 9.0")));
  unknown.memory_bandwidth.reset();
  unknown.reachable_bandwidth.reset();
  ASSERT_FALSE(ptx_machine(unknown));
  EXPECT_THAT(ptx_machine(unknown).error().line(), HasSubstr("bandwidth"));
  hardware::Device empty = device("h100-sxm");
  empty.sm = {};
  empty.clock_boost.reset();
  ASSERT_FALSE(ptx_machine(empty));
  EXPECT_THAT(ptx_machine(empty).error().line(), HasSubstr("number of SMs"));
}

TEST(PtxMachine, HostileNumbersAreNotTaken) {
  hardware::Device odd = device("h100-sxm");
  odd.sm.max_warps->value = -4;
  odd.sm.registers->value = units::Bytes{1e300};
  odd.sm.count->value = 1e30;
  const auto taken = ptx_machine(odd);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->machine.warp_slots, 64U);
  EXPECT_EQ(taken->machine.registers, 65536U);
  EXPECT_EQ(taken->machine.sm_count, 132U);  // from the peak
}

TEST(PtxMachine, L1IsWhatSharedMemoryLeaves) {
  const ptx::Machine machine = made("h100-sxm").machine;
  ptx::Occupancy occupancy;
  occupancy.blocks = 2;
  EXPECT_EQ(run_device(machine, {256, 32, 0}, occupancy).memory.l1_bytes, 256U * 1024);
  // Two blocks of 33 KiB with 1 KiB each of the system's: 68 KiB, so 100 are set aside.
  EXPECT_EQ(run_device(machine, {256, 32, 33 * 1024}, occupancy).memory.l1_bytes, 156U * 1024);
  EXPECT_EQ(run_device(machine, {256, 32, 31 * 1024}, occupancy).memory.l1_bytes, 192U * 1024);
  EXPECT_EQ(run_device(machine, {256, 32, 0}, occupancy).blocks_per_sm, 2U);
}

}  // namespace
}  // namespace corridor::app
