// SPDX-License-Identifier: Apache-2.0
// The clauses of `understood`: what was read, in the field's words and with units.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "corridor/profile/paste/recorder.h"
#include "corridor/profile/paste/text_scan.h"
#include "corridor/units/text.h"

namespace corridor::profile {
namespace {

constexpr std::size_t longest_name = 80;

/// Joins parts with ", ".
class Clauses {
 public:
  void add(std::string_view part) {
    if (part.empty()) return;
    if (!text_.empty()) text_ += ", ";
    text_ += part;
  }
  void text(std::string_view label, const std::optional<std::string>& value) {
    if (value) add(fmt::format("{} {}", label, shortened(*value, longest_name)));
  }
  void integer(std::string_view label, const std::optional<std::int64_t>& value) {
    if (value) add(fmt::format("{} {}", label, *value));
  }
  void number(std::string_view label, const std::optional<double>& value, std::string_view unit = "") {
    if (value) add(fmt::format("{} {}{}", label, units::print_number(*value), unit));
  }
  /// A count is told exactly: 61440, not 61400.
  void count(std::string_view label, const std::optional<double>& value) {
    if (!value) return;
    add(*value == std::floor(*value) ? fmt::format("{} {:.0f}", label, *value)
                                     : fmt::format("{} {}", label, units::print_number(*value)));
  }
  void seconds(std::string_view label, const std::optional<double>& value) {
    if (value) add(fmt::format("{} {}", label, units::print(units::Seconds{*value})));
  }
  void flag(std::string_view when_true, std::string_view when_false, const std::optional<bool>& value) {
    if (value) add(*value ? when_true : when_false);
  }
  void spread(std::string_view label, const Spread& spread) {
    Clauses parts;
    parts.seconds("mean", spread.mean);
    parts.seconds("median", spread.median);
    parts.seconds("p99", spread.p99);
    if (!parts.text_.empty()) add(fmt::format("{} {}", label, parts.text_));
  }
  [[nodiscard]] std::string str() const { return text_.empty() ? "nothing else" : text_; }

 private:
  std::string text_;
};

std::string gib(double bytes) {
  return units::print_gib(units::Bytes{bytes});
}

void add_layout(Clauses& out, const ServeCommand& c) {
  out.integer("tp", c.tp);
  out.integer("pp", c.pp);
  out.integer("dp", c.dp);
  out.integer("ep", c.ep);
  out.flag("expert parallel", "no expert parallel", c.expert_parallel);
  out.flag("dp attention", "no dp attention", c.dp_attention);
  out.integer("nodes", c.nnodes);
  out.integer("visible GPUs", c.visible_gpus);
}

void add_llama(Clauses& out, const ServeCommand& c) {
  if (c.gpu_layers) {
    out.add(*c.gpu_layers == all_gpu_layers ? "all layers on the GPU" : fmt::format("GPU layers {}", *c.gpu_layers));
  }
  out.integer("threads", c.threads);
  out.text("split mode", c.split_mode);
  out.text("tensor split", c.tensor_split);
  for (const std::string& rule : c.override_tensor) {
    out.add(fmt::format("override tensor {}", shortened(rule, longest_name)));
  }
  out.flag("experts in host memory", "experts not in host memory", c.cpu_moe);
  out.integer("layers with experts in host memory", c.n_cpu_moe);
}

}  // namespace

std::string describe(const ServeCommand& c) {
  Clauses out;
  out.text("model", c.model);
  add_layout(out, c);
  out.integer("max model len", c.max_model_len);
  out.integer("context of all slots", c.context_all_slots);
  out.integer("max num seqs", c.max_num_seqs);
  out.integer("max num batched tokens", c.max_num_batched_tokens);
  out.integer("chunked prefill size", c.chunked_prefill_size);
  out.integer("batch tokens", c.batch_tokens);
  out.integer("micro-batch tokens", c.ubatch_tokens);
  out.number("GPU memory utilization", c.gpu_memory_utilization);
  out.number("mem fraction static", c.mem_fraction_static);
  out.number("KV share of free memory", c.kv_free_fraction);
  out.number("CPU offload", c.cpu_offload_gb, " GiB");
  out.text("dtype", c.dtype);
  out.text("quantization", c.quantization);
  out.text("KV cache dtype", c.kv_cache_dtype);
  out.text("V cache dtype", c.kv_cache_dtype_v);
  out.text("load format", c.load_format);
  out.flag("enforce eager", "graphs allowed", c.enforce_eager);
  out.integer("largest graph batch", c.cuda_graph_max_bs);
  out.flag("prefix caching", "no prefix caching", c.prefix_caching);
  out.flag("custom all-reduce disabled", "custom all-reduce allowed", c.disable_custom_all_reduce);
  out.flag("FlashAttention on", "FlashAttention off", c.flash_attention);
  out.text("attention backend", c.attention_backend);
  out.text("speculative method", c.speculative.method);
  out.text("draft model", c.speculative.model);
  out.integer("draft tokens", c.speculative.num_tokens);
  add_llama(out, c);
  return out.str();
}

std::string describe(const ClientCommand& c) {
  Clauses out;
  out.text("model", c.model);
  out.text("dataset", c.dataset);
  out.integer("input", c.input_len);
  out.integer("output", c.output_len);
  out.integer("depth", c.depth);
  out.integer("requests", c.num_prompts);
  out.integer("concurrency up to", c.max_concurrency);
  out.integer("batch", c.batch_size);
  out.number("request rate", c.request_rate, " req/s");
  if (c.request_rate_unlimited) out.add("request rate unlimited");
  out.flag("ignore EOS", "stops at EOS", c.ignore_eos);
  return out.str();
}

std::string describe(const ResultBlock& b) {
  Clauses out;
  out.text("model", b.model);
  out.text("test", b.test);
  out.spread("TTFT", b.ttft_s);
  out.spread("TPOT", b.tpot_s);
  out.spread("ITL", b.itl_s);
  out.spread("E2E", b.e2e_s);
  out.number("output", b.output_tok_s, " tok/s");
  out.number("total", b.total_tok_s, " tok/s");
  out.number("per user", b.per_user_tok_s, " tok/s");
  out.number("per GPU", b.per_gpu_tok_s, " tok/s");
  out.number("prefill", b.prefill_tok_s, " tok/s");
  out.number("decode", b.decode_tok_s, " tok/s");
  out.number("decode of all", b.batch_decode_tok_s, " tok/s");
  out.count("sequences", b.batch);
  out.number("requests", b.request_per_s, " req/s");
  out.number("goodput", b.goodput_per_s, " req/s");
  out.count("completed", b.completed);
  out.count("failed", b.failed);
  out.count("input tokens", b.input_tokens);
  out.count("output tokens", b.output_tokens);
  out.seconds("duration", b.duration_s);
  out.count("concurrency", b.concurrency);
  out.count("concurrency up to", b.max_concurrency);
  out.number("request rate", b.request_rate, " req/s");
  if (b.request_rate_unlimited) out.add("request rate unlimited");
  out.text("backend", b.backend);
  out.integer("GPU layers", b.gpu_layers);
  out.integer("tp", b.tp);
  return out.str();
}

std::string describe(const LogFact& f) {
  const auto count = [](const std::optional<double>& value) { return units::print_number(value.value_or(0)); };
  const std::string where = f.text.empty() ? "" : fmt::format(" ({})", shortened(f.text, longest_name));
  switch (f.kind) {
    case LogKind::vllm_window:
    case LogKind::sglang_decode:
    case LogKind::sglang_prefill:
    case LogKind::trtllm_iteration:
    case LogKind::speculation:
    case LogKind::engine_estimate:
      return "";
    case LogKind::preemption:
      return "preemption: the KV pool was full";
    case LogKind::kv_pool_tokens:
      return fmt::format("KV pool: {:.0f} tokens", f.tokens.value_or(0));
    case LogKind::kv_pool_blocks:
      return fmt::format("KV pool: {:.0f} blocks", f.blocks.value_or(0));
    case LogKind::kv_memory:
      return fmt::format("KV memory{}: {}", where, gib(f.bytes.value_or(0)));
    case LogKind::max_concurrency:
      return fmt::format("at most {} requests of {:.0f} tokens together", count(f.concurrency),
                         f.request_tokens.value_or(0));
    case LogKind::model_memory:
      return fmt::format("weights loaded{}: {}", where, gib(f.bytes.value_or(0)));
    case LogKind::compute_memory:
      return fmt::format("work memory{}: {}", where, gib(f.bytes.value_or(0)));
    case LogKind::layers_on_gpu:
      return fmt::format("{:.0f} of {:.0f} layers on the GPU", f.gpu_layers.value_or(0), f.layers.value_or(0));
    case LogKind::prefill_timing:
      return fmt::format("prompt eval: {} tok/s", count(f.prompt_tok_s));
    case LogKind::decode_timing:
      return fmt::format("eval: {} tok/s", count(f.generation_tok_s));
  }
  return "";
}

std::string describe(const LogWindows& w) {
  Clauses out;
  if (w.busy > 0) {
    const double mean = w.generation_tok_s_sum / static_cast<double>(w.busy);
    out.add(fmt::format("generation mean {} tok/s over {} busy {}, largest {} tok/s", units::print_number(mean), w.busy,
                        w.busy == 1 ? "one" : "ones", units::print_number(w.generation_tok_s_max)));
  }
  out.add(fmt::format("running up to {:.0f}", w.running_max));
  out.add(fmt::format("waiting up to {:.0f}", w.waiting_max));
  out.add(fmt::format("KV use up to {:.1f} %", 100 * w.kv_usage_max));
  return fmt::format("{} engine log {}: {}", w.count, w.count == 1 ? "window" : "windows", out.str());
}

std::string describe(const GpuSeen& g) {
  Clauses out;
  if (g.memory_total_bytes) {
    out.add(fmt::format("{} of {} used", gib(g.memory_used_bytes.value_or(0)), gib(*g.memory_total_bytes)));
  }
  if (g.utilization) out.add(fmt::format("meter {:.0f} %", 100 * *g.utilization));
  out.number("power", g.power_w, " W");
  out.number("power cap", g.power_cap_w, " W");
  const std::string name = g.name.empty() ? "name not shown" : g.name;
  return fmt::format("GPU {}: {}", g.index ? fmt::format("{} {}", *g.index, name) : name, out.str());
}

std::string_view name(Engine engine) {
  switch (engine) {
    case Engine::vllm:
      return "vllm";
    case Engine::sglang:
      return "sglang";
    case Engine::tensorrt_llm:
      return "tensorrt-llm";
    case Engine::llama_cpp:
      return "llama.cpp";
    case Engine::ollama:
      return "ollama";
  }
  return "";
}

std::string_view name(ClientTool tool) {
  switch (tool) {
    case ClientTool::vllm_bench:
      return "vllm bench";
    case ClientTool::sglang_bench:
      return "sglang bench";
    case ClientTool::llama_bench:
      return "llama-bench";
    case ClientTool::trtllm_bench:
      return "trtllm-bench";
    case ClientTool::genai_perf:
      return "genai-perf";
    case ClientTool::aiperf:
      return "aiperf";
  }
  return "";
}

std::string_view name(ResultKind kind) {
  switch (kind) {
    case ResultKind::vllm_bench_serve:
      return "vllm bench serve";
    case ResultKind::vllm_bench_throughput:
      return "vllm bench throughput";
    case ResultKind::vllm_bench_latency:
      return "vllm bench latency";
    case ResultKind::sglang_bench_serving:
      return "sglang bench_serving";
    case ResultKind::llama_bench:
      return "llama-bench";
    case ResultKind::trtllm_bench:
      return "trtllm-bench";
    case ResultKind::ollama_verbose:
      return "ollama --verbose";
    case ResultKind::aiperf:
      return "aiperf";
    case ResultKind::llama_batched_bench:
      return "llama-batched-bench";
  }
  return "";
}

}  // namespace corridor::profile
