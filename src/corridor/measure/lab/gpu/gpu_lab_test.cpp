// SPDX-License-Identifier: Apache-2.0
// Every experiment of the lab on FakeCuda: predictions against their own arithmetic, and verdicts both ways.
#include "corridor/measure/lab/gpu/gpu_lab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/measure/cuda/fake_cuda.h"
#include "corridor/measure/cuda/measure_cuda.h"

namespace corridor::measure {
namespace {

using cuda::FakeCuda;
using cuda::FakeGpu;
using ::testing::HasSubstr;

class GpuLab : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = GpuLabBench::open(libraries_, 0, {}, {});
    ASSERT_TRUE(opened) << opened.error().line();
    bench_ = std::move(*opened);
  }
  LabResult run(std::string_view name) {
    const Experiment* experiment = find_experiment(name);
    if (experiment == nullptr || experiment->run_gpu == nullptr) {
      ADD_FAILURE() << name << " has no form on a GPU";
      return {};
    }
    const Result<LabResult> result = bench_->run(*experiment, Effort::quick);
    if (!result) ADD_FAILURE() << result.error().line();
    return result.value_or(LabResult{});
  }
  static std::string failed(const LabResult& result) {
    std::string out;
    for (const LabReading& r : result.readings) {
      if (!r.holds()) {
        out += r.what + ": measured " + std::to_string(r.measured * 1e9) + "e-9, from " +
               std::to_string(r.low.value_or(0) * 1e9) + " to " + std::to_string(r.high.value_or(0) * 1e9) + "\n";
      }
    }
    return out;
  }
  /// The prediction of a reading; the test fails when there is none.
  static double predicted(const LabResult& result, std::string_view what) {
    const LabReading* r = result.find(what);
    if (r == nullptr || !r->predicted) ADD_FAILURE() << "no prediction of " << what;
    return r == nullptr ? 0 : r->predicted.value_or(0);
  }
  static void expect_near(double found, double truth, double share = 0.03) { EXPECT_NEAR(found, truth, share * truth); }

  FakeGpu truth_;
  FakeCuda fake_{{FakeGpu{}}};
  cuda::CudaLibraries libraries_ = fake_.libraries();
  std::unique_ptr<GpuLabBench> bench_;
};

TEST_F(GpuLab, TheMachineIsTheOneThatWasMeasured) {
  const LabMachine& m = bench_->machine();
  EXPECT_EQ(m.name(), truth_.name);
  EXPECT_EQ(m.main_memory().name, "main memory");
  expect_near(m.bandwidth().value(), truth_.read_bytes_per_s);
  expect_near(m.update.value(), 2 / (1 / truth_.read_bytes_per_s + 1 / truth_.write_bytes_per_s));
  expect_near(m.fp32.value(), truth_.flop_per_s["multiply_add_f32"]);
  expect_near(m.clock.value(), 1e3 * truth_.clock_khz);
  expect_near(m.dispatch.value(), truth_.eager_s);
  expect_near(m.gpu->graph_node.value(), truth_.graph_s);
  ASSERT_NE(m.find("L2"), nullptr);
  expect_near(m.find("L1")->bandwidth.value(), truth_.l1_bytes_per_s);
  EXPECT_GE(beyond_l2(m), 8 * static_cast<std::size_t>(truth_.l2_bytes));
}

TEST_F(GpuLab, EveryLawHoldsOnAGpuThatObeysThemAndNothingIsLeftBehind) {
  int ran = 0;
  for (const Experiment& e : experiments()) {
    if (e.run_gpu == nullptr) continue;
    const LabResult result = run(e.name);
    EXPECT_TRUE(result.holds()) << e.name << "\n" << failed(result);
    EXPECT_FALSE(result.tolerance.empty() || result.formulas.empty()) << e.name;
    EXPECT_EQ(result.claim, e.sentence);
    ++ran;
  }
  EXPECT_EQ(ran, 14);
  EXPECT_EQ(fake_.live_allocations(), 0U);
  bench_.reset();
  EXPECT_EQ(fake_.retained + fake_.modules + fake_.events + fake_.streams + fake_.graphs + fake_.programs, 0);
}

TEST_F(GpuLab, EveryLawFailsOnAGpuThatDoesNotObeyIt) {
  struct Case {
    const char* name;
    const char* kernel;
    double factor;
    const char* reading;
  };
  const Case cases[] = {
      {"intensity", "lab_intensity", 2, "1 operation a value"},
      {"fusion", "lab_fused", 3, "three passes ÷ one pass"},
      {"order", "lab_strided", 2, "adjacent"},
      {"coalescing", "lab_lanes", 2, "stride 1"},
      {"occupancy", "lab_resident", 3, "1 block an SM"},
      {"chase", "lab_chases", 2, "1 in flight an SM"},
      {"switch", "lab_switch", 1, "16 warps"},
      {"divergence", "lab_paths", 2, "one path"},
      {"tiling", "lab_product_tiled", 9, "in tiles"},
      {"attention", "lab_attention", 2, "saved"},
      {"decode-batch", "lab_pass_b4", 4, "batch 4"},
      {"precision", "lab_pass_int4", 5, "bf16 ÷ int4"},
      {"decode", "lab_pass_b1", 2, "context 4096"},
  };
  for (const Case& c : cases) {
    fake_.slower = {{c.kernel, c.factor}};
    const LabResult result = run(c.name);
    EXPECT_FALSE(result.holds()) << c.name;
    const LabReading* reading = result.find(c.reading);
    ASSERT_NE(reading, nullptr) << c.name << ": " << c.reading;
    EXPECT_FALSE(reading->holds()) << c.name << ": " << c.reading;
  }
  fake_.slower.clear();
  fake_.gpus[0].model.eager_s *= 3;  // launches take longer than when the ladder was measured
  EXPECT_FALSE(run("dispatch").holds());
}

TEST_F(GpuLab, PredictionsCountBytesSectorsAndOperations) {
  const double bytes = static_cast<double>(beyond_l2(bench_->machine()));
  const LabResult fusion = run("fusion");
  expect_near(predicted(fusion, "three passes"), 6 * bytes / bench_->machine().update.value(), 1e-9);
  const LabResult order = run("order");
  expect_near(predicted(order, "every 16th value"), 32 / truth_.read_bytes_per_s);
  expect_near(*order.find("every 16th value")->high, 1.25 * 64 / truth_.read_bytes_per_s);
  const LabResult coalescing = run("coalescing");
  expect_near(predicted(coalescing, "stride 1"), truth_.l2_bytes_per_s);
  expect_near(predicted(coalescing, "stride 4"), truth_.l2_bytes_per_s / 4);
  expect_near(predicted(coalescing, "stride 32"), truth_.l2_bytes_per_s / 8);
  const LabResult occupancy = run("occupancy");
  expect_near(predicted(occupancy, "2 blocks an SM"), 2 * 128 * 16.0 * truth_.sm_count / truth_.memory_s);
  const LabResult chase = run("chase");
  expect_near(predicted(chase, "4 in flight an SM"), 4 * truth_.sm_count / truth_.memory_s);
  expect_near(predicted(chase, "1024 in flight an SM"), truth_.read_bytes_per_s / 32);
  const LabResult paths = run("divergence");
  EXPECT_EQ(predicted(paths, "32 paths inside a warp ÷ one path"), 32);
  EXPECT_EQ(predicted(paths, "8 paths between warps ÷ one path"), 1);
  const LabResult warps = run("switch");
  expect_near(predicted(warps, "1 warp"), truth_.shared_s * 1e3 * truth_.clock_khz);
}

TEST_F(GpuLab, PredictionsOfProductsAndTokens) {
  const double n = 4096, fp32 = truth_.flop_per_s["multiply_add_f32"];
  const LabResult tiling = run("tiling");
  expect_near(predicted(tiling, "in tiles"), 2 * n * n * n / fp32);
  expect_near(predicted(tiling, "value by value"), 8 * n * n * n / truth_.l1_bytes_per_s);
  const LabResult batch = run("decode-batch");
  const double weights = static_cast<double>(beyond_l2(bench_->machine())) / 2;
  expect_near(predicted(batch, "batch 1"), 2 * weights / truth_.read_bytes_per_s);
  expect_near(predicted(batch, "batch 32"), 4 * weights * 32 / 2 / truth_.l1_bytes_per_s);
  const LabResult decode = run("decode");
  const double first = predicted(decode, "context 4096"), last = predicted(decode, "context 65536");
  expect_near(last - first, 8 * 4096.0 * (65536 - 4096) / truth_.read_bytes_per_s);
  const LabResult dispatch = run("dispatch");
  expect_near(predicted(dispatch, "a task of 0.1 launches"), truth_.eager_s);
  expect_near(predicted(dispatch, "64 small tasks from a graph"), 64 * truth_.graph_s);
}

TEST_F(GpuLab, WhatTheDriverRefusesIsTold) {
  fake_.failing["cuLaunchKernel(lab_lanes)"] = cuda::launch_failed;
  const auto refused = bench_->run(*find_experiment("coalescing"), Effort::quick);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().line(), HasSubstr("cuLaunchKernel(lab_lanes"));
  fake_.failing = {{"cuMemAlloc", cuda::out_of_memory}};
  const auto full = bench_->run(*find_experiment("fusion"), Effort::quick);
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().line(), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_EQ(fake_.live_allocations(), 0U);
}

TEST_F(GpuLab, WithoutGraphsTheirReadingIsLeftOut) {
  libraries_.driver.graph_launch = nullptr;
  bench_.reset();
  SetUp();
  const LabResult result = run("dispatch");
  EXPECT_EQ(result.find("64 small tasks from a graph"), nullptr);
  EXPECT_THAT(result.notes, ::testing::Contains(HasSubstr("no graphs")));
  EXPECT_TRUE(run("decode").holds()) << failed(run("decode"));
}

TEST(GpuLabMachine, WhatWasNotMeasuredIsTheCatalogues) {
  cuda::GpuFacts facts;
  facts.name = "NVIDIA H100 80GB HBM3";
  Measurement m;
  EXPECT_FALSE(gpu_lab_machine(facts, m, {}));
  m.device.memory_bandwidth.emplace();
  m.device.memory_bandwidth->value = units::BytesPerSecond{3.35e12};
  EXPECT_FALSE(gpu_lab_machine(facts, m, {})) << "no arithmetic";
  auto& peak = m.device.peaks[static_cast<std::size_t>(hardware::ComputeType::fp32)];
  peak.emplace();
  peak->value = units::FlopsPerSecond{67e12};
  const auto machine = gpu_lab_machine(facts, m, {});
  ASSERT_TRUE(machine) << machine.error().line();
  EXPECT_DOUBLE_EQ(machine->ridge(), 20);
  EXPECT_EQ(machine->notes.size(), 2U);
}

}  // namespace
}  // namespace corridor::measure
