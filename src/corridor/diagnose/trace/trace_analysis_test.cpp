// SPDX-License-Identifier: Apache-2.0
// Costs from shapes, steps from names, idle time by cause, and the verdicts on recorded runs.
#include "corridor/diagnose/trace/trace_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "corridor/base/file.h"
#include "corridor/diagnose/trace/kernel_class.h"
#include "corridor/diagnose/trace/op_cost.h"
#include "corridor/diagnose/trace/span_rows.h"
#include "corridor/diagnose/trace/step_annotation.h"
#include "corridor/diagnose/trace/timeline.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/model/readers.h"
#include "corridor/profile/kineto/read_kineto.h"
#include "corridor/profile/points/csv.h"

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

const std::string samples = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/torch_trace/";

class Samples : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_folder(samples)) GTEST_SKIP() << "the samples under ../shared/data are absent";
  }
  static TraceAnalysis analysis_of(const std::string& file, const std::string& device, const std::string& model = "") {
    const Result<Assets> assets = Assets::open(std::nullopt);
    const Result<MappedFile> mapped = MappedFile::open(samples + file);
    EXPECT_TRUE(assets && mapped) << file;
    if (!assets || !mapped) return {};
    const auto source = profile::open_bytes(mapped->text(), file);
    const Result<Trace> trace = profile::read_kineto(*source, file);
    const Result<hardware::ResolvedDevice> chip = hardware::find_device(*assets, device);
    const Result<model::ResolvedModel> spec = model::find_model(*assets, model.empty() ? "gpt2" : model);
    EXPECT_TRUE(trace && chip) << file;
    if (!trace || !chip) return {};
    EXPECT_TRUE(model.empty() || spec) << model;
    const Result<TraceAnalysis> analysis =
        analyse({*trace, &chip->device, model.empty() || !spec ? nullptr : &spec->model});
    EXPECT_TRUE(analysis) << analysis.error().line();
    return analysis ? *analysis : TraceAnalysis{};
  }
};

TEST_F(Samples, EagerStepOnB200IsOverheadBound) {
  const TraceAnalysis a = analysis_of("b200_eager_trace.json.gz", "b200");
  EXPECT_NEAR(a.gpu_busy_s, 11.6e-3, 0.05e-3);
  EXPECT_NEAR(a.span_s, 84.5e-3, 0.05e-3);
  EXPECT_EQ(a.wall, KernelBound::overhead);
  EXPECT_THAT(a.caveats, Contains(HasSubstr("stacks were recorded")));
  ASSERT_FALSE(a.findings.empty());
  EXPECT_THAT(a.findings.front().lever, HasSubstr("graph"));
  for (const TraceFinding& f : a.findings) EXPECT_LE(f.gain_s, f.lost_s) << f.title;
}

TEST_F(Samples, ReplayedDecodeOnMi300xIsExplainedByItsAnnotation) {
  const TraceAnalysis a = analysis_of("vllm_decode_full_graph_execution.json.gz", "mi300x", "openai/gpt-oss-20b");
  EXPECT_NEAR(a.busy_fraction(), 0.998, 0.0006);
  EXPECT_EQ(a.wall, KernelBound::memory);
  EXPECT_GE(a.coverage.by_operator + a.coverage.by_annotation, 0.9);
  constexpr double bandwidth = 5.3e12;  // bytes a second, data sheet of the MI300X
  for (const ShapeRow& row : a.shapes) {
    EXPECT_TRUE(row.bytes_per_s().value_or(0) <= bandwidth * 1.02 || !row.remark.empty()) << row.operation;
  }
}

TEST_F(Samples, PromptOfQwenOnH100) {
  const TraceAnalysis a = analysis_of("h100_qwen1.5-0.5b-chat.json.gz", "h100-sxm");
  const auto row = std::find_if(a.shapes.begin(), a.shapes.end(),
                                [](const ShapeRow& r) { return r.shape == "8944×2816×1024 bf16"; });
  ASSERT_NE(row, a.shapes.end());
  EXPECT_NEAR(row->flop_per_s().value_or(0), 611e12, 3e12);
  EXPECT_NEAR(row->fraction_of_roof.value_or(0), 0.62, 0.005);
  EXPECT_EQ(row->bound, KernelBound::compute);
  EXPECT_EQ(a.wall, KernelBound::memory);
  // The union of all intervals, as another JSON reader gives it. The other tool's time-line (91.4 % of 34.9 ms) leaves
  // out the kernels that were launched before the trace began.
  EXPECT_NEAR(a.span_s, 49.653e-3, 1e-6);
  EXPECT_NEAR(a.gpu_busy_s, 45.647e-3, 1e-6);
  EXPECT_THAT(a.caveats, Contains(HasSubstr("launched before the trace began")));
  EXPECT_THAT(a.findings.front().title, HasSubstr("not fused"));
}

TEST_F(Samples, ACapturedPauseIsNamed) {
  const TraceAnalysis a = analysis_of("sglang_qwen3-8b_prefilldecode.json.gz", "mi300x");
  EXPECT_NEAR(a.idle.largest_gap_s, 493.284e-3, 1e-6);  // as another JSON reader gives it
  EXPECT_NEAR(a.gpu_busy_s, 492.807e-3, 1e-6);
  EXPECT_THAT(a.caveats, Contains(HasSubstr("one gap of 493")));
}

/// Product rows of another tool's table: by operation and shape, count, seconds, FLOPs and bytes.
struct Told {
  double count = 0, seconds = 0, flops = 0, bytes = 0;
};

using Cells = std::function<std::string(const std::string&)>;

/// Calls `take` for each row of a table, with its cells by the name of their column.
void each_row(const std::string& text, const std::function<void(const Cells&)>& take) {
  std::vector<std::string> head;
  profile::CsvReader reader(text);
  for (profile::CsvRow row; reader.next(row);) {
    const std::vector<std::string> cells(row.fields.begin(), row.fields.end());
    if (head.empty()) {
      head = cells;
      continue;
    }
    take([&](const std::string& name) {
      const auto at = std::find(head.begin(), head.end(), name) - head.begin();
      return static_cast<std::size_t>(at) < cells.size() ? cells[static_cast<std::size_t>(at)] : std::string();
    });
  }
}

/// Adds a row of the table, whose GFLOPS and MB are of one execution; their "MB" are MiB.
void add_told(Told& told, const Cells& cell, const char* count, const char* flops, const char* bytes) {
  const auto number = [&](const char* name) { return std::strtod(cell(name).c_str(), nullptr); };
  told.count += number(count);
  told.seconds += number("Kernel Time (µs)_sum") * 1e-6;
  told.flops += number(count) * number(flops) * 1e9;
  told.bytes += number(count) * number(bytes) * 1048576;
}

std::map<std::string, Told> told_products(const std::string& text) {
  std::map<std::string, Told> out;
  each_row(text, [&](const Cells& cell) {
    const std::string batch = cell("param: B") == "1" ? "" : cell("param: B") + " of ";
    const std::string shape = batch + cell("param: M") + "×" + cell("param: N") + "×" + cell("param: K");
    add_told(out[cell("name") + " " + shape], cell, "name_count", "GFLOPS_first", "Data Moved (MB)_first");
  });
  return out;
}

// Where this table and ours part by design: addmm adds its bias there (one FLOP an output, under 0.1 % here), and
// causal attention counts half the square there where ours counts the diagonal too (0.2 % more at 559 tokens).
TEST_F(Samples, ProductsAgreeWithAnotherTool) {
  const TraceAnalysis a = analysis_of("h100_qwen1.5-0.5b-chat.json.gz", "h100-sxm");
  const Result<std::string> text = read_text_file(samples + "expected_tracelens_h100_qwen/GEMM.csv");
  ASSERT_TRUE(text);
  const std::map<std::string, Told> told = told_products(*text);
  ASSERT_GE(told.size(), 3U);
  for (const auto& [key, expected] : told) {
    Told ours;
    for (const ShapeRow& row : a.shapes) {
      if (!(row.operation + " " + row.shape).starts_with(key + " ")) continue;
      ours = {row.count, row.total_s, row.flops.value_or(0), row.bytes.value_or(0)};
    }
    EXPECT_EQ(ours.count, expected.count) << key;
    EXPECT_NEAR(ours.seconds / expected.seconds, 1, 0.02) << key;
    EXPECT_NEAR(ours.flops / expected.flops, 1, 0.02) << key;
    EXPECT_NEAR(ours.bytes / expected.bytes, 1, 0.02) << key;
  }
}

// That tool counts one FLOP an element for a pass; ours counts none, as no pass is near the arithmetic roof. It has no
// bytes for cos, sin, eq (no model there) nor for cat, index_select and arange (their inputs do not tell the result, so
// ours has none either). Causal attention counts half of the square there; ours the diagonal as well: 560 / 559.
TEST_F(Samples, PassesAndAttentionAgreeWithAnotherTool) {
  const TraceAnalysis a = analysis_of("h100_qwen1.5-0.5b-chat.json.gz", "h100-sxm");
  const Result<std::string> text = read_text_file(samples + "expected_tracelens_h100_qwen/unified_perf_summary.csv");
  ASSERT_TRUE(text);
  std::map<std::string, Told> told, ours;
  each_row(*text, [&](const Cells& cell) {
    if (cell("Data Moved (MB)").empty() || cell("op category") == "GEMM") return;
    add_told(told[cell("name")], cell, "operation_count", "GFLOPS", "Data Moved (MB)");
  });
  for (const ShapeRow& row : a.shapes) {
    Told& sum = ours[row.operation];
    sum.count += row.count;
    sum.seconds += row.total_s;
    sum.flops += row.flops.value_or(0);
    sum.bytes += row.bytes.value_or(0);
  }
  ASSERT_GE(told.size(), 9U);
  for (const auto& [name, expected] : told) {
    EXPECT_EQ(ours[name].count, expected.count) << name;
    EXPECT_NEAR(ours[name].seconds / expected.seconds, 1, 0.02) << name;
    EXPECT_NEAR(ours[name].bytes / expected.bytes, 1, 0.02) << name;
  }
  const char* attention = "aten::_scaled_dot_product_flash_attention";
  EXPECT_NEAR(ours[attention].flops / told[attention].flops, 560.0 / 559.0, 1e-6);
}

}  // namespace
}  // namespace corridor::diagnose
