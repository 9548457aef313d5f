// SPDX-License-Identifier: Apache-2.0
// Facts read from machines made of text: servers, a desktop, ARM boards, containers, and text that is no machine.
#include "corridor/measure/machine_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "corridor/measure/cpu_info.h"
#include "corridor/measure/fake_machine.h"
#include "corridor/measure/text_scan.h"

namespace corridor::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kib = 1024;

std::string arm_cpuinfo(int cpus, const std::string& implementer, const std::string& part,
                        const std::string& features) {
  std::string text;
  for (int i = 0; i < cpus; ++i) {
    text += "processor\t: " + std::to_string(i) + "\nBogoMIPS\t: 2000.00\nFeatures\t: " + features +
            "\nCPU implementer\t: " + implementer + "\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: " + part +
            "\nCPU revision\t: 0\n\n";
  }
  return text;
}

TEST(MachineFacts, XeonWithTwoSockets) {
  FakeMachine machine;
  machine.files["/proc/cpuinfo"] =
      x86_cpuinfo("GenuineIntel", "Intel(R) Xeon(R) Platinum 8480+", 2, 56, 2,
                  "fpu sse4_2 avx avx2 fma avx512f avx512_bf16 amx_tile amx_bf16", "2000.0");
  machine.files["/proc/meminfo"] = "MemTotal:       1056764928 kB\nMemFree: 5 kB\nMemAvailable:   1000000000 kB\n";
  machine.files["/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"] = "3800000\n";
  machine.files["/sys/devices/system/node/node0/cpulist"] = "0-55,112-167\n";
  machine.files["/sys/devices/system/node/node1/cpulist"] = "56-111,168-223\n";
  machine.files["/sys/devices/system/node/possible"] = "0-1\n";
  machine.add_cache(0, "1", "Data", "48K", "0,112");
  machine.add_cache(1, "1", "Instruction", "32K", "0,112");
  machine.add_cache(2, "2", "Unified", "2048K", "0,112");
  machine.add_cache(3, "3", "Unified", "107520K", "0-55,112-167");
  machine.allowed = 224;
  const MachineFacts facts = read_machine_facts(machine);
  EXPECT_EQ(facts.cpu_name, "Intel(R) Xeon(R) Platinum 8480+");
  EXPECT_EQ(facts.cpu_vendor, "Intel");
  EXPECT_EQ(facts.logical_cpus, 224);
  EXPECT_EQ(facts.physical_cores, 112);
  EXPECT_EQ(facts.usable_cores(), 112);
  EXPECT_EQ(facts.sockets, 2);
  EXPECT_EQ(facts.numa_nodes, 2);
  ASSERT_TRUE(facts.max_clock);
  EXPECT_DOUBLE_EQ(facts.max_clock->value(), 3.8e9);
  EXPECT_TRUE(facts.has("avx512_bf16"));
  EXPECT_TRUE(facts.has("amx"));
  EXPECT_FALSE(facts.has("neon"));
  ASSERT_EQ(facts.caches.size(), 3U);
  EXPECT_DOUBLE_EQ(facts.caches[0].total().value(), 48 * kib * 112);
  EXPECT_DOUBLE_EQ(facts.last_level_cache().value(), 2 * 107520 * kib);
  ASSERT_TRUE(facts.memory && facts.memory_available);
  EXPECT_DOUBLE_EQ(facts.memory->value(), 1056764928.0 * kib);
  EXPECT_DOUBLE_EQ(facts.memory_available->value(), 1e9 * kib);
  EXPECT_TRUE(facts.gpu_search.gpus.empty());
  EXPECT_EQ(facts.gpu_search.note, "No GPU found");
}

TEST(MachineFacts, RyzenWithTwoChiplets) {
  FakeMachine machine;
  machine.files["/proc/cpuinfo"] = x86_cpuinfo("AuthenticAMD", "AMD Ryzen 9 9950X 16-Core Processor", 1, 16, 2,
                                               "avx2 fma avx512f avx512_vnni", "4291.873");
  machine.add_cache(3, "3", "Unified", "32768K", "0-7,16-23");
  machine.allowed = 32;
  const MachineFacts facts = read_machine_facts(machine);
  EXPECT_EQ(facts.cpu_vendor, "AMD");
  EXPECT_EQ(facts.physical_cores, 16);
  EXPECT_EQ(facts.sockets, 1);
  ASSERT_TRUE(facts.max_clock);
  EXPECT_NEAR(facts.max_clock->value(), 4.291873e9, 1);
  EXPECT_DOUBLE_EQ(facts.last_level_cache().value(), 64 * kib * kib);
}

TEST(MachineFacts, ArmServerAndBoard) {
  FakeMachine grace;
  grace.files["/proc/cpuinfo"] = arm_cpuinfo(72, "0x41", "0xd4f", "fp asimd asimddp sve sve2 bf16 i8mm");
  grace.allowed = 72;
  const MachineFacts facts = read_machine_facts(grace);
  EXPECT_EQ(facts.cpu_name, "ARM Neoverse V2");
  EXPECT_EQ(facts.physical_cores, 72);
  EXPECT_THAT(facts.instruction_sets, ElementsAre("neon", "dotprod", "sve", "sve2", "bf16", "i8mm"));

  FakeMachine board;
  board.files["/proc/cpuinfo"] = arm_cpuinfo(4, "0x41", "0xd0b", "fp asimd");
  board.files["/proc/device-tree/model"] = std::string("Raspberry Pi 5 Model B Rev 1.0\0", 31);
  EXPECT_EQ(read_machine_facts(board).board, "Raspberry Pi 5 Model B Rev 1.0");

  const CpuInfo mixed = parse_cpuinfo(arm_cpuinfo(4, "0x41", "0xd05", "asimd") + arm_cpuinfo(2, "0x41", "0xd0b", ""));
  EXPECT_EQ(mixed.name, "ARM Cortex-A55 + Cortex-A76");
  EXPECT_EQ(mixed.logical_cpus, 6);
}

TEST(MachineFacts, ContainerLimits) {
  FakeMachine machine;
  machine.files["/proc/cpuinfo"] = x86_cpuinfo("GenuineIntel", "Xeon", 1, 8, 1, "avx2 fma", "2100");
  machine.files["/proc/meminfo"] = "MemTotal: 67108864 kB\nMemAvailable: 60000000 kB\n";
  machine.files["/sys/fs/cgroup/cpu.max"] = "250000 100000\n";
  machine.files["/sys/fs/cgroup/memory.max"] = "4294967296\n";
  machine.files["/sys/fs/cgroup/memory.current"] = "1073741824\n";
  machine.library_caches = {{1, 32 * kib}, {2, 1024 * kib}, {3, 16384 * kib}};
  machine.allowed = 8;
  const MachineFacts facts = read_machine_facts(machine);
  EXPECT_EQ(facts.usable_cpus, 3);
  EXPECT_EQ(facts.usable_cores(), 3);
  ASSERT_TRUE(facts.memory && facts.memory_available);
  EXPECT_DOUBLE_EQ(facts.memory->value(), 4294967296.0);
  EXPECT_DOUBLE_EQ(facts.memory_available->value(), 3221225472.0);
  ASSERT_EQ(facts.caches.size(), 3U);
  EXPECT_DOUBLE_EQ(facts.caches[1].total().value(), 8 * 1024 * kib);

  machine.files["/sys/fs/cgroup/cpu.max"] = "max 100000\n";
  machine.files["/sys/fs/cgroup/memory.max"] = "max\n";
  EXPECT_EQ(read_machine_facts(machine).usable_cpus, 8);
  EXPECT_DOUBLE_EQ(read_machine_facts(machine).memory->value(), 67108864.0 * kib);
}

TEST(MachineFacts, NothingAtAllIsAnAnswer) {
  const MachineFacts facts = read_machine_facts(FakeMachine());
  EXPECT_EQ(facts.cpu_name, "unknown processor");
  EXPECT_EQ(facts.usable_cores(), 1);
  EXPECT_FALSE(facts.memory);
  EXPECT_TRUE(facts.caches.empty());
  EXPECT_DOUBLE_EQ(facts.last_level_cache().value(), 0);
}

TEST(MachineFacts, GarbageNeverBreaksTheReader) {
  std::mt19937 random(7);
  const std::string good = x86_cpuinfo("GenuineIntel", "Xeon", 2, 4, 2, "avx2 fma", "2100");
  for (int round = 0; round < 300; ++round) {
    FakeMachine machine;
    const auto spoil = [&](std::string text) {
      for (int i = 0; i < 20 && !text.empty(); ++i) text[random() % text.size()] = static_cast<char>(random());
      return text.substr(0, random() % (text.size() + 1));
    };
    machine.files["/proc/cpuinfo"] = spoil(good);
    machine.files["/proc/meminfo"] = spoil("MemTotal: 99999999999999999999 kB\nMemAvailable: -5 kB\n");
    machine.files["/sys/fs/cgroup/cpu.max"] = spoil("0 0\n");
    machine.add_cache(0, spoil("1"), "Data", spoil("999999999999999K"), spoil("0-99999999999,5"));
    machine.files["/proc/driver/nvidia/gpus/x/information"] = spoil("Model: NVIDIA\nModel\n:::");
    const MachineFacts facts = read_machine_facts(machine);
    EXPECT_GE(facts.usable_cores(), 1);
    EXPECT_LE(facts.cpu_name.size(), 128U);
    for (const CacheFact& cache : facts.caches) EXPECT_GE(cache.instances, 1);
  }
}

TEST(MachineFacts, GpusFromTheDriverFromProcAndFromDrm) {
  FakeMachine machine;
  machine.files["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version: 12.2\n";
  machine.files["/proc/driver/nvidia/gpus/0000:01:00.0/information"] =
      "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 48\n";
  const GpuSearch from_proc = read_machine_facts(machine).gpu_search;
  ASSERT_EQ(from_proc.gpus.size(), 1U);
  EXPECT_EQ(from_proc.gpus[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(from_proc.gpus[0].driver_version, "550.54.15");
  EXPECT_FALSE(from_proc.gpus[0].memory);
  EXPECT_THAT(from_proc.note, HasSubstr("libcuda"));

  machine.cuda = GpuSearch{{{"NVIDIA L4", "NVIDIA", units::Bytes{23e9}, ""}}, ""};
  machine.files["/sys/class/drm/card1/device/vendor"] = "0x1002\n";
  machine.files["/sys/class/drm/card1/device/product_name"] = "AMD Radeon RX 7900 XTX\n";
  machine.files["/sys/class/drm/card1/device/mem_info_vram_total"] = "25753026560\n";
  machine.files["/sys/class/drm/card1-DP-1/status"] = "connected\n";
  machine.files["/sys/class/drm/card2/device/vendor"] = "0x8086\n";
  const GpuSearch both = read_machine_facts(machine).gpu_search;
  ASSERT_EQ(both.gpus.size(), 2U);
  EXPECT_EQ(both.gpus[0].name, "NVIDIA L4");
  EXPECT_EQ(both.gpus[1].name, "AMD Radeon RX 7900 XTX");
  ASSERT_TRUE(both.gpus[1].memory);
  EXPECT_DOUBLE_EQ(both.gpus[1].memory->value(), 25753026560.0);
}

TEST(MachineFacts, RealMachineIsReadWithoutFailure) {
  const MachineFacts facts = read_machine_facts(*system_reader());
  EXPECT_FALSE(facts.cpu_name.empty());
  EXPECT_GE(facts.usable_cpus, 1);
  if (!system_reader()->read_file("/proc/meminfo")) GTEST_SKIP() << "no /proc on this machine";
  ASSERT_TRUE(facts.memory);
  EXPECT_GT(facts.memory->value(), 1e6);
}

TEST(TextScan, NumbersSizesAndLists) {
  EXPECT_DOUBLE_EQ(*whole_number(" 0x1002\n"), 4098);
  EXPECT_FALSE(whole_number("12 kB"));
  EXPECT_FALSE(whole_number("-1"));
  EXPECT_FALSE(whole_number("18446744073709551615"));
  EXPECT_FALSE(whole_number(""));
  EXPECT_DOUBLE_EQ(*decimal_number("3400.125"), 3400.125);
  EXPECT_FALSE(decimal_number("1.2.3"));
  EXPECT_FALSE(decimal_number("nan"));
  EXPECT_FALSE(decimal_number("."));
  EXPECT_DOUBLE_EQ(binary_size("96M")->value(), 96 * kib * kib);
  EXPECT_DOUBLE_EQ(binary_size("512 kB")->value(), 512 * kib);
  EXPECT_DOUBLE_EQ(binary_size("100")->value(), 100);
  EXPECT_FALSE(binary_size("1T"));
  EXPECT_EQ(*count_in_list("0-3,8,10-11\n"), 7);
  EXPECT_FALSE(count_in_list("3-1"));
  EXPECT_FALSE(count_in_list("0-"));
  EXPECT_FALSE(count_in_list("0-4000000000"));
}

}  // namespace
}  // namespace corridor::measure
