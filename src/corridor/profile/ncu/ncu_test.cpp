// SPDX-License-Identifier: Apache-2.0
// Nsight Compute tables of every age and page: one launch told in each of them gives the same counters, units are
// read, and damage costs no more than what it hits.
#include "corridor/profile/ncu/read_ncu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "corridor/base/file.h"
#include "corridor/profile/ncu/launch_sizes.h"
#include "corridor/profile/ncu/metric_unit.h"

namespace corridor::profile {
namespace {

using ::testing::HasSubstr;

Result<Trace> read(const std::string& text) {
  const auto source = open_bytes(text, "report.csv");
  return read_ncu(*source, "report.csv");
}

/// The pages of one launch: 2 ms, 3 GB of main memory, 4e9 fused multiply-adds in fp32, 512 blocks of 256.
const std::string head_2021 =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream","Section Name","Metric Name","Metric Unit","Metric Value")"
    "\n";
const std::string row_2021 = R"~("0","7","python","host","void f<float, int>(T1 *)","2021-Jan-01","1","7",)~";
const std::string head_2022 =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup")"
    "\n";
const std::string row_2022 =
    R"~("0","7","python","host","void f<float, int>(T1 *)","1","7","(256, 1, 1)","(512, 1, 1)","0","8.0",)~";

std::string page_2021() {
  const auto metric = [](const std::string& section, const std::string& rest) {
    return row_2021 + '"' + section + "\"," + rest + "\n";
  };
  const std::string s = "Command line profiler metrics";
  return head_2021 + metric(s, R"("gpu__time_duration.sum","msecond","2")") +
         metric(s, R"("dram__bytes_read.sum","Gbyte","2.5")") + metric(s, R"("dram__bytes_write.sum","Mbyte","500")") +
         metric(s, R"("sm__sass_thread_inst_executed_op_ffma_pred_on.sum","inst","4,000,000,000")") +
         metric("Launch Statistics", R"("Grid Size","","512")") +
         metric("Launch Statistics", R"("Block Size","","256")") +
         metric("Occupancy", R"("Achieved Occupancy","%","62.50")") +
         metric("Occupancy", R"("Block Limit SM","block","32")");
}

std::string page_2022() {
  const auto metric = [](const std::string& rest) { return row_2022 + rest + R"(,"","","")" + "\n"; };
  return "==PROF== Connected to process 7\nmy output, with \"a quote\n" + head_2022 +
         metric(R"("GPU Speed Of Light Throughput","Duration","us","2,000")") +
         metric(R"("GPU Speed Of Light Throughput","Memory Throughput","%","91.2")") + "loss = 0.25\n\n" +
         metric(R"("Memory Workload Analysis","Memory Throughput","Gbyte/s","1,500")") + row_2022 +
         R"("Occupancy","","","","Occupancy","OPT","text with a ""quote"", and a comma","global","7.5")" + "\n" +
         metric(R"("Occupancy","Achieved Occupancy","%","62.5")") +
         metric(R"("x","smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed","inst/cycle","2,000")") +
         metric(R"("x","smsp__cycles_elapsed.avg","cycle","2,000,000")") +
         metric(R"("x","sm__ops_path_tensor_src_int4.sum","","n/a")") + "==PROF== Disconnected\n";
}

std::string page_raw() {
  return "\xEF\xBB\xBF"
         R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes.sum","gpu__time_duration.sum","sm__sass_thread_inst_executed_op_ffma_pred_on.sum","sm__warps_active.avg.pct_of_peak_sustained_active")"
         "\r\n"
         R"("","","","","","","","","","","","Mbyte","ms","inst","%")"
         "\r\n"
         R"~("0","7","python","host","void f<float, int>(T1 *)","1","7","(256, 1, 1)","(512, 1, 1)","0","8.0","3,000","2","4000000000","62.5")~"
         "\r\n";
}

std::string page_bare() {
  return "Metric "
         "Name,dram__bytes.sum,gpu__time_duration.sum,sm__sass_thread_inst_executed_op_ffma_pred_on.sum,"
         "sm__warps_active.avg.pct_of_peak_sustained_active\n0,3000000000.0,2000000.0,4000000000.0,62.5\n";
}

TEST(Ncu, EveryPageTellsTheSameLaunch) {
  for (const std::string& page : {page_2021(), page_2022(), page_raw(), page_bare()}) {
    ASSERT_TRUE(looks_like_ncu_csv(page)) << page;
    const Result<Trace> t = read(page);
    ASSERT_TRUE(t) << t.error().line();
    ASSERT_EQ(t->counters.size(), 1U) << page;
    const KernelCounters& c = t->counters.front();
    EXPECT_NEAR(c.duration_s.value_or(0), 2e-3, 1e-12) << page;
    EXPECT_NEAR(c.dram_bytes.value_or(0), 3e9, 1) << page;
    EXPECT_NEAR(c.achieved_occupancy.value_or(0), 0.625, 1e-9) << page;
    ASSERT_EQ(c.flops.size(), 1U) << page;
    EXPECT_EQ(c.flops.front().first, "fp32");
    EXPECT_NEAR(c.flops.front().second, 8e9, 1) << page;
    if (page == page_bare()) {
      EXPECT_EQ(t->names.text(c.name), "row 0");
      continue;
    }
    EXPECT_EQ(t->names.text(c.name), "void f<float, int>(T1 *)");
    ASSERT_LT(c.shape, t->shapes.size()) << page;
    EXPECT_EQ(t->shapes[c.shape].grid[0], 512U);
    EXPECT_EQ(t->shapes[c.shape].block[0], 256U);
  }
  EXPECT_EQ(read(page_2022())->devices.front().compute_major, 8);
}

TEST(Ncu, UnitsAreRead) {
  EXPECT_EQ(ncu::unit_factor("Kbyte"), 1e3);
  EXPECT_EQ(ncu::unit_factor("Gbyte/second"), 1e9);
  EXPECT_EQ(ncu::unit_factor("Gbyte/s"), 1e9);
  EXPECT_EQ(ncu::unit_factor("KiB"), 1024);
  EXPECT_EQ(ncu::unit_factor("usecond"), 1e-6);
  EXPECT_EQ(ncu::unit_factor("ns"), 1e-9);
  EXPECT_NEAR(ncu::unit_factor("cycle/nsecond"), 1e9, 1);
  EXPECT_EQ(ncu::unit_factor("Ghz"), 1e9);
  EXPECT_EQ(ncu::unit_factor("%"), 0.01);
  for (const char* counted : {"", "inst", "warp", "block", "register/thread", "byte", "Mystery"}) {
    EXPECT_EQ(ncu::unit_factor(counted), 1) << counted;
  }
  const std::array<std::uint32_t, 3> three{128, 2, 1}, one{12288, 1, 1};
  EXPECT_EQ(parse_sizes("(128, 2, 1)"), three);
  EXPECT_EQ(parse_sizes("128 2 1"), three);
  EXPECT_EQ(parse_sizes("12,288"), one);
  for (const char* none_there : {"", "()", "-3", "99999999999", "x"})
    EXPECT_FALSE(parse_sizes(none_there)) << none_there;
}

TEST(Ncu, TensorCountersAndRoofsAtTheProfiledClock) {
  const auto metric = [](const std::string& name, const std::string& value, const std::string& unit = "") {
    return row_2021 + R"("x",")" + name + "\",\"" + unit + "\",\"" + value + "\"\n";
  };
  const std::string tensor = "sm__ops_path_tensor_src_fp16_dst_fp32";
  const Result<Trace> t = read(
      head_2021 + metric("gpu__time_duration.sum", "1", "ms") +
      metric("sm__cycles_elapsed.avg.per_second", "1.5", "cycle/nsecond") + metric(tensor + ".sum", "3e9") +
      metric(tensor + "_sparsity_off.sum", "2e9") + metric(tensor + "_sparsity_on.sum", "1e9") +
      metric(tensor + "_sparsity_off.sum.peak_sustained", "1e6") +
      metric(tensor + "_sparsity_on.sum.peak_sustained", "2e6") + metric("sm__ops_path_tensor_src_int8.sum", "5e9") +
      metric("sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained", "1000") +
      metric("dram__bytes.sum.peak_sustained", "1,000", "byte/cycle") +
      metric("dram__cycles_elapsed.avg.per_second", "1.2", "Ghz"));
  ASSERT_TRUE(t) << t.error().line();
  const KernelCounters& c = t->counters.front();
  const std::vector<std::pair<std::string, double>> flops = {{"fp16 tensor", 3e9}, {"int8 tensor", 5e9}};
  EXPECT_EQ(c.flops, flops);
  // 1000 lanes × 2 halves × 2 FLOP × 1.5 GHz; 1e6 dense operations a cycle × 1.5 GHz.
  const std::vector<std::pair<std::string, double>> peaks = {{"fp16", 6e12}, {"fp16 tensor", 1.5e15}};
  ASSERT_EQ(c.peak_flop_per_s.size(), peaks.size());
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    EXPECT_EQ(c.peak_flop_per_s[i].first, peaks[i].first);
    EXPECT_NEAR(c.peak_flop_per_s[i].second / peaks[i].second, 1, 1e-9);
  }
  EXPECT_NEAR(c.peak_dram_bytes_per_s.value_or(0), 1.2e12, 1);
}

TEST(Ncu, DamageIsCountedAndRefusalIsOneLine) {
  const std::string page = page_2021();
  for (std::size_t cut = 0; cut < page.size(); cut += 7) {
    const Result<Trace> t = read(page.substr(0, cut));
    if (!t) {
      EXPECT_THAT(t.error().line(), HasSubstr("report.csv: "));
      EXPECT_EQ(t.error().line().find('\n'), std::string::npos);
    }
  }
  const Result<Trace> cut = read(page.substr(0, page.size() - 12));
  ASSERT_TRUE(cut);
  ASSERT_FALSE(cut->stats.dropped.empty());
  EXPECT_EQ(cut->stats.dropped.front().what, "rows that are cut off");
  EXPECT_NEAR(cut->counters.front().dram_bytes.value_or(0), 3e9, 1);
  EXPECT_THAT(read("no table here\n").error().line(), HasSubstr("ncu --csv --page raw"));
  EXPECT_THAT(read(head_2021).error().line(), HasSubstr("no metric"));
  EXPECT_THAT(read(std::string("\xFF\xFE\"\0I\0D\0", 8)).error().line(), HasSubstr("UTF-16"));
  EXPECT_FALSE(looks_like_ncu_csv("ID,name,price\n1,apple,3\n"));
  const std::string negative = head_2021 + row_2021 + R"("x","gpu__time_duration.sum","ns","-5")" + "\n" + row_2021 +
                               R"("x","dram__bytes.sum","byte","1e999")" + "\n" + row_2021 +
                               R"("x","lts__t_bytes.sum","byte","64")" + "\n";
  const Result<Trace> odd = read(negative);
  ASSERT_TRUE(odd);
  EXPECT_FALSE(odd->counters.front().duration_s || odd->counters.front().dram_bytes);
  EXPECT_EQ(odd->counters.front().l2_bytes, 64);
}

TEST(Ncu, SamplesAgreeWithNumbersReadByHand) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/ncu/";
  if (!is_folder(folder)) GTEST_SKIP() << "the samples under ../shared/data are absent";
  const Result<MappedFile> relu = MappedFile::open(folder + "a100_relu_nsight.csv");
  ASSERT_TRUE(relu);
  const Result<Trace> table = read(std::string(relu->text()));
  ASSERT_TRUE(table) << table.error().line();
  EXPECT_EQ(table->counters.size(), 4237U);  // lines of the file less its header
  const KernelCounters& first = table->counters.front();
  EXPECT_NEAR(first.duration_s.value_or(0), 11.808e-6, 1e-12);
  // The duration is also cycles ÷ clock: 12096.93 ÷ 1024468659.04 Hz.
  EXPECT_NEAR(12096.93 / first.sm_clock_hz.value_or(1), 11.808e-6, 1e-10);
  EXPECT_EQ(first.dram_bytes, 7864448);
  EXPECT_EQ(first.l2_bytes, 28043680);
  EXPECT_EQ(first.l1_bytes, 15725056);

  const Result<MappedFile> bert = MappedFile::open(folder + "a100_bert_flashattn_nsight.csv");
  ASSERT_TRUE(bert);
  const Result<Trace> page = read(std::string(bert->text()));
  ASSERT_TRUE(page) << page.error().line();
  ASSERT_EQ(page->counters.size(), 10U);
  const KernelCounters& c = page->counters[5];  // the product of cutlass
  EXPECT_THAT(std::string(page->names.text(c.name)), HasSubstr("cutlass_80_wmma_tensorop_f16"));
  EXPECT_NEAR(c.duration_s.value_or(0), 7219.93 / 932325145.39, 1e-12);  // no time in the file: cycles ÷ clock
  EXPECT_EQ(c.dram_bytes, 415488);
  EXPECT_EQ(c.l2_bytes, 2319200);
  EXPECT_EQ(c.tensor_instructions, 6144);
  EXPECT_EQ(c.registers, 94);
  EXPECT_EQ(c.shared_bytes, 33792);
  EXPECT_NEAR(c.achieved_occupancy.value_or(0), 0.0609, 1e-9);
  EXPECT_NEAR(c.waves.value_or(0), 0.11, 1e-9);
  ASSERT_LT(c.shape, page->shapes.size());
  EXPECT_EQ(page->shapes[c.shape].grid[0], 48U);
  for (const auto& [type, flops] : c.flops) {
    if (type == "fp32") {
      EXPECT_EQ(flops, 49152 + 2 * 49152);
    }
    if (type == "fp16") {
      EXPECT_EQ(flops, 49152);
    }
  }
}

TEST(Ncu, CorpusIsAnswered) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/fuzz/corpus/ncu/";
  std::size_t read_ones = 0;
  const std::vector<std::string> files = folder_entries(folder);
  ASSERT_GE(files.size(), 6U);
  for (const std::string& file : files) {
    const Result<MappedFile> mapped = MappedFile::open(folder + file);
    ASSERT_TRUE(mapped) << file;
    const Result<Trace> t = read(std::string(mapped->text()));
    read_ones += t ? 1 : 0;
    if (!t) {
      EXPECT_EQ(t.error().line().find('\n'), std::string::npos) << file;
    }
  }
  EXPECT_GE(read_ones, 4U);
}

}  // namespace
}  // namespace corridor::profile
