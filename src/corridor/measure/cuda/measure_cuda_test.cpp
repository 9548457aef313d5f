// SPDX-License-Identifier: Apache-2.0
// The whole path of a GPU's measurement on FakeCuda: what it finds must be what the fake was made of.
#include "corridor/measure/cuda/measure_cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/hardware/catalogue.h"
#include "corridor/measure/cuda/fake_cuda.h"
#include "corridor/measure/cuda/passes.h"
#include "corridor/measure/device_writer.h"

namespace corridor::measure::cuda {
namespace {

using hardware::Basis;
using hardware::ComputeType;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

MeasureSettings quick_settings() {
  MeasureSettings settings;
  settings.effort = Effort::quick;
  return settings;
}
const MeasureSettings quick = quick_settings();

void expect_near(double found, double truth, double share, const char* what) {
  EXPECT_NEAR(found, truth, share * truth) << what;
}

const MeasuredLevel& level(const Measurement& m, const std::string& name) {
  static const MeasuredLevel none;
  for (const MeasuredLevel& candidate : m.ladder) {
    if (candidate.level == name) return candidate;
  }
  ADD_FAILURE() << "no level " << name;
  return none;
}

void expect_level(const MeasuredLevel& found, double capacity, double bytes_per_s, double seconds) {
  expect_near(found.capacity.value(), capacity, 0.04, found.level.c_str());
  ASSERT_TRUE(found.bandwidth && found.latency) << found.level;
  expect_near(found.bandwidth->value, bytes_per_s, 0.03, found.level.c_str());
  expect_near(found.latency->value, seconds, 0.03, found.level.c_str());
}

double best_peak(const Measurement& m, ComputeType type, const std::string& unit) {
  double best = 0;
  for (const MeasuredPeak& peak : m.peaks) {
    if (peak.type == type && peak.unit_name == unit) best = std::max(best, peak.flop_per_s.value);
  }
  return best;
}

void expect_ladder(const Measurement& m, const FakeGpu& truth) {
  expect_level(level(m, "L1"), truth.l1_bytes * truth.sm_count, truth.l1_bytes_per_s, truth.l1_s);
  expect_level(level(m, "L2"), truth.l2_bytes, truth.l2_bytes_per_s, truth.l2_s);
  expect_level(level(m, "main memory"), truth.memory_bytes, truth.read_bytes_per_s, truth.memory_s);
  expect_level(level(m, "shared memory"), 200 * 1024.0 * truth.sm_count, truth.shared_bytes_per_s, truth.shared_s);
  ASSERT_TRUE(m.main_memory.read && m.main_memory.write && m.main_memory.copy && m.main_memory.triad);
  expect_near(m.main_memory.read->value, truth.read_bytes_per_s, 0.02, "read");
  expect_near(m.main_memory.write->value, truth.write_bytes_per_s, 0.02, "write");
  EXPECT_GT(m.main_memory.copy->value, 0.98 * truth.write_bytes_per_s);
  EXPECT_LT(m.main_memory.copy->value, truth.read_bytes_per_s);
}

TEST(MeasureCuda, FindsWhatTheGpuIsMadeOf) {
  const FakeGpu truth;
  FakeCuda fake({truth});
  double last = 0;
  const auto m = measure_cuda(0, quick, fake.libraries(), [&](std::string_view, double done) {
    EXPECT_GE(done, last);
    last = done;
  });
  ASSERT_TRUE(m) << m.error().line();
  EXPECT_EQ(last, 1);
  expect_ladder(*m, truth);
  expect_near(best_peak(*m, ComputeType::fp32, "FMA"), 60e12, 0.02, "fp32");
  expect_near(best_peak(*m, ComputeType::bf16, "mma.sync"), 600e12, 0.02, "bf16 mma");
  expect_near(best_peak(*m, ComputeType::bf16, "wgmma"), 900e12, 0.02, "bf16 wgmma");
  expect_near(best_peak(*m, ComputeType::fp8, "wgmma"), 1800e12, 0.02, "fp8 wgmma");
  expect_near(best_peak(*m, ComputeType::bf16, "cuBLASLt"), 800e12, 0.02, "bf16 cuBLASLt");
  ASSERT_TRUE(m->launch && m->launch_graph);
  expect_near(m->launch->value, truth.eager_s, 0.01, "eager launch");
  expect_near(m->launch_graph->value, truth.graph_s, 0.01, "launch from a graph");
  EXPECT_FALSE(m->all_reduce);
  EXPECT_THAT(m->conditions, Contains(std::pair<std::string, std::string>("power cap", "350 W")));
  EXPECT_THAT(m->conditions, Contains(std::pair<std::string, std::string>("SM clock during a chase", "1500 MHz")));
  EXPECT_TRUE(m->warnings.empty()) << ::testing::PrintToString(m->warnings);
}

TEST(MeasureCuda, ReleasesEverything) {
  for (const char* failing :
       {"", "cuLaunchKernel(chase)", "cuGraphInstantiate", "cuMemcpyDtoH", "cuEventSynchronize"}) {
    FakeCuda fake({FakeGpu{}});
    if (*failing != '\0') fake.failing[failing] = launch_failed;
    EXPECT_EQ(measure_cuda(0, quick, fake.libraries(), {}).has_value(), *failing == '\0') << failing;
    EXPECT_EQ(fake.live_allocations(), 0U) << failing;
    EXPECT_EQ(fake.retained, 0) << failing;
    EXPECT_EQ(fake.modules + fake.events + fake.streams + fake.graphs + fake.programs + fake.blas_objects, 0)
        << failing;
  }
}

TEST(MeasureCuda, AnOlderGpuWithoutTheOptionalLibraries) {
  FakeGpu truth;
  truth.major = 8;
  truth.l1_bytes = 120 * 1024.0;
  truth.l2_bytes = 5 * 1048576.0;
  truth.memory_bytes = 12e9;
  truth.free_bytes = 11e9;
  truth.read_bytes_per_s = 0.9e12;
  truth.write_bytes_per_s = 0.85e12;
  truth.l2_bytes_per_s = 2.2e12;
  truth.memory_s = 600e-9;
  truth.sm_count = 28;
  FakeCuda fake({truth});
  CudaLibraries libraries = fake.libraries();
  libraries.nvml = {std::nullopt, {}, "libnvidia-ml.so.1 was not found; looked in nowhere", true};
  libraries.blas = {};
  libraries.driver.graph_instantiate = nullptr;
  libraries.driver.device_get_pci_bus_id = nullptr;
  const auto m = measure_cuda(0, quick, libraries, {});
  ASSERT_TRUE(m) << m.error().line();
  expect_ladder(*m, truth);
  EXPECT_EQ(best_peak(*m, ComputeType::bf16, "wgmma"), 0);
  EXPECT_EQ(best_peak(*m, ComputeType::fp8, "mma.sync"), 0);
  EXPECT_FALSE(m->launch_graph);
  EXPECT_THAT(m->warnings, Contains(HasSubstr("no graphs")));
  EXPECT_THAT(m->warnings, Contains(HasSubstr("libnvidia-ml.so.1 was not found")));
  EXPECT_THAT(m->warnings, Contains(HasSubstr("cuBLASLt")));
}

TEST(MeasureCuda, TheDeviceFileOfAnUnlistedGpuIsRead) {
  FakeCuda fake({FakeGpu{}});
  const auto m = measure_cuda(0, quick, fake.libraries(), {});
  ASSERT_TRUE(m) << m.error().line();
  const auto read = hardware::parse_device(device_toml(m->device, m->conditions), "measured.toml");
  ASSERT_TRUE(read) << read.error().line();
  EXPECT_EQ(read->name, "NVIDIA Testboard 9000");
  EXPECT_EQ(read->family, "Hopper");
  ASSERT_TRUE(read->memory_bandwidth && read->reachable_bandwidth && read->peak(ComputeType::bf16) &&
              read->launch_floor);
  expect_near(read->memory_bandwidth->value.value(), 2 * 2e9 * 6144 / 8, 1e-9, "bus rate");  // bit, Hz of the fake
  EXPECT_EQ(read->memory_bandwidth->basis, Basis::derived);
  expect_near(read->reachable_bandwidth->value.value(), 3e12, 0.02, "reachable");
  EXPECT_EQ(read->peak(ComputeType::bf16)->basis, Basis::measured);
  expect_near(read->peak(ComputeType::bf16)->value.value(), 900e12, 0.02, "the better of the kernels and the library");
  EXPECT_EQ(read->ladder.size(), 4U);
}

TEST(MeasureCuda, AListedGpuKeepsItsDatasheet) {
  FakeGpu model;
  model.name = "NVIDIA H100 80GB HBM3";
  model.memory_bytes = 85.0e9;
  FakeCuda fake({model});
  const auto m = measure_cuda(0, quick, fake.libraries(), {});
  ASSERT_TRUE(m) << m.error().line();
  const auto listed = hardware::find_device(*Assets::open(), "h100-sxm");
  ASSERT_TRUE(listed);
  EXPECT_EQ(m->device.memory_bandwidth->value, listed->device.memory_bandwidth->value);
  EXPECT_EQ(m->device.peak(ComputeType::bf16)->value, listed->device.peak(ComputeType::bf16)->value);
  EXPECT_THAT(m->device.peak(ComputeType::bf16)->note, HasSubstr("TFLOP/s by wgmma"));
  expect_near(m->device.reachable_bf16->value.value(), 900e12, 0.02, "reachable");
  EXPECT_EQ(m->device.link.kind, listed->device.link.kind);
  const auto read = hardware::parse_device(device_toml(m->device, m->conditions), "measured.toml");
  EXPECT_TRUE(read) << read.error().line();
}

TEST(MeasureCuda, SeveralGpusReduce) {
  FakeCuda fake({FakeGpu{}, FakeGpu{}, FakeGpu{}, FakeGpu{}});
  const auto m = measure_cuda(2, quick, fake.libraries(), {});
  ASSERT_TRUE(m) << m.error().line();
  EXPECT_EQ(m->on, "cuda:2");
  ASSERT_TRUE(m->all_reduce);
  expect_near(m->all_reduce->value, FakeGpu{}.all_reduce_s, 0.02, "all-reduce");
  EXPECT_EQ(fake.live_allocations(), 0U);
  EXPECT_EQ(fake.retained, 0);
  fake.peers = false;
  const auto apart = measure_cuda(0, quick, fake.libraries(), {});
  ASSERT_TRUE(apart);
  EXPECT_FALSE(apart->all_reduce);
  EXPECT_THAT(apart->warnings, Contains(HasSubstr("GPU 0 cannot reach the memory of GPU 1")));
  fake.peers = true;
  fake.rank_is_late = true;
  EXPECT_THAT(measure_cuda(0, quick, fake.libraries(), {})->warnings, Contains(HasSubstr("did not answer")));
}

TEST(MeasureCuda, LittleMemoryIsSaid) {
  FakeGpu model;
  model.free_bytes = 200e6;
  FakeCuda fake({model});
  const auto m = measure_cuda(0, quick, fake.libraries(), {});
  ASSERT_TRUE(m) << m.error().line();
  EXPECT_THAT(m->warnings, Contains(HasSubstr("measured partly from the L2")));
  FakeCuda roomy({FakeGpu{}});
  MeasureSettings asked = quick;
  asked.memory = units::Bytes{256e6};
  const auto bounded = measure_cuda(0, asked, roomy.libraries(), {});
  ASSERT_TRUE(bounded) << bounded.error().line();
  EXPECT_LE(bounded->curve.back().size.value(), 256e6);
}

TEST(MeasureCuda, TheSurroundingsAreSaid) {
  FakeCuda fake({FakeGpu{}});
  fake.throttle = 0x4 | 0x20;
  fake.busy_percent = 60;
  fake.failing["nvmlDeviceGetEnforcedPowerLimit"] = 4;  // NVML_ERROR_NO_PERMISSION
  const auto m = measure_cuda(0, quick, fake.libraries(), {});
  ASSERT_TRUE(m);
  EXPECT_THAT(m->warnings, Contains("clocks are held down: power cap, thermal slowdown (driver)"));
  EXPECT_THAT(m->warnings, Contains(HasSubstr("60 % busy")));
  EXPECT_THAT(m->conditions, Not(Contains(::testing::Key("power cap"))));
}

struct FailureCase {
  const char* name;
  void (*arrange)(FakeCuda&, CudaLibraries&);
  std::vector<std::string> words;
};

TEST(MeasureCuda, FailuresNameTheCallTheCodeAndTheWayOut) {
  const std::vector<FailureCase> cases{
      {"permission",
       [](FakeCuda& f, CudaLibraries&) { f.failing["cuInit"] = not_permitted; },
       {"cuInit failed", "(800)", "/dev/nvidia"}},
      {"fabric manager",
       [](FakeCuda& f, CudaLibraries&) { f.failing["cuInit"] = system_not_ready; },
       {"(802)", "fabricmanager"}},
      {"old driver", [](FakeCuda& f, CudaLibraries&) { f.driver_version = 10020; }, {"CUDA 10.2", "update the driver"}},
      {"newer code",
       [](FakeCuda& f, CudaLibraries&) { f.failing["cuModuleLoadDataEx"] = unsupported_ptx_version; },
       {"cuModuleLoadDataEx", "(222)", "CORRIDOR_NVRTC"}},
      {"no memory",
       [](FakeCuda& f, CudaLibraries&) { f.gpus[0].model.free_bytes = 1e6; },
       {"cuMemAlloc", "CUDA_ERROR_OUT_OF_MEMORY (2)", "close other programs"}},
      {"no compiler",
       [](FakeCuda&, CudaLibraries& l) {
         l.nvrtc = {std::nullopt, {}, "libnvrtc was not found; looked in X", true};
       },
       {"libnvrtc was not found; looked in X", "nvidia-cuda-nvrtc"}},
      {"compiler's log",
       [](FakeCuda& f, CudaLibraries&) { f.compile_log = "launch.cu(4): error:\nno such word"; },
       {"cuda/launch.cu", "sm_90a", "error: no such word"}},
      {"old GPU", [](FakeCuda& f, CudaLibraries&) { f.gpus[0].model.major = 7; }, {"sm_75 and newer", "sm_70"}},
      {"launch",
       [](FakeCuda& f, CudaLibraries&) { f.failing["cuLaunchKernel(build_chain)"] = launch_failed; },
       {"cuLaunchKernel(build_chain, 400 x 256)", "(719)"}},
      {"context",
       [](FakeCuda& f, CudaLibraries&) { f.failing["cuDevicePrimaryCtxRetain"] = unknown_error; },
       {"cuDevicePrimaryCtxRetain", "(999)"}},
      {"nonsense", [](FakeCuda& f, CudaLibraries&) { f.gpus[0].model.sm_count = 0; }, {"0 SMs"}},
      {"dead clock", [](FakeCuda& f, CudaLibraries&) { f.frozen = true; }, {"clock does not move"}},
      {"no such GPU", [](FakeCuda& f, CudaLibraries&) { f.gpus.clear(); }, {"cuda:0", "there are 0 GPUs"}},
  };
  for (const FailureCase& test : cases) {
    FakeCuda fake({FakeGpu{}});
    CudaLibraries libraries = fake.libraries();
    test.arrange(fake, libraries);
    const auto m = measure_cuda(0, quick, libraries, {});
    ASSERT_FALSE(m) << test.name;
    for (const std::string& word : test.words) EXPECT_THAT(m.error().line(), HasSubstr(word)) << test.name;
  }
}

TEST(MeasureCuda, EventsThatStandStillEndTheSearchForRepeats) {
  FakeCuda fake({FakeGpu{}});
  fake.frozen = true;
  const CudaLibraries libraries = fake.libraries();
  const auto gpu = Gpu::open(libraries, 0);
  ASSERT_TRUE(gpu) << gpu.error().line();
  const auto repeats = find_repeats(**gpu, units::Seconds{1e-3}, [&](unsigned) {
    return (*gpu)->launch("empty", Shape{1, 32});
  });
  ASSERT_FALSE(repeats);
  EXPECT_THAT(repeats.error().line(), HasSubstr("show no time"));
}

TEST(MeasureCuda, WhatIsOptionalOnlyWarns) {
  FakeCuda fake({FakeGpu{}});
  fake.failing = {{"cuLaunchKernel(wgmma_bf16)", launch_failed}, {"cublasLtMatmulAlgoGetHeuristic", 15}};
  const auto m = measure_cuda(0, quick, fake.libraries(), {});
  ASSERT_TRUE(m) << m.error().line();
  EXPECT_THAT(m->warnings, Contains(HasSubstr("wgmma_bf16 is not measured: cuda:0: cuLaunchKernel(wgmma_bf16")));
  EXPECT_THAT(m->warnings, Contains(HasSubstr("cuBLASLt, bf16")));
}

}  // namespace
}  // namespace corridor::measure::cuda
