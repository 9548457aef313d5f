// SPDX-License-Identifier: Apache-2.0
// Engine log lines and nvidia-smi: what each line states, in SI, and what many of them say together.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/profile/paste/pasted_run.h"

namespace corridor::profile {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr double mib = 1048576.0;
constexpr double gib = 1073741824.0;

auto about(double value) {
  return Optional(DoubleNear(value, 1e-9 * (1 + value)));
}

LogFact only_fact(std::string_view text, LogKind kind) {
  const PastedRun run = read_paste(text);
  EXPECT_EQ(run.log_facts.size(), 1U) << text;
  EXPECT_THAT(run.ignored, IsEmpty()) << text;
  if (run.log_facts.size() != 1) return {};
  EXPECT_EQ(run.log_facts[0].kind, kind) << text;
  return run.log_facts[0];
}

TEST(VllmLog, ItsOwnEstimateOfBytesAndFlops) {
  const LogFact f = only_fact("INFO 03-04 05:06:07 [perf.py:9] Engine 000: MFU: 210.5 TF/s/GPU 1450.5 GB/s/GPU\n",
                              LogKind::engine_estimate);
  EXPECT_THAT(f.flop_per_s, about(210.5e12));
  EXPECT_THAT(f.bytes_per_s, about(1450.5e9));
}

TEST(VllmLog, ThroughputWindow) {
  const LogFact f = only_fact(
      "\x1b[36m(EngineCore pid=77)\x1b[0m INFO 03-04 05:06:07 [loggers.py:123] Engine 000: Avg prompt throughput: "
      "1,234.5 "
      "tokens/s, Avg generation throughput: 456.5 tokens/s, Running: 12 reqs, Waiting: 3 reqs, GPU KV cache usage: "
      "62.5%, "
      "Prefix cache hit rate: 25.0%",
      LogKind::vllm_window);
  EXPECT_THAT(f.prompt_tok_s, about(1234.5));
  EXPECT_THAT(f.generation_tok_s, about(456.5));
  EXPECT_THAT(f.running, about(12));
  EXPECT_THAT(f.waiting, about(3));
  EXPECT_THAT(f.kv_usage, about(0.625));
  EXPECT_THAT(f.prefix_hit_rate, about(0.25));
}

TEST(VllmLog, MemoryAndPool) {
  EXPECT_THAT(only_fact("INFO GPU KV cache size: 57,344 tokens", LogKind::kv_pool_tokens).tokens, about(57344));
  const LogFact concurrency =
      only_fact("INFO Maximum concurrency for 8,192 tokens per request: 7.00x", LogKind::max_concurrency);
  EXPECT_THAT(concurrency.request_tokens, about(8192));
  EXPECT_THAT(concurrency.concurrency, about(7));
  const LogFact blocks = only_fact("INFO # GPU blocks: 27000, # CPU blocks: 512", LogKind::kv_pool_blocks);
  EXPECT_THAT(blocks.blocks, about(27000));
  EXPECT_THAT(blocks.host_blocks, about(512));
  EXPECT_THAT(only_fact("INFO Available KV cache memory: 20.5 GiB", LogKind::kv_memory).bytes, about(20.5 * gib));
  const LogFact model = only_fact("INFO Model loading took 15.25 GiB and 12.5 seconds", LogKind::model_memory);
  EXPECT_THAT(model.bytes, about(15.25 * gib));
  EXPECT_THAT(model.seconds, about(12.5));
  EXPECT_THAT(only_fact("INFO Loading model weights took 14.5 GB", LogKind::model_memory).bytes, about(14.5 * gib));
}

TEST(VllmLog, PreemptionAndSpeculation) {
  EXPECT_THAT(
      only_fact("WARNING Sequence group 7 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough "
                "KV cache space. total_num_cumulative_preemption=51",
                LogKind::preemption)
          .count,
      about(51));
  const LogFact spec = only_fact(
      "INFO SpecDecoding metrics: Mean acceptance length: 2.75, Accepted throughput: 9.0 tokens/s, "
      "Avg Draft acceptance rate: 58.5%",
      LogKind::speculation);
  EXPECT_THAT(spec.accept_length, about(2.75));
  EXPECT_THAT(spec.acceptance, about(0.585));
}

TEST(SglangLog, BatchesPoolAndRetraction) {
  const LogFact decode = only_fact(
      "[2025-01-02 03:04:05 TP0] Decode batch. #running-req: 16, #token: 20480, token usage: 0.12, cuda graph: False, "
      "gen "
      "throughput (token/s): 987.25, #queue-req: 4, ",
      LogKind::sglang_decode);
  EXPECT_THAT(decode.running, about(16));
  EXPECT_THAT(decode.tokens, about(20480));
  EXPECT_THAT(decode.kv_usage, about(0.12));
  EXPECT_THAT(decode.generation_tok_s, about(987.25));
  EXPECT_THAT(decode.waiting, about(4));
  EXPECT_THAT(decode.graph, Optional(false));
  const LogFact prefill = only_fact(
      "[TP0] Prefill batch. #new-seq: 2, #new-token: 4096, #cached-token: 64, token usage: 0.50, #running-req: 7, "
      "#queue-req: 9, ",
      LogKind::sglang_prefill);
  EXPECT_THAT(prefill.tokens, about(4096));
  EXPECT_THAT(prefill.cached_tokens, about(64));
  EXPECT_THAT(only_fact("max_total_num_tokens=123456, chunked_prefill_size=8192, max_running_requests=2048",
                        LogKind::kv_pool_tokens)
                  .tokens,
              about(123456));
  EXPECT_THAT(only_fact("Load weight end. type=X, dtype=torch.bfloat16, avail mem=60.5 GB, mem usage=15.5 GB.",
                        LogKind::model_memory)
                  .bytes,
              about(15.5 * gib));
  EXPECT_THAT(only_fact("KV cache pool is full. Retract requests. #retracted_reqs: 3", LogKind::preemption).count,
              about(3));
}

TEST(TrtllmLog, Iteration) {
  const LogFact f = only_fact(
      "[TRT-LLM] [I] iter = 120, global_rank = 0, rank = 0, host_step_time = 12.5ms, prev_device_step_time = 11.25ms, "
      "timestamp = 2025-01-02, num_scheduled_requests: 8, states = {'num_ctx_requests': 0, 'num_ctx_tokens': 0, "
      "'num_generation_tokens': 8}",
      LogKind::trtllm_iteration);
  EXPECT_THAT(f.step_s, about(0.0125));
  EXPECT_THAT(f.device_step_s, about(0.01125));
  EXPECT_THAT(f.running, about(8));
  EXPECT_THAT(f.tokens, about(8));
}

TEST(LlamaLog, TimingsBuffersLayers) {
  const LogFact prompt = only_fact(
      "llama_perf_context_print: prompt eval time =     250.50 ms /    26 tokens (    9.63 ms per token,   103.75 "
      "tokens per "
      "second)",
      LogKind::prefill_timing);
  EXPECT_THAT(prompt.seconds, about(0.2505));
  EXPECT_THAT(prompt.tokens, about(26));
  EXPECT_THAT(prompt.prompt_tok_s, about(103.75));
  const LogFact decode =
      only_fact("       eval time =    4000.00 ms /   127 runs   (   31.50 ms per token,    31.75 tokens per second)",
                LogKind::decode_timing);
  EXPECT_THAT(decode.generation_tok_s, about(31.75));
  const LogFact layers = only_fact("load_tensors: offloaded 20/33 layers to GPU", LogKind::layers_on_gpu);
  EXPECT_THAT(layers.gpu_layers, about(20));
  EXPECT_THAT(layers.layers, about(33));
  const LogFact buffer =
      only_fact("load_tensors:        CUDA0 model buffer size =  4685.50 MiB", LogKind::model_memory);
  EXPECT_THAT(buffer.bytes, about(4685.5 * mib));
  EXPECT_EQ(buffer.text, "CUDA0");
  const LogFact cache = only_fact(
      "llama_kv_cache: size = 1024.00 MiB (  8192 cells,  32 layers,  1/1 seqs), K (f16):  512.00 MiB, V (f16):  "
      "512.00 MiB",
      LogKind::kv_memory);
  EXPECT_THAT(cache.bytes, about(1024 * mib));
  EXPECT_THAT(cache.tokens, about(8192));
  const PastedRun shorter = read_paste("[ Prompt: 123.5 t/s | Generation: 56.5 t/s ]");
  ASSERT_EQ(shorter.log_facts.size(), 2U);
  EXPECT_THAT(shorter.log_facts[1].generation_tok_s, about(56.5));
}

TEST(NvidiaSmi, Table) {
  const PastedRun run = read_paste(
      "+-----------------------------------------------------------------------------------------+\n"
      "| NVIDIA-SMI 555.01.01    Driver Version: 555.01.01     CUDA Version: 12.5     |\n"
      "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
      "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |\n"
      "| N/A   45C    P0             350W /  700W |   75000MiB /  81559MiB |     98%      Default |\n"
      "|                                         |                        |             Disabled |\n"
      "|   1  NVIDIA A100-SXM...  Off  | 00000000:2B:00.0 Off |                    0 |\n"
      "| N/A   30C    P0    60W / 400W |      0MiB / 40960MiB |      0%      Default |\n");
  ASSERT_EQ(run.gpus.size(), 2U);
  EXPECT_EQ(run.gpus[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_THAT(run.gpus[0].index, Optional(0));
  EXPECT_THAT(run.gpus[0].memory_used_bytes, about(75000 * mib));
  EXPECT_THAT(run.gpus[0].memory_total_bytes, about(81559 * mib));
  EXPECT_THAT(run.gpus[0].utilization, about(0.98));
  EXPECT_THAT(run.gpus[0].power_w, about(350));
  EXPECT_THAT(run.gpus[0].power_cap_w, about(700));
  EXPECT_EQ(run.gpus[1].name, "NVIDIA A100-SXM...");
  EXPECT_THAT(run.gpus[1].utilization, about(0));
  EXPECT_THAT(run.understood, Contains(AllOf(HasSubstr("NVIDIA H100 80GB HBM3"), HasSubstr("meter 98 %"))));
}

TEST(NvidiaSmi, ListAndCsv) {
  const PastedRun list = read_paste("GPU 0: NVIDIA L40S (UUID: GPU-0a1b)\nGPU 1: NVIDIA L40S (UUID: GPU-2c3d)\n");
  ASSERT_EQ(list.gpus.size(), 2U);
  EXPECT_EQ(list.gpus[1].name, "NVIDIA L40S");
  const PastedRun csv = read_paste(
      "index, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%], power.draw [W], clocks.sm [MHz]\n"
      "0, NVIDIA GeForce RTX 4090, 20000 MiB, 24564 MiB, 77 %, 310.50 W, 2520 MHz\n");
  ASSERT_EQ(csv.gpus.size(), 1U);
  EXPECT_EQ(csv.gpus[0].name, "NVIDIA GeForce RTX 4090");
  EXPECT_THAT(csv.gpus[0].memory_total_bytes, about(24564 * mib));
  EXPECT_THAT(csv.gpus[0].utilization, about(0.77));
  EXPECT_THAT(csv.gpus[0].sm_clock_hz, about(2.52e9));
}

TEST(LogWindows, ManyWindowsAreBoundedAndToldTogether) {
  std::string text;
  constexpr int windows = 3000;
  for (int i = 0; i < windows; ++i) {
    text += "Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: " + std::to_string(i % 100) +
            ".0 tokens/s, Running: " + std::to_string(i % 7) + " reqs, Waiting: 1 reqs, GPU KV cache usage: 50.0%\n";
  }
  const PastedRun run = read_paste(text);
  EXPECT_EQ(run.windows.count, static_cast<std::size_t>(windows));
  EXPECT_EQ(run.windows.busy, static_cast<std::size_t>(windows - windows / 100)) << "a hundredth is idle";
  EXPECT_DOUBLE_EQ(run.windows.generation_tok_s_sum, 30.0 * 99 * 100 / 2);
  EXPECT_DOUBLE_EQ(run.windows.generation_tok_s_max, 99);
  EXPECT_DOUBLE_EQ(run.windows.running_max, 6);
  EXPECT_DOUBLE_EQ(run.windows.kv_usage_max, 0.5);
  ASSERT_EQ(run.log_facts.size(), 1000U);
  EXPECT_EQ(run.log_facts.front().line, 1U);
  EXPECT_EQ(run.log_facts.back().line, static_cast<std::size_t>(windows));
  for (std::size_t i = 1; i < run.log_facts.size(); ++i) EXPECT_LT(run.log_facts[i - 1].line, run.log_facts[i].line);
  EXPECT_EQ(run.understood.size(), 1U);
}

}  // namespace
}  // namespace corridor::profile
