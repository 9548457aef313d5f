// SPDX-License-Identifier: Apache-2.0
// Costs from shapes, steps from names, idle time by cause, meters, verdicts.
#include "corridor/diagnose/trace/trace_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "corridor/diagnose/trace/kernel_class.h"
#include "corridor/diagnose/trace/op_cost.h"
#include "corridor/diagnose/trace/span_rows.h"
#include "corridor/diagnose/trace/step_annotation.h"
#include "corridor/diagnose/trace/timeline.h"
#include "corridor/hardware/catalogue.h"

namespace corridor::diagnose {
namespace {

using profile::GpuSpan;
using profile::OpInputs;
using profile::Trace;
using ::testing::Contains;
using ::testing::HasSubstr;

OpInputs inputs(std::vector<std::vector<std::int64_t>> dims, const std::string& type,
                std::vector<std::string> concrete = {}) {
  OpInputs out;
  for (const auto& d : dims) out.types.push_back(d.empty() ? "Scalar" : type);
  out.dims = std::move(dims);
  out.concrete = std::move(concrete);
  return out;
}

std::optional<OpCost> cost(const std::string& name, const OpInputs& in, const StepTokens* step = nullptr) {
  return cost_of_operation(name, class_of_operation(name).value_or(KernelClass::other), in, step);
}

TEST(OpCost, ProductsMultiplyAndMoveEachMatrixOnce) {
  const auto mm = cost("aten::mm", inputs({{8, 16}, {16, 32}}, "c10::Half"));
  ASSERT_TRUE(mm);
  EXPECT_EQ(mm->flops, 2.0 * 8 * 16 * 32);
  EXPECT_EQ(mm->bytes, 2.0 * (8 * 16 + 16 * 32 + 8 * 32));
  EXPECT_EQ(mm->shape, "8×32×16 fp16");
  const auto addmm = cost("aten::addmm", inputs({{32}, {8, 16}, {16, 32}, {}, {}}, "float"));
  ASSERT_TRUE(addmm);
  EXPECT_EQ(addmm->flops, mm->flops);
  EXPECT_EQ(addmm->bytes, 2 * *mm->bytes);
  const auto bmm = cost("aten::bmm", inputs({{3, 8, 16}, {3, 16, 32}}, "c10::Half"));
  ASSERT_TRUE(bmm);
  EXPECT_EQ(bmm->flops, 3 * *mm->flops);
  EXPECT_EQ(bmm->bytes, 3 * *mm->bytes);
  const auto added = cost("aten::baddbmm", inputs({{3, 8, 32}, {3, 8, 16}, {3, 16, 32}}, "c10::Half"));
  ASSERT_TRUE(added);
  EXPECT_EQ(added->flops, bmm->flops);
  EXPECT_FALSE(cost("aten::mm", inputs({{8, 16}, {17, 32}}, "c10::Half")));
  EXPECT_FALSE(cost("aten::mm", inputs({{8, 0}, {0, 32}}, "c10::Half")));
  EXPECT_FALSE(cost("aten::mm", inputs({{8, 16}, {16, 32}}, "no such type")));
  EXPECT_FALSE(cost("aten::mm", {}));
}

TEST(OpCost, ACausalQuerySeesTheKeysUpToItsPlace) {
  const std::vector<std::vector<std::int64_t>> dims = {{2, 3, 4, 8}, {2, 3, 4, 8}, {2, 3, 4, 8}, {}, {}};
  const char* name = "aten::_scaled_dot_product_flash_attention";
  const auto all = cost(name, inputs(dims, "c10::BFloat16", {"", "", "", "0.", "False"}));
  const auto causal = cost(name, inputs(dims, "c10::BFloat16", {"", "", "", "0.", "True"}));
  ASSERT_TRUE(all && causal);
  EXPECT_EQ(all->flops, 2.0 * 2 * 3 * 16 * (8 + 8));
  EXPECT_EQ(causal->flops, 2.0 * 2 * 3 * (1 + 2 + 3 + 4) * (8 + 8));
  EXPECT_EQ(all->bytes, 2.0 * 4 * (2 * 3 * 4 * 8));
}

TEST(OpCost, PassesReadTheirInputsAndWriteTheirResult) {
  EXPECT_EQ(cost("aten::add", inputs({{4, 8}, {8}, {}}, "c10::Half"))->bytes, 2.0 * (32 + 8 + 32));
  EXPECT_EQ(cost("aten::mul", inputs({{4, 1}, {1, 8}}, "float"))->bytes, 4.0 * (4 + 8 + 32));
  EXPECT_EQ(cost("aten::copy_", inputs({{4, 8}, {4, 8}}, "c10::Half"))->bytes, 2.0 * 64);
  EXPECT_EQ(cost("aten::fill_", inputs({{4, 8}, {}}, "c10::Half"))->bytes, 2.0 * 32);
  OpInputs table = inputs({{1000, 8}, {2, 5}}, "float");
  table.types[1] = "long int";
  EXPECT_EQ(cost("aten::embedding", table)->bytes, 4.0 * 2 * 10 * 8 + 8 * 10);
  EXPECT_FALSE(cost("aten::cat", inputs({{4, 8}, {}}, "float")));
}

TEST(StepAnnotation, ReadsTheEnginesForms) {
  const auto full = parse_step("execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489)");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->prefill.sequences, 9);
  EXPECT_EQ(full->prefill.query, 8155);
  EXPECT_EQ(full->prefill.query_query, 7475785);
  EXPECT_EQ(full->decode.sequences, 37);
  EXPECT_EQ(full->decode.kv, 34489);
  EXPECT_EQ(full->tokens(), 8192);
  const auto brief = parse_step("execute_context_1(888_788544)_generation_0(0)");
  ASSERT_TRUE(brief);
  EXPECT_EQ(brief->prefill.query, 888);
  EXPECT_FALSE(brief->decode.kv);
  const auto sglang = parse_step("step[DECODE bs=32]");
  ASSERT_TRUE(sglang);
  EXPECT_EQ(sglang->decode.sequences, 32);
  EXPECT_EQ(parse_step("step[EXTEND bs=2 toks=512]")->prefill.query, 512);
  for (const char* text : {"", "execute_", "execute_context_", "execute_context_1(", "execute_context_1(5)_generation_",
                           "execute_context_-1(5)_generation_0(0)", "step[DECODE bs=]", "step[OTHER bs=2]",
                           "execute_context_1(99999999999999999999)_generation_0(0)"}) {
    EXPECT_FALSE(parse_step(text)) << text;
  }
  EXPECT_TRUE(names_step("ProfilerStep#12"));
  EXPECT_FALSE(names_step("my range"));
}

TEST(KernelClass, NamesOfLibrariesAndOperations) {
  const std::map<std::string, KernelClass> kernels = {
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", KernelClass::product},
      {"nvjet_tst_128x64_64x8_2x1_v_bz_TNT", KernelClass::product},
      {"Cijk_Alik_Bljk_BBS_BH_Bias_MT256x208x64", KernelClass::product},
      {"void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>", KernelClass::attention},
      {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", KernelClass::attention},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", KernelClass::collective},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>", KernelClass::collective},
      {"fused_moe_kernel", KernelClass::moe},
      {"void vllm::rms_norm_kernel<c10::BFloat16>", KernelClass::normalisation},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
       KernelClass::elementwise},
      {"triton_poi_fused_mul_silu_0", KernelClass::elementwise},
      {"Memcpy HtoD (Pinned -> Device)", KernelClass::copy},
      {"my_own_kernel", KernelClass::other},
      {"", KernelClass::other}};
  for (const auto& [text, expected] : kernels) EXPECT_EQ(name(class_of_kernel(text)), name(expected)) << text;
  EXPECT_EQ(class_of_operation("aten::addmm"), KernelClass::product);
  EXPECT_EQ(class_of_operation("vllm::unified_attention_with_output"), KernelClass::attention);
  EXPECT_EQ(class_of_operation("c10d::allreduce_"), KernelClass::collective);
  EXPECT_EQ(class_of_operation("aten::linear"), std::nullopt);  // it calls aten::addmm, which is recorded as well
  EXPECT_EQ(class_of_operation("Torch-Compiled Region"), std::nullopt);
  EXPECT_EQ(class_of_kernel(std::string(1U << 20U, 'x')), KernelClass::other);
}

/// Seconds from milliseconds, so that the traces below read easily.
class TraceMaker {
 public:
  TraceMaker& call(const char* name, double start_ms, double duration_ms) {
    trace.calls.push_back({start_ms * 1e-3, duration_ms * 1e-3, trace.names.intern(name), 0});
    return *this;
  }
  /// Launched by the last call, or by none.
  TraceMaker& span(double start_ms, double duration_ms, bool launched = true,
                   profile::GpuWork work = profile::GpuWork::kernel, std::uint32_t stream = 7) {
    GpuSpan s;
    s.start_s = start_ms * 1e-3;
    s.duration_s = duration_ms * 1e-3;
    s.name = trace.names.intern("gemm");
    if (launched) s.launch = static_cast<std::uint32_t>(trace.calls.size() - 1);
    s.work = work;
    s.stream = stream;
    trace.gpu.push_back(s);
    return *this;
  }
  Trace trace;
};

TEST(Timeline, BusyIsTheUnionAndIdleIsSplitByCause) {
  TraceMaker m;
  m.call("cudaLaunchKernel", 0, 0.1).span(1, 4);
  m.span(3, 4, true, profile::GpuWork::kernel, 9);  // overlaps on another stream: busy 1 to 7
  m.call("cudaLaunchKernel", 6, 0.1).span(8, 2);    // launched at 6, begins at 8: launch gap of 1
  m.call("cudaLaunchKernel", 13, 0.1).span(14, 1);  // dry at 10, launched at 13: host wait 3, gap 1
  m.call("cudaStreamSynchronize", 14.5, 1);         // ends behind the GPU's last work at 15
  m.call("cudaLaunchKernel", 17, 0.1).span(17, 1);  // synchronisation 2
  m.call("cudaMemcpyAsync", 17.5, 0.1).span(18, 2, true, profile::GpuWork::copy);
  m.call("cudaLaunchKernel", 19, 0.1).span(25, 1);  // launched in time, behind a copy: data wait 5
  const std::vector<DeviceTimeline> lines = timelines(m.trace);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NEAR(lines[0].busy_s, 13e-3, 1e-9);
  EXPECT_NEAR(lines[0].sum_s, 15e-3, 1e-9);
  const IdleSplit idle = split_idle(m.trace, lines[0]);
  EXPECT_NEAR(idle.launch_gap_s, 2e-3, 1e-9);
  EXPECT_NEAR(idle.host_wait_s, 3e-3, 1e-9);
  EXPECT_NEAR(idle.synchronisation_s, 2e-3, 1e-9);
  EXPECT_NEAR(idle.data_wait_s, 5e-3, 1e-9);
  EXPECT_NEAR(idle.total_s() + lines[0].busy_s, lines[0].last_s - lines[0].first_s, 1e-9);
  EXPECT_NEAR(idle.largest_gap_s, 5e-3, 1e-9);
  EXPECT_NEAR(idle.largest_gap_at_s, 19e-3, 1e-9);
}

TEST(Meters, SamplesCountAsBusyWhereWorkRan) {
  TraceMaker maker;
  for (int i = 0; i < 10; ++i) maker.span(0.1 * i, 0.06, false);
  Trace& t = maker.trace;
  t.meters.push_back({0, {}});
  // Every 20 µs, as each 100 µs has 60 of work: three busy samples, two idle ones.
  for (int i = 1; i <= 50; ++i) {
    const bool busy = (i - 1) % 5 < 3;
    t.meters[0].samples.push_back({20e-6 * i, {busy ? 0.9F : 0.0F, -1, busy ? 0.1F : 0.0F, busy ? 0.6F : 0.0F, 0.05F}});
  }
  const auto a = analyse({t});
  ASSERT_TRUE(a && a->meters);
  EXPECT_NEAR(a->meters->dram.value_or(0), 0.65, 1e-6);
  EXPECT_NEAR(a->meters->tensor.value_or(0), 0.1, 1e-6);
  EXPECT_NEAR(a->meters->coverage, 1, 1e-6);
  EXPECT_EQ(a->meters->readings.size(), 5U) << "a meter without samples has no reading";
  EXPECT_NEAR(a->meters->readings[0].span_mean, (0.65 * 30 + 0.05 * 18) / 48, 1e-3) << "the span ends at 960 µs";
  EXPECT_EQ(a->wall, KernelBound::memory) << "busy more than idle, and no shape tells another wall";
  EXPECT_THAT(a->sentence, HasSubstr("main memory runs at 65 % of its peak while busy"));
  const auto finding = std::find_if(a->findings.begin(), a->findings.end(),
                                    [](const Finding& f) { return f.title.starts_with("main memory runs at 65 %"); });
  ASSERT_NE(finding, a->findings.end());
  EXPECT_NEAR(finding->lost_s, 600e-6 * (1 - 0.65 / 0.85), 1e-8);
  for (profile::MeterSample& s : t.meters[0].samples) s.share[3] /= 2;
  EXPECT_EQ(analyse({t})->wall, KernelBound::unknown) << "at 35 % no wall is near";
  t.meters[0].device = 1;
  EXPECT_FALSE(analyse({t})->meters) << "those of another GPU";
}

TEST(TraceAnalysis, OneLongGapIsNamed) {
  TraceMaker m;
  for (int i = 0; i < 10; ++i) m.call("cudaLaunchKernel", i, 0.1).span(i, 0.9);
  const Result<TraceAnalysis> steady = analyse({m.trace});
  ASSERT_TRUE(steady);
  EXPECT_THAT(steady->caveats, ::testing::Not(Contains(HasSubstr("one gap"))));
  m.call("cudaLaunchKernel", 100, 0.1).span(100, 1);
  const Result<TraceAnalysis> paused = analyse({m.trace});
  ASSERT_TRUE(paused);
  EXPECT_THAT(paused->caveats, Contains(HasSubstr("one gap of 90.1 ms, 9.90 ms after the first GPU work")));
  EXPECT_EQ(paused->wall, KernelBound::overhead);
}

TEST(TraceAnalysis, EverySpanKnowsItsRow) {
  TraceMaker m;
  m.call("cudaLaunchKernel", 0, 0.1).span(1, 1).span(2, 3, true, profile::GpuWork::set).span(5, 1);
  m.trace.gpu[1].name = m.trace.names.intern("Memset (Device)");
  const Result<TraceAnalysis> a = analyse({m.trace});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->spans, (std::vector<std::uint32_t>{0, 1, 2}));
  ASSERT_EQ(a->row_of_span.size(), 3U);
  EXPECT_EQ(a->shapes.at(a->row_of_span[0]).operation, "gemm");
  EXPECT_EQ(a->shapes.at(a->row_of_span[1]).operation, "Memset (Device)");
  EXPECT_EQ(a->row_of_span[2], a->row_of_span[0]);
  EXPECT_EQ(a->row_of_span[1], 0U);  // rows stand by time
}

TEST(TraceAnalysis, WithoutGpuWorkThereIsOneLine) {
  Trace trace;
  trace.format = "Chrome trace";
  const Result<TraceAnalysis> analysis = analyse({trace});
  ASSERT_FALSE(analysis);
  EXPECT_THAT(analysis.error().line(), HasSubstr("holds no GPU work"));
}

TEST(PlaceRow, NothingStandsAboveARoofWithoutARemark) {
  hardware::Device device;
  device.memory_bandwidth = {units::BytesPerSecond{1e12}, hardware::Basis::vendor, "", "", ""};
  device.peaks[static_cast<std::size_t>(hardware::ComputeType::bf16)] = {units::FlopsPerSecond{1e14}, {}, "", "", ""};
  ShapeRow row;
  row.kernel_class = KernelClass::product;
  row.count = 1;
  row.total_s = 1e-3;
  row.type = "bf16";
  row.bytes = 0.5e9;
  row.flops = 0.8e11;
  place_row(&device, row);
  EXPECT_EQ(row.bound, KernelBound::compute);
  EXPECT_NEAR(row.fraction_of_roof.value_or(0), 0.8, 1e-9);
  row.bytes = 3e9;
  row.flops = 0.1e11;
  place_row(&device, row);
  EXPECT_THAT(row.remark, HasSubstr("more bytes than main memory gives"));
  EXPECT_LE(row.fraction_of_roof.value_or(0), 1);
  row.remark.clear();
  place_row(nullptr, row);
  EXPECT_EQ(row.remark, "");
}

// From here on: recorded runs.

}  // namespace
}  // namespace corridor::diagnose
