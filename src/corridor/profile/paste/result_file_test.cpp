// SPDX-License-Identifier: Apache-2.0
// Saved result files of every tool, whole, cut off and damaged; and what a file is, by its content.
#include "corridor/profile/paste/result_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "corridor/base/file.h"
#include "corridor/profile/file_kind.h"
#include "corridor/profile/paste/json_scan.h"

namespace corridor::profile {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

auto about(double x) {
  return Optional(DoubleNear(x, 1e-9 * x));
}

Result<PastedRun> read_results(std::string_view bytes, std::size_t most = std::size_t{1} << 30U) {
  const auto source = open_bytes(bytes, "file", most);
  return read_result_file(*source, "file");
}

PastedRun results_of(std::string_view bytes) {
  const auto run = read_results(bytes);
  EXPECT_TRUE(run) << (run ? "" : run.error().line());
  return run.value_or(PastedRun{});
}

std::string file_text(const std::string& path) {
  const auto text = read_text_file(CORRIDOR_SOURCE_DIR + path);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

TEST(JsonScan, ScalarsByPathInAnyPieces) {
  const std::string text =
      R"( {"a": {"b": [{"x": 9}, 2], "c": -1}, "d": ["first", "second"], "e": true, "f": NaN, "g": 1.5e2, )"
      R"("h": "\u00e9\n\"q\"", "k": {}, "l": []} tail)";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
    JsonScan scan;
    std::size_t taken = 0;
    for (std::size_t at = 0; at < text.size() && taken == at; at += piece)
      taken += scan.feed(std::string_view(text).substr(at, piece));
    EXPECT_EQ(scan.state(), JsonScan::State::closed) << piece;
    EXPECT_EQ(text.substr(taken), " tail") << piece;
    const RecordFields& f = scan.fields();
    EXPECT_EQ(f.numbers, (std::map<std::string, double>{{"g", 150}})) << "no negative number, no NaN, no list";
    EXPECT_EQ(f.texts.at("d[0]"), "first");
    EXPECT_EQ(f.texts.at("h"), "\u00e9 \"q\"");
    EXPECT_EQ(f.truths.at("e"), true);
    EXPECT_EQ(f.lists.at("a.b"), 2U);
  }
}

TEST(JsonScan, WhatIsNoJsonBreaksAndDepthIsBounded) {
  for (const std::string text : {"[1]", "{a: 1}", "{\"a\" 1}", "{\"a\": }", "{\"a\": 1 \"b\"}", "{\"a\": 1]",
                                 "{\"a\n\"", "{\"a\": 1..2}", "{\"a\": \"\\uZZZZ\"}", "{,}"}) {
    JsonScan scan;
    scan.feed(text);
    EXPECT_EQ(scan.state(), JsonScan::State::broken) << text;
  }
  JsonScan deep;
  deep.feed("{\"a\":" + std::string(1000000, '['));
  EXPECT_EQ(deep.state(), JsonScan::State::broken);
}

TEST(ResultFile, VllmWithListsAndTheKeyWithAColon) {
  const PastedRun run = results_of(file_text("/tests/fixtures/results/vllm_serve.json"));
  ASSERT_EQ(run.results.size(), 1U);
  const ResultBlock& r = run.results[0];
  EXPECT_EQ(r.kind, ResultKind::vllm_bench_serve);
  EXPECT_THAT(r.goodput_per_s, about(1.9));
  EXPECT_TRUE(r.request_rate_unlimited);
  EXPECT_THAT(r.tpot_s.mean, about(0.0098)) << "it stands behind the lists";
  EXPECT_THAT(run.notes, Contains(AllOf(HasSubstr("generated_texts"), HasSubstr("left out"))));
  for (const auto* lines : {&run.notes, &run.understood, &run.ignored})
    EXPECT_THAT(*lines, Not(Contains(HasSubstr("private"))));
}

TEST(ResultFile, LlamaBenchInEveryForm) {
  const PastedRun jsonl = results_of(file_text("/tests/fixtures/results/llama_bench_ladder.jsonl"));
  ASSERT_EQ(jsonl.results.size(), 4U);
  EXPECT_EQ(jsonl.results[2].depth, 8192);
  EXPECT_EQ(jsonl.results[2].line, 3U);
  EXPECT_EQ(jsonl.results[1].test, "pp512");
  const PastedRun csv = results_of(file_text("/fuzz/corpus/results/llama_csv"));
  ASSERT_EQ(csv.results.size(), 1U);
  EXPECT_THAT(csv.results[0].decode_tok_s, about(130.5));
  EXPECT_EQ(csv.results[0].model, "llama 7B \"Q4_0\"");
  EXPECT_THAT(csv.results[0].flash_attention, Optional(true));
  const PastedRun sql = results_of(file_text("/fuzz/corpus/results/llama_sql"));
  ASSERT_EQ(sql.results.size(), 1U);
  EXPECT_THAT(sql.results[0].prefill_tok_s, about(5120.25));
  EXPECT_EQ(sql.results[0].backend, "cuda") << "before the column backends";
  EXPECT_EQ(sql.results[0].kv_cache_dtype, "f16");
}

TEST(ResultFile, BatchedBenchAndARecordThatIsCutOff) {
  const PastedRun run = results_of(file_text("/fuzz/corpus/results/batched_cut"));
  ASSERT_EQ(run.results.size(), 2U);
  EXPECT_EQ(run.results[0].kind, ResultKind::llama_batched_bench);
  EXPECT_THAT(run.results[0].batch, about(4));
  EXPECT_THAT(run.results[0].batch_decode_tok_s, about(80));
  EXPECT_THAT(run.results[1].batch_decode_tok_s, about(150));
  EXPECT_THAT(run.notes, Contains(HasSubstr("ends inside the record at line 3")));
}

TEST(ResultFile, OfAiperfTheUnitCounts) {
  const PastedRun run = results_of(file_text("/fuzz/corpus/results/aiperf"));
  ASSERT_EQ(run.results.size(), 1U);
  EXPECT_THAT(run.results[0].ttft_s.mean, about(0.05));
  EXPECT_THAT(run.results[0].tpot_s.mean, about(0.008));
  EXPECT_EQ(run.results[0].model, "Qwen/Qwen3-8B");
  EXPECT_THAT(run.results[0].max_concurrency, about(16));
}

TEST(ResultFile, LatencySglangAndTrtllm) {
  const PastedRun run = results_of(
      "{\"avg_latency\": 2.5, \"latencies\": [2.4, 2.6], \"percentiles\": {\"50\": 2.4, \"99\": 2.6}}\n"
      "{\"backend\": \"sglang\", \"request_rate\": Infinity, \"duration\": 4, \"completed\": 8, "
      "\"request_throughput\": "
      "2, \"output_throughput\": 250, \"mean_e2e_latency_ms\": 900, \"accept_length\": 2.1, \"server_info\": "
      "{\"tp_size\": 4}}\n{\"engine\": {\"model\": \"m\", \"quantization\": \"FP8\"}, \"machine\": {\"name\": "
      "\"H200\"}, "
      "\"world_info\": {\"tp_size\": 2, \"max_num_tokens\": 8192}, \"performance\": {\"request_throughput_req_s\": "
      "3}}\n");
  ASSERT_EQ(run.results.size(), 3U);
  EXPECT_EQ(run.results[0].kind, ResultKind::vllm_bench_latency);
  EXPECT_THAT(run.results[0].e2e_s.p99, about(2.6));
  EXPECT_EQ(run.results[1].kind, ResultKind::sglang_bench_serving);
  EXPECT_THAT(run.results[1].tp, Optional(4));
  EXPECT_THAT(run.results[2].max_num_batched_tokens, Optional(8192));
  EXPECT_EQ(run.results[2].gpu, "H200");
}

TEST(ResultFile, DamagedLinesAreCountedAndTheRestIsRead) {
  const std::string good = file_text("/tests/fixtures/results/llama_bench_ladder.jsonl");
  const std::string line = good.substr(0, good.find('\n') + 1);
  const PastedRun run = results_of(line + line.substr(0, 90) + "\n" + "noise {\"x\": 1} }\n" + line);
  EXPECT_EQ(run.results.size(), 2U);
  EXPECT_THAT(run.notes, Contains(HasSubstr("1 damaged record")));
  EXPECT_THAT(run.notes, Contains(HasSubstr("1 records are no results")));
  EXPECT_FALSE(read_results(""));
  EXPECT_FALSE(read_results("{\"x\": 1}"));
}

TEST(ResultFile, APackedBombStopsAtItsBound) {
  std::string packed;
  z_stream z{};
  ASSERT_EQ(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string head = "{\"a\": \"" + std::string(std::size_t{1} << 20U, ' ');
  std::string out(std::size_t{1} << 20U, '\0');
  for (int block = 0; block < 24; ++block) {
    z.next_in = reinterpret_cast<Bytef*>(head.data());
    z.avail_in = static_cast<uInt>(head.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    ASSERT_NE(deflate(&z, block == 23 ? Z_FINISH : Z_NO_FLUSH), Z_STREAM_ERROR);
    packed.append(out.data(), out.size() - z.avail_out);
    if (block == 0) head.assign(head.size(), ' ');
  }
  deflateEnd(&z);
  const auto run = read_results(packed, std::size_t{8} << 20U);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().line(), HasSubstr("file"));
}

TEST(ResultFile, EveryBeginningOfEverySampleIsAnswered) {
  std::vector<std::string> texts;
  const std::string corpus = CORRIDOR_SOURCE_DIR "/fuzz/corpus/results";
  for (const std::string& file : folder_entries(corpus))
    texts.push_back(read_text_file(corpus + "/" + file).value_or(""));
  ASSERT_GE(texts.size(), 6U);
  const std::string shared = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/";
  for (const char* folder : {"vllm_bench", "llama_bench"}) {
    for (const std::string& file : folder_entries(shared + folder))
      texts.push_back(read_text_file(shared + folder + "/" + file).value_or(""));
  }
  for (const std::string& text : texts) {
    (void)read_results(text);
    for (std::size_t cut = 0; cut < text.size(); cut += 1 + text.size() / 16) {
      const auto run = read_results(std::string_view(text).substr(0, cut));
      EXPECT_FALSE(run && run->results.empty());
      EXPECT_THAT(run ? "" : run.error().line(), Not(HasSubstr("\n")));
    }
  }
}

TEST(FileKind, ByContent) {
  const std::pair<std::string_view, FileKind> cases[] = {
      {"{\"schemaVersion\": 1, \"traceEvents\": [", FileKind::kineto},
      {"==PROF== Connected\n\"ID\",\"Process ID\",\"Kernel Name\"\n", FileKind::ncu_csv},
      {std::string_view("SQLite format 3\0", 16), FileKind::nsys_sqlite},
      {"\nTime (%),Total Time (ns),Instances,Name\n", FileKind::nsys_stats_csv},
      {"\nStart (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Name\n", FileKind::nsys_trace_csv},
      {"{\"rocprofiler-sdk-tool\": [", FileKind::rocprofv3_json},
      {"Dispatch_ID,GPU_ID,Kernel_Name,SQ_WAVES\n", FileKind::rocprof_compute_csv},
      {"{\"avg_ts\": 1, \"n_gen\": 128, \"model_type\": \"llama\", ", FileKind::results},
      {"# TYPE vllm:x gauge\nvllm:x 1\n", FileKind::metrics},
      {"GGUF\3\0\0\0", FileKind::model},
      {"{\"architectures\": [\"LlamaForCausalLM\"]}", FileKind::model},
      {"vllm serve Qwen/Qwen3-8B\n", FileKind::text},
      {"", FileKind::text}};
  for (const auto& [head, kind] : cases) EXPECT_EQ(kind_of(head), kind) << head;
  EXPECT_EQ(file_kind_from("metrics"), FileKind::metrics);
  EXPECT_FALSE(file_kind_from("model"));
  EXPECT_EQ(file_kind_from(name(FileKind::ncu_csv)), FileKind::ncu_csv);
}

}  // namespace
}  // namespace corridor::profile
