// SPDX-License-Identifier: Apache-2.0
// The names of vLLM, SGLang, TGI and the llama.cpp server.
#include "corridor/profile/metrics/server_readers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>

namespace corridor::profile {
namespace {

using Names = std::initializer_list<const char*>;

/// The first of the names that the page has; newer names stand first.
template <class Look>
std::optional<double> first_of(Names names, Look look) {
  for (const char* name : names) {
    if (const auto value = look(name)) return value;
  }
  return std::nullopt;
}

MetricSpread first_spread(const MetricSeries& s, Names names) {
  for (const char* name : names) {
    MetricSpread spread = s.spread(name);
    if (spread.stated()) return spread;
  }
  return {};
}

std::optional<double> ratio(const std::optional<double>& part, const std::optional<double>& whole) {
  return part && whole && *whole > 0 ? std::optional(*part / *whole) : std::nullopt;
}

std::optional<double> share_of(std::optional<double> value) {
  if (!value || *value < 0) return std::nullopt;
  constexpr double rounding = 1.001;
  return *value <= rounding ? std::optional(std::min(1.0, *value)) : std::nullopt;
}

/// Tokens a round: each round of a draft yields one token beyond those that were accepted.
void read_speculation(const MetricSeries& s, const std::string& prefix, ServerMetrics& out) {
  const auto drafts = s.count(prefix + "spec_decode_num_drafts_total");
  const auto accepted = s.count(prefix + "spec_decode_num_accepted_tokens_total");
  const auto drafted = s.count(prefix + "spec_decode_num_draft_tokens_total");
  if (const auto each = ratio(accepted, drafts)) out.accept_length = 1 + *each;
  out.acceptance = share_of(ratio(accepted, drafted));
}

void read_estimates(const MetricSeries& s, const std::string& prefix, ServerMetrics& out) {
  if (!out.seconds) return;
  const auto rate = [&](const char* name) -> std::optional<double> {
    const auto grown = s.mean_count(prefix + name);
    return grown && *grown > 0 ? std::optional(*grown / *out.seconds) : std::nullopt;
  };
  out.flop_per_s = rate("estimated_flops_per_gpu_total");
  out.read_bytes_per_s = rate("estimated_read_bytes_per_gpu_total");
  out.write_bytes_per_s = rate("estimated_write_bytes_per_gpu_total");
}

void read_vllm_config(const MetricSeries& s, ServerMetrics& out) {
  double tokens = 0;
  for (const MetricSample* sample : s.samples("vllm:cache_config_info")) {
    const double blocks = std::atof(std::string(sample->label("num_gpu_blocks")).c_str());
    const double block = std::atof(std::string(sample->label("block_size")).c_str());
    constexpr double most_tokens = 1e12;
    if (blocks > 0 && block > 0 && blocks * block < most_tokens) tokens += blocks * block;
    out.kv_cache_dtype = sample->label("cache_dtype");
  }
  if (tokens > 0) out.kv_pool_tokens = tokens;
}

}  // namespace

void read_vllm_metrics(const MetricSeries& s, ServerMetrics& out) {
  const auto count = [&](const char* name) { return s.count(name); };
  out.engine = "vllm";
  out.running = s.sum("vllm:num_requests_running");
  out.waiting = s.sum("vllm:num_requests_waiting");
  out.kv_usage = share_of(first_of({"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
                                   [&](const char* name) { return s.largest(name); }));
  out.prompt_tokens = s.count("vllm:prompt_tokens_total");
  out.generation_tokens = s.count("vllm:generation_tokens_total");
  out.requests = s.count("vllm:request_success_total");
  out.preemptions = s.count("vllm:num_preemptions_total");
  out.prefix_hit_rate =
      share_of(ratio(first_of({"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"}, count),
                     first_of({"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"}, count)));
  read_speculation(s, "vllm:", out);
  read_estimates(s, "vllm:", out);
  read_vllm_config(s, out);
  out.ttft_s = s.spread("vllm:time_to_first_token_seconds");
  out.itl_s = first_spread(s, {"vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"});
  out.tpot_s = s.spread("vllm:request_time_per_output_token_seconds");
  out.queue_s = s.spread("vllm:request_queue_time_seconds");
  out.prefill_s = s.spread("vllm:request_prefill_time_seconds");
  out.decode_s = s.spread("vllm:request_decode_time_seconds");
  out.e2e_s = s.spread("vllm:e2e_request_latency_seconds");
  out.input_tokens = s.spread("vllm:request_prompt_tokens");
  out.output_tokens = s.spread("vllm:request_generation_tokens");
  out.step_tokens = s.spread("vllm:iteration_tokens_total");
  if (out.step_tokens.count > 0) out.steps = out.step_tokens.count;
}

void read_sglang_metrics(const MetricSeries& s, ServerMetrics& out) {
  out.engine = "sglang";
  out.running = s.sum("sglang:num_running_reqs");
  out.waiting = s.sum("sglang:num_queue_reqs");
  out.kv_usage = share_of(s.largest("sglang:token_usage"));
  out.decode_kv_tokens = s.sum("sglang:decode_sum_seq_lens");
  out.kv_pool_tokens = s.sum("sglang:max_total_num_tokens");
  out.prompt_tokens = s.count("sglang:prompt_tokens_total");
  out.generation_tokens = s.count("sglang:generation_tokens_total");
  out.requests = s.count("sglang:num_requests_total");
  out.prefix_hit_rate = share_of(s.mean("sglang:cache_hit_rate"));
  if (const auto length = s.mean("sglang:spec_accept_length"); length && *length > 1) out.accept_length = length;
  if (const auto graph = s.largest("sglang:is_cuda_graph")) out.graph = *graph > 0;
  read_estimates(s, "sglang:", out);
  out.ttft_s = s.spread("sglang:time_to_first_token_seconds");
  out.itl_s = first_spread(s, {"sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds"});
  out.tpot_s = s.spread("sglang:request_time_per_output_token_seconds");
  out.queue_s = s.spread("sglang:queue_time_seconds");
  out.e2e_s = s.spread("sglang:e2e_request_latency_seconds");
  if (const auto rate = s.sum("sglang:gen_throughput"); rate && *rate > 0 && !out.seconds) {
    out.generation_tok_s = rate;
    out.notes.emplace_back("the generation rate is the server's own last reading (gen_throughput), not a mean");
  }
}

void read_tgi_metrics(const MetricSeries& s, ServerMetrics& out) {
  out.running = s.sum("tgi_batch_current_size");
  out.waiting = s.sum("tgi_queue_size");
  out.requests = s.count("tgi_request_success");
  out.e2e_s = s.spread("tgi_request_duration");
  out.queue_s = s.spread("tgi_request_queue_duration");
  out.tpot_s = s.spread("tgi_request_mean_time_per_token_duration");
  out.input_tokens = s.spread("tgi_request_input_length");
  out.output_tokens = s.spread("tgi_request_generated_tokens");
  out.decode_step_s = s.spread("tgi_batch_forward_duration", "method", "decode");
  out.prefill_s = s.spread("tgi_batch_forward_duration", "method", "prefill");
  if (out.input_tokens.stated()) out.prompt_tokens = *out.input_tokens.mean * out.input_tokens.count;
  if (out.output_tokens.stated()) out.generation_tokens = *out.output_tokens.mean * out.output_tokens.count;
  if (out.tpot_s.stated())
    out.notes.emplace_back("TGI: the time per token of a request counts its prefill, so it lies above a TPOT");
}

void read_llama_server_metrics(const MetricSeries& s, ServerMetrics& out) {
  out.engine = "llama.cpp";
  out.running = s.sum("llamacpp:requests_processing");
  out.waiting = s.sum("llamacpp:requests_deferred");
  out.kv_usage = share_of(s.largest("llamacpp:kv_cache_usage_ratio"));
  out.prompt_tokens = s.count("llamacpp:prompt_tokens_total");
  out.generation_tokens = s.count("llamacpp:tokens_predicted_total");
  out.steps = s.count("llamacpp:n_decode_total");
  read_speculation(s, "llamacpp:", out);
  // Both times are sums over requests, so their quotient is what one request sees.
  const auto decode_s = s.count("llamacpp:tokens_predicted_seconds_total");
  const auto prefill_s = s.count("llamacpp:prompt_seconds_total");
  if (out.generation_tokens.value_or(0) > 0 && decode_s.value_or(0) > 0) {
    out.tpot_s.count = *out.generation_tokens;
    out.tpot_s.mean = *decode_s / *out.generation_tokens;
  }
  if (out.prompt_tokens.value_or(0) > 0 && prefill_s.value_or(0) > 0)
    out.notes.push_back("llama.cpp: prompts ran at " + std::to_string(std::lround(*out.prompt_tokens / *prefill_s)) +
                        " tok/s a request");
}

}  // namespace corridor::profile
