// SPDX-License-Identifier: Apache-2.0
// Result blocks of every tool: each figure in SI and under its own definition. All numbers are invented.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/base/file.h"
#include "corridor/profile/paste/pasted_run.h"

namespace corridor::profile {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

auto about(double value) {
  return Optional(DoubleNear(value, 1e-9 * (1 + value)));
}

ResultBlock only_result(std::string_view text) {
  const PastedRun run = read_paste(text);
  EXPECT_EQ(run.results.size(), 1U) << text;
  return run.results.empty() ? ResultBlock{} : run.results.front();
}

const std::string vllm_block =
    "============ Serving Benchmark Result ============\n"
    "Successful requests:                     300       \n"
    "Failed requests:                         2         \n"
    "Maximum request concurrency:             32        \n"
    "Request rate configured (RPS):           12.50     \n"
    "Benchmark duration (s):                  41.50     \n"
    "Total input tokens:                      61,440    \n"
    "Total generated tokens:                  30720     \n"
    "Request throughput (req/s):              7.25      \n"
    "Output token throughput (tok/s):         740.25    \n"
    "Peak output token throughput (tok/s):    812.00    \n"
    "Total Token throughput (tok/s):          2220.75   \n"
    "---------------Time to First Token----------------\n"
    "Mean TTFT (ms):                          150.50    \n"
    "Median TTFT (ms):                        140.25    \n"
    "P99 TTFT (ms):                           900.00    \n"
    "-----Time per Output Token (excl. 1st token)------\n"
    "Mean TPOT (ms):                          20.50     \n"
    "Median TPOT (ms):                        20.00     \n"
    "P99 TPOT (ms):                           25.00     \n"
    "---------------Inter-token Latency----------------\n"
    "Mean ITL (ms):                           60.75     \n"
    "Median ITL (ms):                         59.00     \n"
    "P99 ITL (ms):                            80.00     \n"
    "----------------End-to-end Latency----------------\n"
    "Mean E2EL (ms):                          2200.00   \n"
    "==================================================\n";

void expect_vllm_block(const ResultBlock& r) {
  EXPECT_EQ(r.kind, ResultKind::vllm_bench_serve);
  EXPECT_THAT(r.completed, about(300));
  EXPECT_THAT(r.failed, about(2));
  EXPECT_THAT(r.max_concurrency, about(32));
  EXPECT_THAT(r.request_rate, about(12.5));
  EXPECT_THAT(r.duration_s, about(41.5));
  EXPECT_THAT(r.input_tokens, about(61440));
  EXPECT_THAT(r.output_tokens, about(30720));
  EXPECT_THAT(r.request_per_s, about(7.25));
  EXPECT_THAT(r.output_tok_s, about(740.25));
  EXPECT_THAT(r.peak_output_tok_s, about(812));
  EXPECT_THAT(r.total_tok_s, about(2220.75));
  EXPECT_THAT(r.ttft_s.mean, about(0.1505));
  EXPECT_THAT(r.ttft_s.median, about(0.14025));
  EXPECT_THAT(r.ttft_s.p99, about(0.9));
  EXPECT_THAT(r.tpot_s.mean, about(0.0205));
  EXPECT_THAT(r.tpot_s.p99, about(0.025));
  EXPECT_THAT(r.itl_s.mean, about(0.06075)) << "three tokens a chunk: ITL is not TPOT";
  EXPECT_THAT(r.e2e_s.mean, about(2.2));
  EXPECT_FALSE(r.concurrency) << "the bound is not the measured concurrency";
}

TEST(VllmServeResult, EveryLine) {
  const PastedRun run = read_paste(vllm_block);
  ASSERT_EQ(run.results.size(), 1U);
  expect_vllm_block(run.results[0]);
  EXPECT_THAT(run.ignored, IsEmpty());
  ASSERT_EQ(run.understood.size(), 1U);
  EXPECT_THAT(run.understood[0], ::testing::StartsWith("vllm bench serve result: TTFT mean"));
  EXPECT_THAT(run.understood[0], HasSubstr("failed 2, input tokens 61440"));
  EXPECT_THAT(run.understood[0], HasSubstr("p99 900 ms, TPOT mean 20.5 ms, median 20.0 ms"));
}

TEST(VllmServeResult, SurvivesWindowsLinesColoursBomQuotesAndALostTitle) {
  std::string windows = "\xEF\xBB\xBF";
  std::string colours, quoted;
  std::string rest = vllm_block;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string line = rest.substr(0, end);
    windows += line + "\r\n";
    colours += "\x1b[1;32m" + line + "\x1b[0m\n";
    quoted += "> " + line + "\n";
    rest.erase(0, end + 1);
  }
  std::string utf16 = "\xFF\xFE";
  for (const char c : vllm_block) utf16 += std::string{c, '\0'};
  for (const std::string& text : {windows, colours, quoted, utf16, vllm_block.substr(vllm_block.find('\n') + 1)}) {
    expect_vllm_block(only_result(text));
  }
}

TEST(VllmServeResult, ATruncatedBlockGivesWhatItHas) {
  const ResultBlock r = only_result(vllm_block.substr(0, vllm_block.find("P99 TPOT") + 12));
  EXPECT_THAT(r.tpot_s.mean, about(0.0205));
  EXPECT_FALSE(r.tpot_s.p99);
  EXPECT_FALSE(r.itl_s.stated());
}

TEST(VllmServeResult, NoNumberIsNeverGuessed) {
  const PastedRun run = read_paste(
      "============ Serving Benchmark Result ============\n"
      "Successful requests: 5\nMean TTFT (ms): nan\nMean TPOT (ms): -3\nMedian TPOT (ms): 1e300\nP99 TPOT (ms): 12 or "
      "so\n");
  ASSERT_EQ(run.results.size(), 1U);
  EXPECT_FALSE(run.results[0].ttft_s.stated());
  EXPECT_FALSE(run.results[0].tpot_s.stated());
  EXPECT_EQ(run.ignored.size(), 4U);
}

TEST(VllmServeResult, TheLastOfTwoFiguresIsKeptAndSaid) {
  const PastedRun run = read_paste("Mean TTFT (ms): 10\nMean TTFT (ms): 20\n");
  ASSERT_EQ(run.results.size(), 1U);
  EXPECT_THAT(run.results[0].ttft_s.mean, about(0.02));
  EXPECT_THAT(run.notes, Contains(HasSubstr("given twice")));
}

TEST(VllmOfflineResults, ThroughputAndLatency) {
  const ResultBlock throughput = only_result(
      "Throughput: 6.50 requests/s, 3328.00 total tokens/s, 1664.50 output tokens/s\n"
      "Total num prompt tokens:  25600\nTotal num output tokens:  25610\n");
  EXPECT_EQ(throughput.kind, ResultKind::vllm_bench_throughput);
  EXPECT_THAT(throughput.request_per_s, about(6.5));
  EXPECT_THAT(throughput.total_tok_s, about(3328));
  EXPECT_THAT(throughput.output_tok_s, about(1664.5));
  EXPECT_THAT(throughput.output_tokens, about(25610));
  const ResultBlock latency = only_result(
      "Avg latency: 2.5 seconds\n10% percentile latency: 2.25 seconds\n50% percentile latency: 2.5 seconds\n"
      "99% percentile latency: 2.75 seconds\n");
  EXPECT_EQ(latency.kind, ResultKind::vllm_bench_latency);
  EXPECT_THAT(latency.e2e_s.mean, about(2.5));
  EXPECT_THAT(latency.e2e_s.p99, about(2.75));
}

TEST(SglangResult, EveryLine) {
  const ResultBlock r = only_result(
      "============ Serving Benchmark Result ============\n"
      "Backend:                                 sglang    \n"
      "Traffic request rate:                    inf       \n"
      "Max request concurrency:                 not set   \n"
      "Successful requests:                     64        \n"
      "Benchmark duration (s):                  10.00     \n"
      "Total input tokens:                      32768     \n"
      "Total generated tokens:                  16384     \n"
      "Total generated tokens (retokenized):    16380     \n"
      "Request throughput (req/s):              6.40      \n"
      "Input token throughput (tok/s):          3276.80   \n"
      "Output token throughput (tok/s):         1638.40   \n"
      "Total token throughput (tok/s):          4915.20   \n"
      "Concurrency:                             30.50     \n"
      "Accept length:                           2.75      \n"
      "----------------End-to-End Latency----------------\n"
      "Mean E2E Latency (ms):                   4500.00   \n"
      "---------------Inter-Token Latency----------------\n"
      "P95 ITL (ms):                            33.00     \n"
      "==================================================\n");
  EXPECT_EQ(r.kind, ResultKind::sglang_bench_serving);
  EXPECT_TRUE(r.request_rate_unlimited);
  EXPECT_FALSE(r.max_concurrency);
  EXPECT_THAT(r.output_tokens, about(16384));
  EXPECT_THAT(r.input_tok_s, about(3276.8));
  EXPECT_THAT(r.concurrency, about(30.5));
  EXPECT_THAT(r.accept_length, about(2.75));
  EXPECT_THAT(r.e2e_s.mean, about(4.5));
  EXPECT_THAT(r.itl_s.p95, about(0.033));
}

TEST(LlamaBenchResult, OneBlockARow) {
  const PastedRun run = read_paste(
      "| model                          |       size |     params | backend    | ngl | fa |            test |          "
      "        t/s |\n"
      "| ------------------------------ | ---------: | ---------: | ---------- | --: | -: | --------------: | "
      "-------------------: |\n"
      "| llama 9B Q4_K - Medium         |   5.00 GiB |     9.10 B | CUDA       |  99 |  1 |           pp512 |      "
      "2500.50 \u00B1 30.25 |\n"
      "| llama 9B Q4_K - Medium         |   5.00 GiB |     9.10 B | CUDA       |  99 |  1 |   tg128 @ d4096 |         "
      "80.25 \u00B1 0.50 |\n"
      "| llama 9B Q4_K - Medium         |   5.00 GiB |     9.10 B | CUDA       |  99 |  0 |     pp512+tg128 |        "
      "300.00 \u00B1 1.00 |\n"
      "\nbuild: 0123abcd (7000)\n");
  ASSERT_EQ(run.results.size(), 3U);
  const ResultBlock& prompt = run.results[0];
  EXPECT_EQ(prompt.kind, ResultKind::llama_bench);
  EXPECT_THAT(prompt.model, Optional(std::string("llama 9B Q4_K - Medium")));
  EXPECT_THAT(prompt.model_bytes, about(5.0 * 1024 * 1024 * 1024));
  EXPECT_THAT(prompt.parameters, about(9.1e9));
  EXPECT_THAT(prompt.backend, Optional(std::string("CUDA")));
  EXPECT_THAT(prompt.gpu_layers, Optional(99));
  EXPECT_THAT(prompt.flash_attention, Optional(true));
  EXPECT_THAT(prompt.prefill_tok_s, about(2500.5));
  EXPECT_THAT(prompt.tok_s_stddev, about(30.25));
  EXPECT_THAT(prompt.prompt_tokens, Optional(512));
  EXPECT_FALSE(prompt.decode_tok_s);
  EXPECT_THAT(run.results[1].decode_tok_s, about(80.25));
  EXPECT_THAT(run.results[1].depth, Optional(4096));
  EXPECT_THAT(run.results[2].total_tok_s, about(300)) << "both phases over both times";
}

TEST(LlamaBenchResult, ARowWithoutItsHead) {
  const ResultBlock r =
      only_result("| big 30B Q8_0 | 30.00 GiB | 30.50 B | Vulkan | 99 | tg 32 | 12.50 \u00B1 0.10 |\n");
  EXPECT_THAT(r.decode_tok_s, about(12.5));
  EXPECT_THAT(r.parameters, about(30.5e9));
  EXPECT_FALSE(r.gpu_layers) << "an unnamed column is not guessed";
}

TEST(TrtllmResult, TheReport) {
  const ResultBlock r = only_result(
      "===========================================================\n= PYTORCH BACKEND\n"
      "===========================================================\n"
      "Model:\t\t\tacme/L-8B\nDtype:\t\t\tbfloat16\nKV Cache Dtype:\t\tFP8\nQuantization:\t\tFP8\n"
      "===========================================================\n= REQUEST DETAILS\n"
      "===========================================================\n"
      "Number of requests:             1000\nNumber of concurrent requests:  400.5\n"
      "Average Input Length (tokens):  128.0000\nAverage Output Length (tokens): 64.0000\n"
      "===========================================================\n= WORLD + RUNTIME INFORMATION\n"
      "===========================================================\n"
      "TP Size:                2\nPP Size:                1\nMax Runtime Batch Size: 512\n"
      "===========================================================\n= PERFORMANCE OVERVIEW\n"
      "===========================================================\n"
      "Request Throughput (req/sec):                     50.5\n"
      "Total Output Throughput (tokens/sec):             3232.0\n"
      "Per User Output Throughput (tokens/sec/user):     8.25\n"
      "Per GPU Output Throughput (tokens/sec/gpu):       1616.0\n"
      "Total Latency (ms):                               19800.0\n"
      "Average time-to-first-token [TTFT] (ms):          250.0\n"
      "Average time-per-output-token [TPOT] (ms):        15.0\n"
      "-- Time-to-First-Token [TTFT] Breakdown (ms)\n\n[TTFT] MINIMUM: 20.0\n[TTFT] P99    : 800.0\n");
  EXPECT_EQ(r.kind, ResultKind::trtllm_bench);
  EXPECT_THAT(r.model, Optional(std::string("acme/L-8B")));
  EXPECT_THAT(r.quantization, Optional(std::string("FP8")));
  EXPECT_THAT(r.tp, Optional(2));
  EXPECT_THAT(r.max_num_seqs, Optional(512));
  EXPECT_THAT(r.concurrency, about(400.5));
  EXPECT_THAT(r.mean_output_len, about(64));
  EXPECT_THAT(r.output_tok_s, about(3232));
  EXPECT_THAT(r.per_user_tok_s, about(8.25));
  EXPECT_THAT(r.per_gpu_tok_s, about(1616));
  EXPECT_THAT(r.duration_s, about(19.8));
  EXPECT_THAT(r.ttft_s.mean, about(0.25));
  EXPECT_THAT(r.ttft_s.p99, about(0.8));
  EXPECT_THAT(r.tpot_s.mean, about(0.015));
}

TEST(OllamaResult, Verbose) {
  const ResultBlock r = only_result(
      "total duration:       1m2.5s\nload duration:        250ms\nprompt eval count:    26 token(s)\n"
      "prompt eval duration: 130ms\nprompt eval rate:     200.00 tokens/s\neval count:           290 token(s)\n"
      "eval duration:        4s\neval rate:            72.50 tokens/s\n");
  EXPECT_EQ(r.kind, ResultKind::ollama_verbose);
  EXPECT_THAT(r.duration_s, about(62.5));
  EXPECT_THAT(r.load_s, about(0.25));
  EXPECT_THAT(r.input_tokens, about(26));
  EXPECT_THAT(r.prefill_s, about(0.13));
  EXPECT_THAT(r.prefill_tok_s, about(200));
  EXPECT_THAT(r.output_tokens, about(290));
  EXPECT_THAT(r.decode_s, about(4));
  EXPECT_THAT(r.decode_tok_s, about(72.5));
}

TEST(AiperfResult, TableWithBoxLinesAndWrappedNames) {
  const PastedRun run = read_paste(
      "\u250F\u2501\u2501\u2533\u2501\u2501\u2513\n"
      "\u2503 Metric \u2503 avg \u2503 min \u2503 max \u2503 p99 \u2503 p90 \u2503 p75 \u2503 std \u2503\n"
      "\u2521\u2501\u2501\u2547\u2501\u2501\u2529\n"
      "\u2502 Time to First Token (ms) \u2502 50.5 \u2502 40.0 \u2502 70.0 \u2502 69.0 \u2502 60.0 \u2502 55.0 \u2502 "
      "5.0 \u2502\n"
      "\u2502 Inter Token Latency (ms) \u2502 10.5 \u2502 9.0 \u2502 12.0 \u2502 11.9 \u2502 11.0 \u2502 10.8 \u2502 "
      "0.5 \u2502\n"
      "\u2502 Output Token Throughput \u2502 95.0 \u2502 80.0 \u2502 99.0 \u2502 98.0 \u2502 97.0 \u2502 96.0 \u2502 "
      "2.0 \u2502\n"
      "\u2502 Per User \u2502 \u2502 \u2502 \u2502 \u2502 \u2502 \u2502 \u2502\n"
      "\u2502 (tokens/sec/user) \u2502 \u2502 \u2502 \u2502 \u2502 \u2502 \u2502 \u2502\n"
      "\u2502 Output Token Throughput (tokens/sec) \u2502 10,944.0 \u2502 N/A \u2502 N/A \u2502 N/A \u2502 N/A \u2502 "
      "N/A \u2502 N/A \u2502\n"
      "\u2502 Request Count (requests) \u2502 320.0 \u2502 N/A \u2502 N/A \u2502 N/A \u2502 N/A \u2502 N/A \u2502 N/A "
      "\u2502\n"
      "\u2514\u2500\u2500\u2534\u2500\u2500\u2518\n");
  ASSERT_EQ(run.results.size(), 1U);
  const ResultBlock& r = run.results[0];
  EXPECT_EQ(r.kind, ResultKind::aiperf);
  EXPECT_THAT(r.ttft_s.mean, about(0.0505));
  EXPECT_THAT(r.ttft_s.p99, about(0.069));
  EXPECT_THAT(r.tpot_s.mean, about(0.0105));
  EXPECT_FALSE(r.itl_s.stated());
  EXPECT_THAT(r.per_user_tok_s, about(95));
  EXPECT_THAT(r.output_tok_s, about(10944));
  EXPECT_THAT(r.completed, about(320));
  EXPECT_THAT(run.notes, Contains(HasSubstr("read as TPOT")));
}

TEST(AiperfResult, PlainTableOfGenaiPerf) {
  const ResultBlock r = only_result(
      "| Statistic | avg | min | max | p99 | p90 | p75 |\n| --- | --- | --- | --- | --- | --- | --- |\n"
      "| Request latency (ms) | 1,500.0 | 1.0 | 2.0 | 3.0 | 4.0 | 5.0 |\n"
      "| Request throughput (per sec) | 6.25 | N/A | N/A | N/A | N/A | N/A |\n");
  EXPECT_THAT(r.e2e_s.mean, about(1.5));
  EXPECT_THAT(r.request_per_s, about(6.25));
}

TEST(LlamaBatchedTable, OneResultARow) {
  const PastedRun run = read_paste(
      "|    PP |     TG |    B |   N_KV |   T_PP s | S_PP t/s |   T_TG s | S_TG t/s |      T s |    S t/s |\n"
      "|-------|--------|------|--------|----------|----------|----------|----------|----------|----------|\n"
      "|   128 |    128 |    1 |    256 |    0.125 |  1024.00 |    3.200 |    40.00 |    3.325 |    76.99 |\n"
      "|   128 |    128 |   16 |   4096 |    1.600 |  1280.00 |    8.000 |   256.00 |    9.600 |   426.67 |\n");
  ASSERT_EQ(run.results.size(), 2U);
  EXPECT_EQ(run.results[1].kind, ResultKind::llama_batched_bench);
  EXPECT_THAT(run.results[1].batch, about(16));
  EXPECT_THAT(run.results[1].batch_decode_tok_s, about(256));
  EXPECT_THAT(run.results[1].prompt_tokens, Optional(128));
}

TEST(JsonResult, SavedResultsOfFourTools) {
  const PastedRun run = read_paste(
      "{\"date\": \"x\", \"model_id\": \"acme/M\", \"request_rate\": \"inf\", \"max_concurrency\": 16, \"duration\": "
      "4.0,\n"
      " \"completed\": 20, \"request_throughput\": 5.0, \"output_throughput\": 500.0, \"mean_ttft_ms\": 80.0,\n"
      " \"p99_itl_ms\": 30.0, \"itls\": [[0.1, 0.2], [9.9]], \"std_tpot_ms\": 1.5}\n"
      "{\"elapsed_time\": 2.0, \"num_requests\": 8, \"total_num_tokens\": 4000, \"requests_per_second\": 4.0, "
      "\"tokens_per_second\": 2000.0}\n"
      "[{\"model_type\": \"m 1B\", \"model_size\": 1000000, \"n_prompt\": 0, \"n_gen\": 128, \"n_depth\": 512, "
      "\"avg_ts\": 99.5,\"samples_ts\": [ 1, 2 ]}]\n"
      "{\"engine\": {\"model\": \"acme/T\"}, \"world_info\": {\"tp_size\": 4}, \"performance\": "
      "{\"request_throughput_req_s\": 3.0, \"system_output_throughput_tok_s\": 300.0}}\n");
  ASSERT_EQ(run.results.size(), 4U);
  EXPECT_THAT(run.results[0].model, Optional(std::string("acme/M")));
  EXPECT_TRUE(run.results[0].request_rate_unlimited);
  EXPECT_THAT(run.results[0].ttft_s.mean, about(0.08));
  EXPECT_THAT(run.results[0].itl_s.p99, about(0.03));
  EXPECT_THAT(run.results[0].tpot_s.stddev, about(0.0015));
  EXPECT_THAT(run.results[1].total_tok_s, about(2000));
  EXPECT_THAT(run.results[2].decode_tok_s, about(99.5));
  EXPECT_THAT(run.results[2].test, Optional(std::string("tg128 @ d512")));
  EXPECT_THAT(run.results[3].tp, Optional(4));
  EXPECT_THAT(run.results[3].output_tok_s, about(300));
}

TEST(JsonResult, RealSamples) {
  const std::string folder = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/";
  const std::vector<std::pair<std::string, ResultKind>> samples{
      {"vllm_bench/sglangpd_gpt-oss-120b_1p3d_conc128_in128_out2048_20250914_020816.json",
       ResultKind::vllm_bench_serve},
      {"vllm_bench/vllm_benchmark_throughput_mi300x_405b.json", ResultKind::vllm_bench_throughput},
      {"llama_bench/strixhalo_llama32-1b.default-hip.jsonl", ResultKind::llama_bench}};
  for (const auto& [file, kind] : samples) {
    const auto text = read_text_file(folder + file);
    if (!text) GTEST_SKIP() << "no shared sample files here";
    const PastedRun run = read_paste(*text);
    ASSERT_FALSE(run.results.empty()) << file;
    for (const ResultBlock& r : run.results) {
      EXPECT_EQ(r.kind, kind) << file;
      // Figures that must agree with each other, whatever they are.
      if (kind == ResultKind::vllm_bench_serve) {
        EXPECT_NEAR(*r.output_tok_s, *r.output_tokens / *r.duration_s, 1e-6 * *r.output_tok_s);
        EXPECT_NEAR(*r.total_tok_s, (*r.output_tokens + *r.input_tokens) / *r.duration_s, 1e-6 * *r.total_tok_s);
      }
      if (kind == ResultKind::vllm_bench_throughput) {
        EXPECT_NEAR(*r.request_per_s, *r.completed / *r.duration_s, 1e-6);
      }
      if (kind == ResultKind::llama_bench) {
        EXPECT_TRUE(r.model_bytes && r.parameters && (r.prefill_tok_s || r.decode_tok_s || r.total_tok_s));
      }
    }
  }
}

}  // namespace
}  // namespace corridor::profile
