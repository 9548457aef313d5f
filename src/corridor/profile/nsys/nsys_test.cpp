// SPDX-License-Identifier: Apache-2.0
// Nsight Systems: exports made here with SQLite in the shapes of several versions, and hostile ones; kernel summaries.
#include "corridor/profile/nsys/read_nsys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "corridor/base/file.h"

namespace corridor::profile {
namespace {

using ::testing::HasSubstr;

/// The bytes of a database that these statements make.
std::string database(const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << (message ? message : "");
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(db, "main", &size, 0);
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(db);
  return out;
}

// Process 7, thread 9: global ids carry the process above 24 bits.
constexpr std::int64_t process = std::int64_t{7} << 24U, thread = process + 9;

const std::string strings = R"(
  CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
  INSERT INTO StringIds VALUES (1, 'void gemm<float>(T1)'), (2, 'cudaLaunchKernel_v7000'), (3, 'step 1'),
    (4, 'cudaGraphLaunch_v10000');
  CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
  INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.17.2'), ('EXPORT_PARAM_HOST', 'secret-host');
  CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);
  INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Environment', 'TOKEN=secret');
  CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, uuid TEXT, smCount INT, totalMemory INT, memoryBandwidth INT,
    clockRate INT, computeMajor INT, computeMinor INT);
  INSERT INTO TARGET_INFO_GPU VALUES
    (0, 'NVIDIA A100-SXM4-40GB', 'u0', 108, 42298834944, 1555200000000, 1410000000, 8, 0),
    (0, 'NVIDIA A100-SXM4-40GB', 'u0', 108, 42298834944, 1555200000000, 1410000000, 8, 0);
)";

const std::string calls = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, "end" INT, eventClass INT, globalTid INT, correlationId INT,
    nameId INT, returnValue INT);
  INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 3000, 0, )" +
                          std::to_string(thread) + R"(, 11, 2, 0), (5000, 6000, 0, )" + std::to_string(thread) +
                          R"(, 12, 4, 0);
)";

const std::string kernels = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, "end" INT, deviceId INT, contextId INT, streamId INT,
    correlationId INT, globalPid INT, demangledName INT, shortName INT, gridX INT, gridY INT, gridZ INT, blockX INT,
    blockY INT, blockZ INT, graphNodeId INT);
  INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
    (9000, 9500, 0, 1, 7, 12, )" +
                            std::to_string(process) + R"(, 1, 1, 4, 1, 1, 64, 1, 1, 5),
    (4000, 6500, 0, 1, 7, 11, )" +
                            std::to_string(process) + R"(, 1, 1, 4, 2, 1, 128, 1, 1, NULL),
    (9600, 9000, 0, 1, 7, 12, 0, 1, 1, 4, 2, 1, 128, 1, 1, NULL);
)";

const std::string others = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, "end" INT, deviceId INT, streamId INT, correlationId INT,
    globalPid INT, bytes INT, copyKind INT);
  INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (7000, 8000, 0, 8, 99, 0, 4096, 1);
  CREATE TABLE NVTX_EVENTS (start INT, "end" INT, eventType INT, text TEXT, textId INT, globalTid INT);
  INSERT INTO NVTX_EVENTS VALUES (500, 4500, 59, NULL, 3, )" +
                           std::to_string(thread) + R"(), (900, 3500, 59, 'inner', NULL, )" + std::to_string(thread) +
                           R"(), (100, NULL, 59, 'open', NULL, 0), (200, 300, 34, 'mark', NULL, 0);
  CREATE TABLE DIAGNOSTIC_EVENT (timestamp INT, severity INT, text TEXT);
  INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 'Started on secret-host'),
    (2, 2, 'Not all CUDA events might have been collected.');
)";

std::string lost_words(const Trace& trace) {
  std::string all;
  for (const ImportEvent& e : trace.stats.dropped) {
    all += e.what + " (" + std::to_string(e.count) + ") " + e.example + "; ";
  }
  return all;
}

TEST(Nsys, AnExportBecomesATrace) {
  const std::string bytes = database(strings + calls + kernels + others);
  ASSERT_TRUE(looks_like_nsys_sqlite(bytes));
  const Result<Trace> t = read_nsys_sqlite(std::string_view(bytes), "r.sqlite");
  ASSERT_TRUE(t) << t.error().line();
  EXPECT_EQ(t->producer, "export schema 3.17.2");
  ASSERT_EQ(t->devices.size(), 1U);  // one of the two rows
  EXPECT_EQ(t->devices.front().name, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(t->devices.front().memory_bytes_per_s, 1555200000000.0);
  ASSERT_EQ(t->gpu.size(), 3U);  // in order of time: kernel, copy, kernel of a graph
  const GpuSpan &gemm = t->gpu[0], &copy = t->gpu[1], &graph = t->gpu[2];
  EXPECT_NEAR(gemm.start_s, 3.5e-6, 1e-15);  // the first range begins at 500 ns
  EXPECT_NEAR(gemm.duration_s, 2.5e-6, 1e-15);
  EXPECT_EQ(t->names.text(gemm.name), "void gemm<float>(T1)");
  EXPECT_EQ(t->shapes[gemm.shape].grid[1], 2U);
  ASSERT_NE(gemm.launch, none);
  EXPECT_EQ(t->names.text(t->calls[gemm.launch].name), "cudaLaunchKernel");
  ASSERT_NE(gemm.annotation, none);
  EXPECT_EQ(t->names.text(t->annotations[gemm.annotation].name), "inner");
  EXPECT_FALSE(gemm.from_graph);
  EXPECT_EQ(copy.work, GpuWork::copy);
  EXPECT_EQ(copy.bytes, 4096);
  EXPECT_EQ(t->names.text(copy.name), "Memcpy HtoD");
  EXPECT_TRUE(graph.from_graph);
  EXPECT_EQ(graph.annotation, none);
  const std::string lost = lost_words(*t);
  EXPECT_THAT(lost, HasSubstr("kernels without a start or an end (1)"));
  EXPECT_THAT(lost, HasSubstr("events that the profiler says it lost (1) Not all CUDA events"));
  EXPECT_THAT(lost, HasSubstr("never closed (1)"));
  EXPECT_EQ(lost.find("secret"), std::string::npos);
  for (std::uint32_t i = 0; i < t->names.size(); ++i) EXPECT_EQ(t->names.text(i).find("secret"), std::string::npos);
}

TEST(Nsys, MissingTablesAndColumnsAreNoError) {
  const std::string bare = database(
      R"(CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, "end" INT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
         VALUES (10, 20), ('text', 30), (NULL, NULL), (-5, 3);)");
  const Result<Trace> t = read_nsys_sqlite(std::string_view(bare), "r");
  ASSERT_TRUE(t) << t.error().line();
  EXPECT_EQ(t->gpu.size(), 1U);
  EXPECT_THAT(lost_words(*t), HasSubstr("kernels without a start or an end (3)"));
}

TEST(Nsys, GraphsAsAWholeAreNamed) {
  const std::string bytes = database(strings + R"(CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, "end" INT,
    deviceId INT, streamId INT, graphId INT); INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10, 510, 0, 7, 3);)");
  const Result<Trace> t = read_nsys_sqlite(std::string_view(bytes), "r");
  ASSERT_TRUE(t) << t.error().line();
  EXPECT_EQ(t->names.text(t->gpu.front().name), "CUDA graph 3 as a whole");
  EXPECT_THAT(lost_words(*t), HasSubstr("--cuda-graph-trace=node"));
}

TEST(Nsys, WithoutKernelsTheReasonIsOneLine) {
  const auto refusal = [](const std::string& bytes) {
    const Result<Trace> t = read_nsys_sqlite(std::string_view(bytes), "r.sqlite");
    return t ? std::string("read") : t.error().line();
  };
  EXPECT_THAT(refusal(database(strings + calls)), HasSubstr("holds 2 CUDA calls and no kernel; most often the driver"));
  EXPECT_THAT(refusal(database(strings)), HasSubstr("--trace=cuda"));
  EXPECT_THAT(refusal(database("CREATE TABLE t (x);")), HasSubstr("no export of Nsight Systems"));
  EXPECT_THAT(refusal("SQLite format 3"), HasSubstr("is no SQLite database"));
  std::string noise = database(strings + calls + kernels).substr(0, 100) + std::string(5000, 'x');
  EXPECT_THAT(refusal(noise), HasSubstr("r.sqlite"));
}

TEST(Nsys, DoorsOfAFileStayShut) {
  // A view, a virtual table and a generated column in place of what is looked for: none of them runs.
  const std::string view = database(strings + R"(CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
    WITH RECURSIVE n(start, "end") AS (SELECT 1, 2 UNION ALL SELECT start + 1, start + 2 FROM n) SELECT * FROM n;)");
  EXPECT_FALSE(read_nsys_sqlite(std::string_view(view), "r"));
  const std::string column = database(strings + R"(CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, "end" INT
    GENERATED ALWAYS AS (length(zeroblob(900000000)))); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start) VALUES (1);)");
  EXPECT_FALSE(read_nsys_sqlite(std::string_view(column), "r"));
}

TEST(Nsys, DamagedAndCutExportsEnd) {
  std::string many = strings + calls + kernels + "BEGIN;";
  for (int i = 0; i < 2000; ++i) {
    many += "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", demangledName) VALUES (" +
            std::to_string(10'000 + i * 10) + "," + std::to_string(10'005 + i * 10) + ",1);";
  }
  const std::string whole = database(many + "COMMIT;");
  ASSERT_TRUE(read_nsys_sqlite(std::string_view(whole), "r"));
  std::size_t partial = 0;
  for (std::size_t cut = 0; cut < whole.size(); cut += 4096) {
    const std::string piece = whole.substr(0, cut + 100);
    const Result<Trace> t = read_nsys_sqlite(std::string_view(piece), "r");
    partial += t && t->gpu.size() < 2002 ? 1 : 0;
    if (!t) {
      EXPECT_EQ(t.error().line().find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(partial, 0U);
  std::string wal = whole;  // marked as in write-ahead mode
  wal[18] = wal[19] = 2;
  EXPECT_TRUE(read_nsys_sqlite(std::string_view(wal), "r"));
}

const std::string summary =
    "Processing [r.sqlite] with [cuda_gpu_kern_sum.py]...\n\n ** CUDA GPU Kernel Summary "
    "(cuda_gpu_kern_sum):\n\n";

Result<Trace> stats(const std::string& text) {
  const auto source = open_bytes(text, "stats.csv");
  return read_nsys_stats(*source, "stats.csv");
}

TEST(Nsys, SummariesOfEveryAge) {
  const std::string newer = summary +
                            "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev "
                            "(ns),Name\n75.0,\"3,000,000\",6,1,1,1,1,1,\"void f<int, \"\"x\"\">(T1, "
                            "T2)\"\n25.0,1000000,4,1,1,1,1,1,g\n\nProcessing [r.sqlite]\nTime (%),Total Time (ns),Num "
                            "Calls,Name\n50,5,5,cudaLaunchKernel\n";
  ASSERT_TRUE(looks_like_nsys_stats(newer));
  const Result<Trace> t = stats(newer);
  ASSERT_TRUE(t) << t.error().line();
  ASSERT_EQ(t->counters.size(), 2U);
  EXPECT_EQ(t->names.text(t->counters[0].name), R"(void f<int, "x">(T1, T2))");
  EXPECT_NEAR(t->counters[0].duration_s.value_or(0), 3e-3, 1e-12);
  EXPECT_EQ(t->counters[0].launches, 6);
  const Result<Trace> old = stats(
      "Time(%),Total Time (us),Instances,Average,Minimum,Maximum,GridXYZ,BlockXYZ,Name\n"
      "100,3000,6,1,1,1,  16    2    1, 128    1    1,f\n");
  ASSERT_TRUE(old) << old.error().line();
  EXPECT_NEAR(old->counters[0].duration_s.value_or(0), 3e-3, 1e-12);
  EXPECT_EQ(old->shapes[old->counters[0].shape].grid[1], 2U);
  const std::string skipped = "SKIPPED: r.sqlite does not contain CUDA kernel data.\n";
  ASSERT_TRUE(looks_like_nsys_stats(skipped));
  EXPECT_THAT(stats(skipped).error().line(), HasSubstr("driver is newer"));
  EXPECT_THAT(stats("Time (%),Total Time (ns),Instances,Name\n").error().line(), HasSubstr("no row"));
}

TEST(Nsys, EachKernelOfAGpuTraceWithItsStart) {
  const std::string head = " ** CUDA GPU Trace (cuda_gpu_trace):\n\n";
  const std::string table =
      "Start (us),Duration (ms),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Bytes (MB),Device,Ctx,Strm,Name\n"
      "\"1,030.5\",0.02,2,4,2,1,128,1,1,,NVIDIA A100 (1),1,7,\"gemm<a, b>\"\n"
      "1000,0.01,1,,,,,,,2.5,NVIDIA A100 (1),1,8,[CUDA memcpy HtoD]\n"
      "x,1,2,4,2,1,128,1,1,,NVIDIA A100 (1),1,7,damaged\n";
  ASSERT_TRUE(looks_like_nsys_gpu_trace(summary + "Time (%),Total Time (ns),Instances,Name\n\n" + head + table));
  EXPECT_FALSE(looks_like_nsys_gpu_trace(summary));
  const std::string text = head + table + "\n" + table;
  const auto source = open_bytes(text, "trace.csv");
  const Result<Trace> t = read_nsys_gpu_trace(*source, "trace.csv");
  ASSERT_TRUE(t) << t.error().line();
  ASSERT_EQ(t->gpu.size(), 2U);
  EXPECT_EQ(t->names.text(t->gpu[0].name), "Memcpy HtoD");
  EXPECT_EQ(t->gpu[0].work, GpuWork::copy);
  EXPECT_EQ(t->gpu[0].start_s, 0);
  EXPECT_EQ(t->gpu[0].bytes, 2.5e6);
  EXPECT_NEAR(t->gpu[1].start_s, 30.5e-6, 1e-12);
  EXPECT_NEAR(t->gpu[1].duration_s, 20e-6, 1e-12);
  EXPECT_EQ(t->shapes[t->gpu[1].shape].grid[1], 2U);
  ASSERT_EQ(t->devices.size(), 1U);
  EXPECT_EQ(t->devices[0].name, "NVIDIA A100");
  EXPECT_EQ(t->devices[0].id, t->gpu[1].device);
  EXPECT_THAT(lost_words(*t), HasSubstr("rows without a name, a start or a duration (1) damaged"));
  EXPECT_THAT(lost_words(*t), HasSubstr("further GPU traces"));
  const std::string header = table.substr(0, table.find('\n') + 1);
  const auto none_left = open_bytes(header, "trace.csv");
  EXPECT_THAT(read_nsys_gpu_trace(*none_left, "trace.csv").error().line(), HasSubstr("no row of a GPU trace"));
}

TEST(Nsys, MetersOfTheChipAreSamplesOfTheirGpu) {
  // GPU 3 of the machine is device 0 of the process; the rows of 7000 ns come apart, one value is impossible.
  const std::string meters = R"(
    CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT); INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0);
    UPDATE TARGET_INFO_GPU SET id = 3;
    CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INT, metricId INT, metricName TEXT);
    INSERT INTO TARGET_INFO_GPU_METRICS VALUES (259, 1, 'DRAM Read Bandwidth [Throughput %]'),
      (259, 2, 'Tensor Active [Throughput %]'), (259, 3, 'GPC Clock Frequency [MHz]');
    CREATE TABLE GPU_METRICS (timestamp INT, typeId INT, metricId INT, value INT);
    INSERT INTO GPU_METRICS VALUES (7000, 259, 1, 40), (5000, 259, 1, 20), (5000, 259, 2, 90), (5000, 259, 3, 1410000000),
      (7000, 259, 2, 10), (9000, 259, 1, 101), (9000, 260, 1, 5);)";
  const std::string bytes = database(strings + calls + kernels + meters);
  const Result<Trace> t = read_nsys_sqlite(std::string_view(bytes), "r");
  ASSERT_TRUE(t) << t.error().line();
  ASSERT_EQ(t->meters.size(), 1U);
  EXPECT_EQ(t->meters[0].device, 0);
  const std::vector<MeterSample>& samples = t->meters[0].samples;
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_NEAR(samples[0].at_s, 4e-6, 1e-15);  // the first call begins at 1000 ns
  const auto share = [&](std::size_t i, Meter m) { return samples[i].share[static_cast<std::size_t>(m)]; };
  EXPECT_FLOAT_EQ(share(0, Meter::dram_read), 0.2F);
  EXPECT_FLOAT_EQ(share(0, Meter::tensor), 0.9F);
  EXPECT_FLOAT_EQ(share(1, Meter::dram_read), 0.4F);
  EXPECT_FLOAT_EQ(share(1, Meter::tensor), 0.1F);
  EXPECT_LT(share(1, Meter::dram_write), 0);
  EXPECT_THAT(lost_words(*t), HasSubstr("outside 0 to 100 % (1)"));
}

TEST(Nsys, CorpusIsAnswered) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/fuzz/corpus/nsys/";
  const std::vector<std::string> files = folder_entries(folder);
  ASSERT_GE(files.size(), 5U);
  std::size_t read_ones = 0;
  for (const std::string& file : files) {
    const Result<MappedFile> mapped = MappedFile::open(folder + file);
    ASSERT_TRUE(mapped) << file;
    const auto source = open_bytes(mapped->text(), file);
    const Result<Trace> t = looks_like_nsys_sqlite(mapped->text())      ? read_nsys_sqlite(mapped->text(), file)
                            : looks_like_nsys_gpu_trace(mapped->text()) ? read_nsys_gpu_trace(*source, file)
                                                                        : read_nsys_stats(*source, file);
    read_ones += t ? 1 : 0;
    if (!t) {
      EXPECT_EQ(t.error().line().find('\n'), std::string::npos) << file;
    }
  }
  EXPECT_GE(read_ones, 3U);
}

}  // namespace
}  // namespace corridor::profile
