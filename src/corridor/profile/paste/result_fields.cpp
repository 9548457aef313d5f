// SPDX-License-Identifier: Apache-2.0
// The result fields of vLLM, SGLang, llama-bench, llama-batched-bench, trtllm-bench, aiperf and genai-perf.
#include "corridor/profile/paste/result_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/llama_test.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

struct NumberKey {
  std::string_view name;
  std::optional<double> ResultBlock::*field;
};

constexpr std::array<NumberKey, 26> number_keys{
    {{"duration", &ResultBlock::duration_s},
     {"completed", &ResultBlock::completed},
     {"failed", &ResultBlock::failed},
     {"total_input_tokens", &ResultBlock::input_tokens},
     {"total_output_tokens", &ResultBlock::output_tokens},
     {"request_throughput", &ResultBlock::request_per_s},
     {"request_goodput", &ResultBlock::goodput_per_s},
     {"request_goodput:", &ResultBlock::goodput_per_s},  // vLLM of early 2025 wrote the colon
     {"input_throughput", &ResultBlock::input_tok_s},
     {"output_throughput", &ResultBlock::output_tok_s},
     {"total_token_throughput", &ResultBlock::total_tok_s},
     {"total_throughput", &ResultBlock::total_tok_s},
     {"max_output_tokens_per_s", &ResultBlock::peak_output_tok_s},
     {"max_concurrency", &ResultBlock::max_concurrency},
     {"request_rate", &ResultBlock::request_rate},
     {"concurrency", &ResultBlock::concurrency},
     {"accept_length", &ResultBlock::accept_length},
     {"spec_decode_acceptance_length", &ResultBlock::accept_length},
     {"performance.request_throughput_req_s", &ResultBlock::request_per_s},
     {"performance.system_output_throughput_tok_s", &ResultBlock::output_tok_s},
     {"performance.system_total_throughput_tok_s", &ResultBlock::total_tok_s},
     {"performance.output_throughput_per_gpu_tok_s", &ResultBlock::per_gpu_tok_s},
     {"performance.output_throughput_per_user_tok_s", &ResultBlock::per_user_tok_s},
     {"request_info.avg_input_length", &ResultBlock::mean_input_len},
     {"request_info.avg_output_length", &ResultBlock::mean_output_len},
     {"request_info.avg_num_concurrent_requests", &ResultBlock::concurrency}}};

struct TextKey {
  std::string_view name;
  std::optional<std::string> ResultBlock::*field;
};
constexpr std::array<TextKey, 11> text_keys{{{"model_id", &ResultBlock::model},
                                             {"server_info.model_path", &ResultBlock::model},
                                             {"server_info.quantization", &ResultBlock::quantization},
                                             {"server_info.kv_cache_dtype", &ResultBlock::kv_cache_dtype},
                                             {"backend", &ResultBlock::backend},
                                             {"engine.model", &ResultBlock::model},
                                             {"engine.dtype", &ResultBlock::dtype},
                                             {"engine.kv_cache_dtype", &ResultBlock::kv_cache_dtype},
                                             {"engine.quantization", &ResultBlock::quantization},
                                             {"machine.name", &ResultBlock::gpu},
                                             {"gpu_info", &ResultBlock::gpu}}};

std::optional<double> number(const RecordFields& f, const std::string& key) {
  const auto found = f.numbers.find(key);
  return found == f.numbers.end() ? std::nullopt : std::optional(found->second);
}
std::optional<std::string> text(const RecordFields& f, const std::string& key) {
  const auto found = f.texts.find(key);
  return found == f.texts.end() ? std::nullopt : std::optional(found->second);
}
std::optional<std::int64_t> integer(const RecordFields& f, const std::string& key) {
  const auto value = number(f, key);
  return value && *value < 1e15 ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}
bool is_true(const RecordFields& f, const std::string& key) {
  const auto found = f.truths.find(key);
  return found != f.truths.end() ? found->second : number(f, key).value_or(0) == 1;
}

/// mean_ttft_ms, p99_itl_ms, median_e2e_latency_ms …
void read_spreads(const RecordFields& f, ResultBlock& block) {
  constexpr std::pair<std::string_view, Spread ResultBlock::*> metrics[] = {{"_ttft_ms", &ResultBlock::ttft_s},
                                                                            {"_tpot_ms", &ResultBlock::tpot_s},
                                                                            {"_itl_ms", &ResultBlock::itl_s},
                                                                            {"_e2el_ms", &ResultBlock::e2e_s},
                                                                            {"_e2e_latency_ms", &ResultBlock::e2e_s}};
  for (const auto& [key, value] : f.numbers) {
    for (const auto& [suffix, field] : metrics) {
      if (!key.ends_with(suffix)) continue;
      const auto part = statistic(std::string_view(key).substr(0, key.size() - suffix.size()));
      if (part != nullptr) (block.*field).*part = value * 1e-3;
    }
  }
}

bool read_serving(const RecordFields& f, ResultBlock& block) {
  for (const NumberKey& key : number_keys) {
    if (const auto value = number(f, std::string(key.name))) block.*key.field = value;
  }
  for (const TextKey& key : text_keys) {
    if (const auto value = text(f, std::string(key.name))) block.*key.field = value;
  }
  block.request_rate_unlimited = lower(text(f, "request_rate").value_or("")) == "inf";
  constexpr double unlimited = 1e9;  // SGLang writes an unlimited rate as Infinity or as a very large number
  if (block.request_rate.value_or(0) >= unlimited) {
    block.request_rate.reset();
    block.request_rate_unlimited = true;
  }
  if (const auto rate = number(f, "spec_decode_acceptance_rate"); rate && *rate <= 100) block.acceptance = *rate / 100;
  for (const char* where : {"world_info.", "server_info."}) {
    const std::string prefix(where);
    if (const auto tp = integer(f, prefix + "tp_size")) block.tp = tp;
    if (const auto pp = integer(f, prefix + "pp_size")) block.pp = pp;
    if (const auto ep = integer(f, prefix + "ep_size")) block.ep = ep;
  }
  block.max_num_seqs = integer(f, "world_info.max_batch_size");
  block.max_num_batched_tokens = integer(f, "world_info.max_num_tokens");
  if (const auto ttft = number(f, "streaming_metrics.avg_ttft_ms")) block.ttft_s.mean = *ttft * 1e-3;
  if (const auto tpot = number(f, "streaming_metrics.avg_tpot_ms")) block.tpot_s.mean = *tpot * 1e-3;
  read_spreads(f, block);
  return true;
}

/// Before the column `backends` there was a switch for each.
std::optional<std::string> llama_backend(const RecordFields& f) {
  if (const auto named = text(f, "backends")) return named;
  for (const char* name : {"cuda", "metal", "vulkan", "sycl", "kompute", "opencl", "gpu_blas", "blas"}) {
    if (is_true(f, name)) return name;
  }
  return f.truths.count("cuda") != 0 || f.numbers.count("cuda") != 0 ? std::optional<std::string>("CPU") : std::nullopt;
}

void read_llama_settings(const RecordFields& f, ResultBlock& block) {
  block.model = text(f, "model_type");
  block.model_file = text(f, "model_filename");
  block.model_bytes = number(f, "model_size");
  block.parameters = number(f, "model_n_params");
  block.backend = llama_backend(f);
  block.gpu = text(f, "gpu_info");
  if (block.gpu && block.gpu->empty()) block.gpu.reset();
  block.gpu_layers = integer(f, "n_gpu_layers");
  block.threads = integer(f, "n_threads");
  block.kv_cache_dtype = text(f, "type_k");
  if (!block.kv_cache_dtype && is_true(f, "f16_kv")) block.kv_cache_dtype = "f16";
  const bool told = f.truths.count("flash_attn") != 0 || f.numbers.count("flash_attn") != 0;
  if (told) block.flash_attention = is_true(f, "flash_attn");
}

bool read_llama(const RecordFields& f, ResultBlock& block) {
  LlamaTest test;
  const auto rate = number(f, "avg_ts");
  const auto prompt = integer(f, "n_prompt");
  const auto generated = integer(f, "n_gen");
  if (!rate || !prompt || !generated) return false;
  if (*prompt > 0) test.prompt = prompt;
  if (*generated > 0) test.generated = generated;
  if (!test.prompt && !test.generated) return false;
  test.depth = integer(f, "n_depth");
  set_llama_rate(block, test, *rate);
  std::string name = test.prompt ? "pp" + std::to_string(*prompt) : "";
  if (test.generated) name += (name.empty() ? "tg" : "+tg") + std::to_string(*generated);
  if (test.depth.value_or(0) > 0) name += " @ d" + std::to_string(*test.depth);
  block.test = name;
  block.tok_s_stddev = number(f, "stddev_ts");
  read_llama_settings(f, block);
  return true;
}

bool read_llama_batched(const RecordFields& f, ResultBlock& block) {
  block.batch = number(f, "pl");
  block.prompt_tokens = integer(f, "pp");
  block.gen_tokens = integer(f, "tg");
  block.prefill_tok_s = number(f, "speed_pp");
  block.batch_decode_tok_s = number(f, "speed_tg");
  block.total_tok_s = number(f, "speed");
  block.duration_s = number(f, "t");
  block.prefill_s = number(f, "t_pp");
  block.decode_s = number(f, "t_tg");
  block.gpu_layers = integer(f, "n_gpu_layers");
  block.threads = integer(f, "n_threads");
  block.test = fmt::format("{} × (pp{} + tg{})", block.batch.value_or(0), block.prompt_tokens.value_or(0),
                           block.gen_tokens.value_or(0));
  return block.batch && *block.batch >= 1;
}

/// The unit that stands beside a metric is what counts; 0 for one that is not a time.
double time_unit(std::string_view unit) {
  if (unit == "ns") return 1e-9;
  if (unit == "us" || unit == "µs") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s" || unit == "sec" || unit == "seconds") return 1;
  return 0;
}
bool is_rate_unit(std::string_view unit) {
  return unit.ends_with("/sec") || unit.ends_with("/s") || unit.ends_with("/sec/user") || unit.ends_with("/s/user");
}

bool read_aiperf(const RecordFields& f, ResultBlock& block) {
  constexpr std::pair<std::string_view, Spread ResultBlock::*> times[] = {{"time_to_first_token", &ResultBlock::ttft_s},
                                                                          {"request_latency", &ResultBlock::e2e_s},
                                                                          {"inter_token_latency", &ResultBlock::tpot_s},
                                                                          {"inter_chunk_latency", &ResultBlock::itl_s}};
  constexpr std::pair<std::string_view, std::optional<double> ResultBlock::*> rates[] = {
      {"output_token_throughput", &ResultBlock::output_tok_s},
      {"output_token_throughput_per_user", &ResultBlock::per_user_tok_s},
      {"total_token_throughput", &ResultBlock::total_tok_s},
      {"request_throughput", &ResultBlock::request_per_s},
      {"goodput", &ResultBlock::goodput_per_s}};
  bool found = false;
  for (const auto& [name, field] : times) {
    const std::string prefix = std::string(name) + ".";
    const double unit = time_unit(text(f, prefix + "unit").value_or(""));
    if (unit == 0) continue;
    for (const std::string_view part : {"avg", "p50", "p90", "p95", "p99", "min", "max", "std"}) {
      const auto value = number(f, prefix + std::string(part));
      if (value) (block.*field).*statistic(part) = *value * unit;
      found = found || value;
    }
  }
  for (const auto& [name, field] : rates) {
    const std::string prefix = std::string(name) + ".";
    if (is_rate_unit(text(f, prefix + "unit").value_or(""))) block.*field = number(f, prefix + "avg");
  }
  block.completed = number(f, "request_count.avg");
  block.failed = number(f, "error_request_count.avg");
  block.mean_input_len = number(f, "input_sequence_length.avg");
  block.mean_output_len = number(f, "output_sequence_length.avg");
  if (const double unit = time_unit(text(f, "benchmark_duration.unit").value_or("")); unit > 0) {
    if (const auto duration = number(f, "benchmark_duration.avg")) block.duration_s = *duration * unit;
  }
  for (const char* key : {"input_config.endpoint.model_names[0]", "input_config.model[0]",
                          "input_config.model_names[0]", "input_config.model"}) {
    if (!block.model) block.model = text(f, key);
  }
  for (const char* key : {"input_config.loadgen.concurrency", "input_config.concurrency"}) {
    if (!block.max_concurrency) block.max_concurrency = number(f, key);
  }
  block.request_rate = number(f, "input_config.loadgen.request_rate");
  return found;
}

bool read_throughput(const RecordFields& f, ResultBlock& block) {
  block.request_per_s = number(f, "requests_per_second");
  block.total_tok_s = number(f, "tokens_per_second");  // prompt + output: total_num_tokens ÷ elapsed_time
  block.duration_s = number(f, "elapsed_time");
  block.completed = number(f, "num_requests");
  // Scripts add the lengths under names of their own; they are believed where they make the total.
  const auto first = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (const auto value = number(f, key)) return value;
    }
    return std::optional<double>();
  };
  const auto input = first({"input_len", "input"}), output = first({"output_len", "output", "ouput"});
  const auto total = number(f, "total_num_tokens");
  if (input && output && total && block.completed &&
      std::fabs(*block.completed * (*input + *output) - *total) <= 1e-3 * *total) {
    block.mean_input_len = input;
    block.mean_output_len = output;
  }
  return block.request_per_s && block.total_tok_s;
}

/// `vllm bench latency`: the time of a whole static batch.
bool read_latency(const RecordFields& f, ResultBlock& block) {
  block.e2e_s.mean = number(f, "avg_latency");
  block.e2e_s.median = number(f, "percentiles.50");
  block.e2e_s.p90 = number(f, "percentiles.90");
  block.e2e_s.p99 = number(f, "percentiles.99");
  return true;
}

bool has(const RecordFields& f, const char* key) {
  return f.numbers.count(key) != 0;
}

}  // namespace

bool read_result_fields(const RecordFields& f, ResultBlock& block) {
  const auto take = [&](ResultKind kind, bool (*read)(const RecordFields&, ResultBlock&)) {
    block.kind = kind;
    return read(f, block);
  };
  if (has(f, "avg_ts")) return take(ResultKind::llama_bench, read_llama);
  if (has(f, "speed_tg") && has(f, "pl")) return take(ResultKind::llama_batched_bench, read_llama_batched);
  for (const char* key : {"time_to_first_token.unit", "request_latency.unit", "inter_token_latency.unit"}) {
    if (f.texts.count(key) != 0) return take(ResultKind::aiperf, read_aiperf);
  }
  if (has(f, "tokens_per_second") && has(f, "total_num_tokens"))
    return take(ResultKind::vllm_bench_throughput, read_throughput);
  if (has(f, "avg_latency") && f.lists.count("latencies") != 0)
    return take(ResultKind::vllm_bench_latency, read_latency);
  if (has(f, "performance.request_throughput_req_s")) return take(ResultKind::trtllm_bench, read_serving);
  if (!has(f, "request_throughput") || !has(f, "output_throughput")) return false;
  const bool sglang = has(f, "total_output_tokens_retokenized") || has(f, "mean_e2e_latency_ms");
  return take(sglang ? ResultKind::sglang_bench_serving : ResultKind::vllm_bench_serve, read_serving);
}

std::string describe_lists(const RecordFields& f) {
  std::size_t count = 0, values = 0;
  std::string names;
  for (const auto& [name, elements] : f.lists) {
    if (elements < 2 || name.find('.') != std::string::npos) continue;
    constexpr std::size_t shown = 4;
    if (count++ < shown) names += (names.empty() ? "" : ", ") + shortened(name, 30);
    values += elements;
  }
  if (count == 0) return "";
  return fmt::format("{} {} with {} values in all {} left out ({}{})", count, count == 1 ? "list" : "lists", values,
                     count == 1 ? "was" : "were", names, count > 4 ? " …" : "");
}

}  // namespace corridor::profile
