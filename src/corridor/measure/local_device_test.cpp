// SPDX-License-Identifier: Apache-2.0
// Which device a machine becomes: a known GPU, an unknown one, a known processor, one described from facts.
#include "corridor/measure/local_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/measure/fake_machine.h"

namespace corridor::measure {
namespace {

using hardware::Basis;
using hardware::ComputeType;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const Assets& assets() {
  static const Result<Assets> opened = Assets::open();
  return *opened;
}

FakeMachine server(const std::string& vendor, const std::string& name, int sockets, int cores) {
  FakeMachine machine;
  machine.files["/proc/cpuinfo"] = x86_cpuinfo(vendor, name, sockets, cores, 1, "avx2 fma avx512f", "2000");
  machine.files["/proc/meminfo"] = "MemTotal: 100000000 kB\nMemAvailable: 90000000 kB\n";
  machine.add_cache(0, "1", "Data", "48K", "0");
  machine.add_cache(1, "3", "Unified", "32768K", "0-" + std::to_string(cores - 1));
  machine.allowed = sockets * cores;
  return machine;
}

GpuSearch gpus(std::vector<GpuFact> list) {
  return {std::move(list), ""};
}

TEST(LocalDevice, KnownGpuIsTakenWithoutMeasuring) {
  FakeMachine machine = server("GenuineIntel", "Xeon", 1, 4);
  machine.cuda = gpus({{"NVIDIA H100 80GB HBM3", "NVIDIA", units::Bytes{84.9e9}, ""},
                       {"NVIDIA H100 80GB HBM3", "NVIDIA", units::Bytes{84.9e9}, ""}});
  const FakeProber prober;
  const auto here = look_at_machine(assets(), machine, prober);
  ASSERT_TRUE(here) << here.error().line();
  EXPECT_EQ(here->device.id, "h100-sxm");
  EXPECT_EQ(prober.calls, 0);
  EXPECT_FALSE(here->bandwidth);
  EXPECT_THAT(here->notes, Contains(HasSubstr("2 GPUs")));
}

TEST(LocalDevice, MemorySizeTellsVariantsApart) {
  for (const auto& [bytes, id] : {std::pair{42.3e9, "a100-pcie-40"}, {84.9e9, "a100-pcie-80"}}) {
    FakeMachine machine = server("GenuineIntel", "Xeon", 1, 4);
    machine.cuda = gpus({{"NVIDIA A100 PCIe", "NVIDIA", units::Bytes{bytes}, ""}});
    const auto here = look_at_machine(assets(), machine, FakeProber());
    ASSERT_TRUE(here) << here.error().line();
    EXPECT_EQ(here->device.id, id);
  }
}

TEST(LocalDevice, MemoryThatNoVariantHasComesFromTheDriver) {
  FakeMachine machine = server("GenuineIntel", "Xeon", 1, 4);
  machine.cuda = gpus({{"NVIDIA L4", "NVIDIA", units::Bytes{5e9}, ""}});
  const auto here = look_at_machine(assets(), machine, FakeProber());
  ASSERT_TRUE(here) << here.error().line();
  EXPECT_EQ(here->device.id, "l4");
  EXPECT_DOUBLE_EQ(here->device.memory_capacity->value.value(), 5e9);
  EXPECT_EQ(here->device.memory_capacity->basis, Basis::measured);
}

TEST(LocalDevice, UnknownGpuIsNamedAndTheProcessorTaken) {
  FakeMachine machine = server("GenuineIntel", "Some Future Xeon 9999Z", 1, 4);
  machine.cuda = gpus({{"NVIDIA Nonesuch 9/000", "NVIDIA", units::Bytes{8e9}, ""}});
  const FakeProber prober;
  const auto here = look_at_machine(assets(), machine, prober);
  ASSERT_TRUE(here) << here.error().line();
  EXPECT_THAT(here->notes, Contains(HasSubstr("NVIDIA Nonesuch 9/000 is not in the catalogue")));
  const hardware::Device& d = here->device;
  EXPECT_EQ(d.id, "this-machine");
  EXPECT_EQ(d.name, "Some Future Xeon 9999Z");
  EXPECT_EQ(d.kind, hardware::DeviceKind::cpu);
  EXPECT_EQ(d.default_engine, "llama.cpp");
  EXPECT_DOUBLE_EQ(d.memory_bandwidth->value.value(), prober.bandwidth->best.value());
  EXPECT_EQ(d.memory_bandwidth->basis, Basis::measured);
  EXPECT_EQ(d.memory_bandwidth->date, prober.today());
  EXPECT_DOUBLE_EQ(d.peak(ComputeType::fp32)->value.value(), prober.fma->best.value());
  EXPECT_DOUBLE_EQ(d.sm.count->value, 4);
  ASSERT_EQ(d.ladder.size(), 3U);
  EXPECT_EQ(d.ladder[0].name, "L1 data");
  EXPECT_EQ(d.ladder[2].name, "main memory");
  EXPECT_DOUBLE_EQ(d.ladder[2].capacity->value.value(), 1e8 * 1024);
  EXPECT_DOUBLE_EQ(prober.last.last_level_cache.value(), 32768 * 1024);
  EXPECT_EQ(prober.last.threads, 4);
}

TEST(LocalDevice, KnownProcessorKeepsItsPeaksForTheCoresThatAreHere) {
  const auto listed = hardware::find_device(assets(), "xeon-8480");
  ASSERT_TRUE(listed);
  const FakeProber prober;
  for (const auto& [sockets, cores] : {std::pair{1, 56}, {2, 56}, {1, 8}}) {
    const FakeMachine machine = server("GenuineIntel", "Intel(R) Xeon(R) Platinum 8480+", sockets, cores);
    const auto here = look_at_machine(assets(), machine, prober);
    ASSERT_TRUE(here) << here.error().line();
    EXPECT_EQ(here->device.id, "xeon-8480");
    const double ratio = sockets * cores / listed->device.sm.count->value;
    EXPECT_NEAR(here->device.peak(ComputeType::bf16)->value / listed->device.peak(ComputeType::bf16)->value, ratio,
                1e-9);
    EXPECT_DOUBLE_EQ(here->device.memory_bandwidth->value.value(), prober.bandwidth->best.value());
    EXPECT_THAT(here->notes, Contains(HasSubstr("takes the place of the datasheet's")));
  }
}

TEST(LocalDevice, OtherSpellingsOfProcessors) {
  FakeMachine pi;
  pi.files["/proc/cpuinfo"] = "processor: 0\nFeatures: asimd\nCPU implementer: 0x41\nCPU part: 0xd0b\n";
  pi.files["/proc/device-tree/model"] = "Raspberry Pi 5 Model B Rev 1.1";
  const auto board = look_at_machine(assets(), pi, FakeProber());
  ASSERT_TRUE(board) << board.error().line();
  EXPECT_EQ(board->device.id, "raspberry-pi-5");
  const auto ryzen =
      look_at_machine(assets(), server("AuthenticAMD", "AMD Ryzen 9 9950X 16-Core Processor", 1, 16), FakeProber());
  ASSERT_TRUE(ryzen) << ryzen.error().line();
  EXPECT_EQ(ryzen->device.id, "ryzen-9950x");
}

TEST(LocalDevice, WithoutAnyBandwidthThereIsNoAnswer) {
  FakeProber prober;
  prober.bandwidth = fail("no memory", "probe", "free some");
  const auto here = look_at_machine(assets(), server("GenuineIntel", "Unheard Of", 1, 2), prober);
  ASSERT_FALSE(here);
  EXPECT_THAT(here.error().line(), HasSubstr("--device"));
  const auto known =
      look_at_machine(assets(), server("GenuineIntel", "Intel(R) Xeon(R) Platinum 8480+", 1, 56), prober);
  ASSERT_TRUE(known) << known.error().line();
  EXPECT_NE(known->device.memory_bandwidth->basis, Basis::measured);
}

TEST(LocalDevice, ABusyMachineIsNamed) {
  FakeMachine machine = server("GenuineIntel", "Unheard Of", 1, 4);
  machine.files["/proc/loadavg"] = "2.10 9.00 9.00 1/200 77\n";
  const auto busy = look_at_machine(assets(), machine, FakeProber());
  ASSERT_TRUE(busy);
  EXPECT_THAT(busy->notes, Contains(HasSubstr("busy")));
  machine.files["/proc/loadavg"] = "1.90 9.00 9.00 1/200 77\n";
  const auto idle = look_at_machine(assets(), machine, FakeProber());
  ASSERT_TRUE(idle);
  EXPECT_THAT(idle->notes, Not(Contains(HasSubstr("busy"))));
}

TEST(LocalDevice, NamesOfThisMachine) {
  EXPECT_TRUE(names_this_machine("local"));
  EXPECT_TRUE(names_this_machine("Local"));
  EXPECT_TRUE(names_this_machine("this machine"));
  EXPECT_FALSE(names_this_machine("localhost"));
  EXPECT_FALSE(names_this_machine(""));
}

}  // namespace
}  // namespace corridor::measure
