// SPDX-License-Identifier: Apache-2.0
// rocprofv3 JSON in pieces of any size and cut anywhere; the CSV files of rocprof-compute by its own formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "corridor/base/file.h"
#include "corridor/profile/rocprof/read_rocprof.h"
#include "corridor/profile/rocprof/record_scanner.h"

namespace corridor::profile {
namespace {

using ::testing::HasSubstr;

const std::string run = R"~({"rocprofiler-sdk-tool": [{"metadata": {"command": ["train", "\"}{"]},
 "agents": [{"id": {"handle": 1}, "type": 1, "name": "a processor"},
   {"id": {"handle": 5}, "type": 2, "product_name": "AMD Instinct MI300X", "cu_count": 304,
    "max_engine_clk_fcompute": 2100, "mem_banks": [{"size_in_bytes": 206141652992}]}],
 "strings": {"buffer_records": [{"kind": "NONE", "operations": []},
   {"kind": "HIP_RUNTIME_API", "operations": ["hipInit", "hipLaunchKernel"]}]},
 "buffer_records": {"kernel_dispatch": [
   {"correlation_id": {"internal": 21}, "start_timestamp": 1000500, "end_timestamp": 1002500, "stream_id": {"handle": 3},
    "dispatch_info": {"agent_id": {"handle": 5}, "kernel_id": 9, "workgroup_size": {"x": 256, "y": 1, "z": 1},
      "grid_size": {"x": 1000, "y": 2, "z": 1}}},
   {"start_timestamp": 9, "end_timestamp": 3, "dispatch_info": {}}],
  "hip_api": [{"kind": 1, "operation": 1, "correlation_id": {"internal": 21}, "thread_id": 4,
    "start_timestamp": 1000000, "end_timestamp": 1000100}],
  "memory_copy": [{"operation": 2, "correlation_id": {"internal": 22}, "start_timestamp": 1003000,
    "end_timestamp": 1004000, "bytes": 4096, "src_agent_id": {"handle": 1}, "dst_agent_id": {"handle": 5}}]},
 "kernel_symbols": [{"kernel_id": 9, "kernel_name": "gemm.kd", "formatted_kernel_name": "gemm(float*)"}]}]})~";

Result<Trace> v3(const std::string& text) {
  const auto source = open_bytes(text, "results.json");
  return read_rocprofv3(*source, "results.json");
}

TEST(Rocprof, ATimeLineWithItsLaunches) {
  ASSERT_TRUE(looks_like_rocprofv3(run));
  const Result<Trace> t = v3(run);
  ASSERT_TRUE(t) << t.error().line();
  ASSERT_EQ(t->devices.size(), 1U);
  EXPECT_EQ(t->devices.front().name, "AMD Instinct MI300X");
  EXPECT_EQ(t->devices.front().sm_count, 304);
  ASSERT_EQ(t->gpu.size(), 2U);
  const GpuSpan &gemm = t->gpu[0], &copy = t->gpu[1];
  EXPECT_NEAR(gemm.start_s, 0.5e-6, 1e-15);
  EXPECT_NEAR(gemm.duration_s, 2e-6, 1e-15);
  EXPECT_EQ(t->names.text(gemm.name), "gemm(float*)");
  EXPECT_EQ(t->shapes[gemm.shape].grid[0], 4U);  // 1000 work-items in groups of 256
  EXPECT_EQ(t->names.text(t->calls[gemm.launch].name), "hipLaunchKernel");
  EXPECT_EQ(copy.bytes, 4096);
  EXPECT_EQ(copy.device, gemm.device);
  EXPECT_EQ(t->stats.dropped.front().what, "dispatches without a start or an end");
}

TEST(Rocprof, PiecesOfAnySizeGiveTheSameRecords) {
  const auto records = [](std::size_t piece) {
    std::vector<std::string> found;
    rocprof::RecordScanner scanner({"rocprofiler-sdk-tool/agents", "rocprofiler-sdk-tool/buffer_records/hip_api"},
                                   [&](std::string_view path, std::string_view object) {
                                     found.push_back(std::string(path) + ": " + std::string(object));
                                   });
    for (std::size_t at = 0; at < run.size(); at += piece) scanner.feed(std::string_view(run).substr(at, piece));
    EXPECT_FALSE(scanner.open());
    return found;
  };
  const std::vector<std::string> whole = records(run.size());
  ASSERT_EQ(whole.size(), 3U);
  EXPECT_THAT(whole[1], HasSubstr("rocprofiler-sdk-tool/agents: {\"id\": {\"handle\": 5}"));
  for (std::size_t piece = 1; piece < 90; ++piece) EXPECT_EQ(records(piece), whole) << piece;
}

TEST(Rocprof, CutAnywhereItIsAnsweredOrRefused) {
  for (std::size_t cut = 0; cut < run.size(); cut += 3) {
    const Result<Trace> t = v3(run.substr(0, cut));
    if (t) {
      const auto tells = [](const ImportEvent& e) { return e.what == "the end of the file is missing"; };
      EXPECT_TRUE(std::any_of(t->stats.dropped.begin(), t->stats.dropped.end(), tells)) << cut;
    } else {
      EXPECT_THAT(t.error().line(), HasSubstr("results.json: holds no kernel dispatches"));
    }
  }
  // Deep nesting is counted, not followed.
  EXPECT_FALSE(v3(R"({"rocprofiler-sdk-tool": [{"agents": )" + std::string(3'000'000, '[')));
  EXPECT_FALSE(v3(R"({"rocprofiler-sdk-tool": [{"agents": [{"x": )" + std::string(3'000'000, '{')));
}

const std::string counters =
    R"~(Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Arch_VGPR,wave_size,TCC_EA_RDREQ_sum,TCC_EA_RDREQ_32B_sum,TCC_EA_WRREQ_sum,TCC_EA_WRREQ_64B_sum,TCP_TCC_READ_REQ_sum,TCP_TCC_WRITE_REQ_sum,TCP_TOTAL_CACHE_ACCESSES_sum,SQ_INSTS_VALU_ADD_F32,SQ_INSTS_VALU_MUL_F32,SQ_INSTS_VALU_FMA_F32,SQ_INSTS_VALU_TRANS_F32,SQ_INSTS_VALU_MFMA_MOPS_BF16,Start_Timestamp,End_Timestamp
0,"copy(double*, int)",0,1000,256,0,8,64,100,20,50,30,300,200,1000,1,2,3,4,7,1414445656659785,1414445656680105
1,broken
)~";

Result<Trace> compute(const std::string& text) {
  const auto source = open_bytes(text, "pmc_perf.csv");
  return read_rocprof_compute(*source, "pmc_perf.csv");
}

TEST(Rocprof, CountersByTheToolsFormulas) {
  ASSERT_TRUE(looks_like_rocprof_compute(counters));
  const Result<Trace> t = compute(counters);
  ASSERT_TRUE(t) << t.error().line();
  const KernelCounters& c = t->counters.front();
  EXPECT_NEAR(c.duration_s.value_or(0), 20.320e-6, 1e-12);
  EXPECT_EQ(c.dram_bytes, 20 * 32 + 80 * 64 + 30 * 64 + 20 * 32);
  EXPECT_EQ(c.l2_bytes, 64 * 500);
  EXPECT_EQ(c.l1_bytes, 64 * 1000);
  ASSERT_EQ(c.flops.size(), 2U);
  EXPECT_EQ(c.flops[0], (std::pair<std::string, double>("fp32", 64 * (1 + 2 + 4 + 2 * 3))));
  EXPECT_EQ(c.flops[1], (std::pair<std::string, double>("bf16 tensor", 512 * 7)));
  EXPECT_EQ(t->shapes[c.shape].grid[0], 4U);
  // MI300 numbers the interface and counts reads of 128 bytes: of 100 reads 10 are such.
  std::string newer = counters;
  for (std::size_t at = newer.find("TCC_EA_"); at != std::string::npos; at = newer.find("TCC_EA_", at)) {
    newer.replace(at, 7, "TCC_EA0_");
  }
  newer.insert(newer.find(",Start_Timestamp"), ",TCC_BUBBLE_sum");
  newer.insert(newer.find(",1414445656659785"), ",10");
  EXPECT_EQ(compute(newer)->counters.front().dram_bytes, 20 * 32 + 10 * 128 + 70 * 64 + 30 * 64 + 20 * 32);
}

TEST(Rocprof, FilesOfOneWorkloadAreJoined) {
  Result<Trace> roofs = compute("device,HBMBw,HBMBwLow,L2Bw,FP32Flops,MFMAI8Ops\n0,1388.8,1388.2,5018,20942,166390\n");
  Result<Trace> system =
      compute("workload_name,gpu_model,gpu_arch,cu_per_gpu,hbm_bw,hostname\nk,MI200,gfx90a,104,1638.4,h\n");
  ASSERT_TRUE(roofs && system);
  Result<Trace> whole = compute(counters);
  ASSERT_TRUE(whole);
  join_counters(*whole, std::move(*roofs));
  join_counters(*whole, std::move(*system));
  Result<Trace> again = compute(counters);
  join_counters(*whole, std::move(*again));
  EXPECT_EQ(whole->counters.size(), 4U);
  EXPECT_EQ(whole->counters[2].name, whole->counters[0].name);
  ASSERT_EQ(whole->roofs.size(), 1U);
  EXPECT_NEAR(whole->roofs.front().dram_bytes_per_s.value_or(0), 1388.8e9, 1);
  ASSERT_EQ(whole->devices.size(), 1U);
  EXPECT_EQ(whole->devices.front().sm_count, 104);
  EXPECT_FALSE(compute("a,b\n1,2\n"));
}

TEST(Rocprof, SamplesAgreeWithNumbersReadByHand) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/rocprof/";
  if (!is_folder(folder)) GTEST_SKIP() << "the samples under ../shared/data are absent";
  const Result<MappedFile> json = MappedFile::open(folder + "tracelens_908_results.json.gz");
  const Result<MappedFile> pmc = MappedFile::open(folder + "rocprof_compute_mi200_pmc_perf.csv");
  ASSERT_TRUE(json && pmc);
  const Result<Trace> t = v3(std::string(json->text()));
  ASSERT_TRUE(t) << t.error().line();
  EXPECT_EQ(t->gpu.size(), 43915U);  // counted with another JSON reader, as all that follows
  ASSERT_EQ(t->devices.size(), 8U);
  EXPECT_EQ(t->devices.front().name, "AMD Instinct MI350X");
  EXPECT_EQ(t->devices.front().sm_count, 256);
  double sum_s = 0, last_s = 0;
  for (const GpuSpan& span : t->gpu) {
    sum_s += span.duration_s;
    last_s = std::max(last_s, span.start_s + span.duration_s);
  }
  EXPECT_NEAR(sum_s, 4.441741378, 1e-6);
  EXPECT_NEAR(last_s, 15.122023494, 1e-6);  // last end − first start
  EXPECT_TRUE(t->stats.dropped.empty());

  const Result<Trace> c = compute(std::string(pmc->text()));
  ASSERT_TRUE(c) << c.error().line();
  ASSERT_EQ(c->counters.size(), 3U);
  EXPECT_NEAR(c->counters[0].duration_s.value_or(0), 20.32e-6, 1e-12);
  EXPECT_EQ(c->counters[0].dram_bytes, 131083 * 64 + 131072 * 64);
  EXPECT_EQ(c->counters[0].l2_bytes, 64 * (131072 + 131072));
  EXPECT_EQ(c->counters[0].l1_bytes, 64 * 524288);
  EXPECT_EQ(c->shapes[c->counters[0].shape].grid[0], 4096U);
}

TEST(Rocprof, CorpusIsAnswered) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/fuzz/corpus/rocprof/";
  const std::vector<std::string> files = folder_entries(folder);
  ASSERT_GE(files.size(), 5U);
  std::size_t read_ones = 0;
  for (const std::string& file : files) {
    const Result<MappedFile> mapped = MappedFile::open(folder + file);
    ASSERT_TRUE(mapped) << file;
    const std::string text(mapped->text());
    const Result<Trace> t = looks_like_rocprof_compute(text) ? compute(text) : v3(text);
    read_ones += t ? 1 : 0;
    if (!t) {
      EXPECT_EQ(t.error().line().find('\n'), std::string::npos) << file;
    }
  }
  EXPECT_GE(read_ones, 3U);
}

}  // namespace
}  // namespace corridor::profile
