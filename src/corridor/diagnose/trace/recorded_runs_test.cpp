// SPDX-License-Identifier: Apache-2.0
// The verdicts on recorded runs, and their operations beside the tables of another tool.
#include "corridor/diagnose/trace/trace_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "corridor/base/file.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/model/readers.h"
#include "corridor/profile/kineto/read_kineto.h"
#include "corridor/profile/points/cells.h"
#include "corridor/profile/points/csv.h"

namespace corridor::diagnose {
namespace {

using profile::Trace;
using ::testing::Contains;
using ::testing::HasSubstr;

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
  for (const Finding& f : a.findings) EXPECT_LE(f.gain_s, f.lost_s) << f.title;
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
