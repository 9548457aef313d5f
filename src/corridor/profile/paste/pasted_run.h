// SPDX-License-Identifier: Apache-2.0
// The face of the reader of pasted text: serve commands, benchmark results and engine logs, as people have them at
// hand.
//
// Why: a person with a slow run has a command line and a block of numbers on the screen. Both go in as they are, with
// prompts, colours, prose around them and lines missing. What is known comes out typed and in SI units; what looks like
// a fact and is not known is named; nothing is guessed and nothing fails.
//
//   $ vllm serve Qwen/Qwen3-32B -tp 4 --enforce-eager --shiny-new-flag 3
//   ============ Serving Benchmark Result ============
//   Mean TTFT (ms):                          71.54
//
//   understood  "vllm serve command: model Qwen/Qwen3-32B, tp 4, enforce eager"
//               "vllm bench serve result: TTFT mean 71.5 ms"
//   ignored     "--shiny-new-flag 3"
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/paste/serve_command.h"

namespace corridor::profile {

enum class ResultKind {
  vllm_bench_serve,
  vllm_bench_throughput,
  vllm_bench_latency,
  sglang_bench_serving,
  llama_bench,  ///< one block a table row
  trtllm_bench,
  ollama_verbose,
  aiperf,  ///< also genai-perf
  llama_batched_bench,
};

/// "vllm bench serve", "llama-bench" …
[[nodiscard]] std::string_view name(ResultKind kind);

/// One quantity over many requests. Which of these exist depends on the tool.
struct Spread {
  std::optional<double> mean, median, p90, p95, p99, min, max, stddev;
  [[nodiscard]] bool stated() const { return mean || median || p90 || p95 || p99 || min || max || stddev; }
};

/// One block of results. Times in seconds, rates per second, memory in bytes. Every quantity keeps its own definition:
/// none is computed here from another, and a figure whose definition is unclear is not filled in.
struct ResultBlock {
  ResultKind kind = ResultKind::vllm_bench_serve;
  std::size_t line = 0;  ///< 1-based first line in the pasted text
  std::optional<std::string> model;

  Spread ttft_s;  ///< request sent → first token seen by the client
  Spread tpot_s;  ///< (E2E − TTFT) ÷ (output tokens − 1), one value a request
  Spread itl_s;   ///< gap between streamed chunks; equals TPOT only at one token a chunk
  Spread e2e_s;   ///< request sent → last token (vllm bench latency: of the whole batch)

  std::optional<double> request_per_s;
  std::optional<double> goodput_per_s;       ///< requests/s that met their targets
  std::optional<double> input_tok_s;         ///< prompt tokens of all requests ÷ duration
  std::optional<double> output_tok_s;        ///< generated tokens of all requests ÷ duration
  std::optional<double> total_tok_s;         ///< prompt + generated tokens ÷ duration
  std::optional<double> peak_output_tok_s;   ///< best second of the run
  std::optional<double> per_user_tok_s;      ///< of one request
  std::optional<double> per_gpu_tok_s;       ///< output_tok_s ÷ GPUs
  std::optional<double> prefill_tok_s;       ///< llama-bench pp, ollama prompt eval rate
  std::optional<double> decode_tok_s;        ///< llama-bench tg, ollama eval rate: one sequence
  std::optional<double> batch_decode_tok_s;  ///< llama-batched-bench S_TG: of all its sequences, decode time alone
  std::optional<double> tok_s_stddev;        ///< llama-bench "± b", of its rate

  std::optional<double> completed;        ///< requests
  std::optional<double> failed;           ///< requests
  std::optional<double> input_tokens;     ///< total of the run (ollama: of the one request)
  std::optional<double> output_tokens;    ///< total of the run (ollama: of the one request)
  std::optional<double> mean_input_len;   ///< tokens a request, as the tool prints it
  std::optional<double> mean_output_len;  ///< tokens a request, as the tool prints it
  std::optional<double> duration_s;
  std::optional<double> load_s;           ///< ollama: loading of the model, inside duration_s
  std::optional<double> prefill_s;        ///< ollama prompt eval duration
  std::optional<double> decode_s;         ///< ollama eval duration
  std::optional<double> concurrency;      ///< mean number of requests in flight, as measured
  std::optional<double> max_concurrency;  ///< bound that the client was given
  std::optional<double> request_rate;     ///< requests/s offered
  bool request_rate_unlimited = false;    ///< the rate was given as "inf"
  std::optional<double> accept_length;    ///< speculative decoding: tokens a round
  std::optional<double> acceptance;       ///< speculative decoding: share of draft tokens kept, 0..1

  std::optional<std::string> dtype, quantization, kv_cache_dtype;                ///< trtllm-bench, llama-bench type_k
  std::optional<std::int64_t> tp, pp, ep, max_num_seqs, max_num_batched_tokens;  ///< trtllm-bench
  std::optional<double> batch;                                   ///< llama-batched-bench B: sequences at once
  std::optional<std::string> model_file;                         ///< llama-bench: path on the machine that ran it
  std::optional<std::string> test;                               ///< llama-bench "pp512", "tg128 @ d4096"
  std::optional<std::int64_t> prompt_tokens, gen_tokens, depth;  ///< llama-bench test
  std::optional<double> model_bytes, parameters;                 ///< llama-bench size, params
  std::optional<std::string> backend;  ///< llama-bench "CUDA"; serving clients: the API they spoke to
  std::optional<std::string> gpu;      ///< as printed
  std::optional<std::int64_t> gpu_layers, threads;
  std::optional<bool> flash_attention;
};

enum class LogKind {
  vllm_window,    ///< prompt_tok_s, generation_tok_s, running, waiting, kv_usage: averages over a time that may be idle
  sglang_decode,  ///< running, waiting, tokens (KV tokens in use), kv_usage, generation_tok_s, graph
  sglang_prefill,    ///< new tokens, cached_tokens, running, waiting, kv_usage, prompt_tok_s
  trtllm_iteration,  ///< step_s (host), device_step_s, running, tokens (generated), prefill_tokens
  kv_pool_tokens,    ///< tokens that the KV pool holds
  kv_pool_blocks,    ///< blocks, host_blocks
  kv_memory,         ///< bytes of the KV cache (text: where)
  max_concurrency,   ///< concurrency at request_tokens a request
  preemption,        ///< count, cumulative where the engine counts
  model_memory,      ///< bytes of the weights as loaded (text: where), seconds of loading
  compute_memory,    ///< bytes of work buffers or graphs (text: where)
  layers_on_gpu,     ///< gpu_layers of layers
  prefill_timing,    ///< tokens in seconds, prompt_tok_s: one request
  decode_timing,     ///< tokens in seconds, generation_tok_s: one request
  speculation,       ///< accept_length, acceptance
  engine_estimate,   ///< flop_per_s, bytes_per_s of one GPU: vLLM's own estimate, a mean over a time that may be idle
};

/// One engine log line that was understood. The comment of its kind says which fields are filled.
struct LogFact {
  LogKind kind = LogKind::vllm_window;
  std::size_t line = 0;  ///< 1-based line in the pasted text
  std::optional<double> prompt_tok_s, generation_tok_s;
  std::optional<double> running, waiting;  ///< requests
  std::optional<double> kv_usage;          ///< 0..1
  std::optional<double> prefix_hit_rate;   ///< 0..1
  std::optional<double> tokens, cached_tokens, prefill_tokens;
  std::optional<double> blocks, host_blocks;
  std::optional<double> bytes, seconds;
  std::optional<double> step_s, device_step_s;
  std::optional<double> concurrency, request_tokens;
  std::optional<double> count;
  std::optional<double> gpu_layers, layers;
  std::optional<double> accept_length, acceptance;
  std::optional<double> flop_per_s, bytes_per_s;
  std::optional<bool> graph;
  std::string text;  ///< buffer or device name as printed; may be empty
};

/// All throughput windows and decode batches together, also those beyond the kept log facts.
struct LogWindows {
  std::size_t count = 0;            ///< windows seen
  std::size_t busy = 0;             ///< of them with a generation rate above zero
  double generation_tok_s_sum = 0;  ///< over the busy ones
  double generation_tok_s_max = 0;
  double prompt_tok_s_max = 0;
  double running_max = 0;
  double waiting_max = 0;
  double kv_usage_max = 0;  ///< 0..1
};

/// One GPU as nvidia-smi prints it.
struct GpuSeen {
  std::size_t line = 0;
  std::optional<std::int64_t> index;
  std::string name;  ///< as printed; ends in "..." where nvidia-smi cut it
  std::optional<double> memory_used_bytes, memory_total_bytes;
  std::optional<double> utilization;  ///< 0..1; the meter: share of time in which some kernel ran
  std::optional<double> power_w, power_cap_w;
  std::optional<double> sm_clock_hz;
};

/// What was found in a pasted text. Empty fields were not stated.
struct PastedRun {
  std::optional<ServeCommand> command;  ///< the last one, when there are several
  std::optional<ClientCommand> client;  ///< the last one, when there are several
  std::vector<ResultBlock> results;     ///< in order of the text; at most 200, the last are kept
  std::vector<LogFact> log_facts;       ///< in order of the text; at most the first and the last 500
  LogWindows windows;
  std::vector<GpuSeen> gpus;  ///< one an index; a later table replaces an earlier one

  std::vector<std::string> understood;  ///< one short clause each, in order
  std::vector<std::string> ignored;     ///< looked like a fact but is not known; at most 50, at most 80 characters each
  std::size_t ignored_more = 0;         ///< how many more there were
  std::vector<std::string> notes;       ///< cuts, contradictions and definitions the reader must know of; at most 50
  std::size_t bytes_seen = 0;           ///< size of the text
  bool cut = false;                     ///< only the first and last 4 MB were looked at

  /// True when nothing at all was recognised.
  [[nodiscard]] bool empty() const {
    return !command && !client && results.empty() && log_facts.empty() && gpus.empty();
  }
};

/// Reads pasted text of any kind. Never fails and never guesses; linear in the text, and bounded: of a text above 8 MB
/// only the first and the last 4 MB are looked at, and `notes` says so.
[[nodiscard]] PastedRun read_paste(std::string_view text);

/// Adds what another text or file of the same run told; the bounds stay. A later command replaces an earlier one, and a
/// note says so.
void merge_run(PastedRun& into, PastedRun other);

}  // namespace corridor::profile
