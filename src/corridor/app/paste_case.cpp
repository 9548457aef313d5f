// SPDX-License-Identifier: Apache-2.0
// Maps the fields of a PastedRun to the flags of a case and to observed numbers.
#include "corridor/app/paste_case.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "corridor/model/weight_format.h"

namespace corridor::app {
namespace {

using diagnose::Observation;
using profile::ClientCommand;
using profile::PastedRun;
using profile::ResultBlock;
using profile::ResultKind;
using profile::ServeCommand;

template <class T, class U>
void fill(std::optional<T>& target, const std::optional<U>& from) {
  if (!target && from) target = static_cast<T>(*from);
}
void fill(std::string& target, const std::optional<std::string>& from) {
  if (target.empty() && from) target = *from;
}

/// "awq_marlin" → awq, "modelopt_fp4" → nvfp4, "float16" → fp16; empty when the word says nothing of a format.
std::string format_word(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (word.empty() || word == "auto" || word == "none") return "";
  for (const char* tail : {"_marlin", "-marlin"}) {
    const std::size_t at = word.rfind(tail);
    if (at != std::string::npos) word.resize(at);
  }
  if (word == "modelopt_fp4" || word == "nvfp4" || word == "fp4") return "nvfp4";
  if (word == "modelopt" || word == "fbgemm_fp8" || word == "fp8_e4m3" || word == "fp8_e5m2") return "fp8";
  if (word == "bitsandbytes") return "nf4";
  return model::find_weight_format(word) ? word : "";
}

class PasteTaker {
 public:
  PasteTaker(const PastedRun& paste, PredictRequest& request, Observation& seen)
      : paste_(paste), r_(request), seen_(seen) {}

  std::vector<std::string> take() {
    if (paste_.command) take_command(*paste_.command);
    if (paste_.client) take_client(*paste_.client);
    if (!paste_.results.empty()) take_results();
    if (!seen_.has_speed()) take_log();
    take_gpus();
    for (const std::string& note : paste_.notes) remarks_.push_back(note);
    return std::move(remarks_);
  }

 private:
  void take_engine(profile::Engine engine) {
    if (!r_.engine.empty()) return;
    const std::string name(profile::name(engine));
    r_.engine = name == "ollama" ? "llama.cpp" : name;
  }
  void take_command(const ServeCommand& c) {
    take_engine(c.engine);
    if (r_.params.empty()) fill(r_.model, c.model);
    fill(r_.tp, c.tp);
    fill(r_.pp, c.pp);
    fill(r_.dp, c.dp);
    fill(r_.ep, c.ep);
    if (!r_.ep && c.expert_parallel.value_or(false)) r_.ep = r_.tp.value_or(1) * r_.dp.value_or(1);
    if (r_.ep && *r_.ep == 1) r_.ep.reset();
    if (r_.weights.empty() && c.quantization) r_.weights = format_word(*c.quantization);
    if (r_.weights.empty() && c.dtype) r_.weights = format_word(*c.dtype);
    if (r_.kv.empty() && c.kv_cache_dtype) r_.kv = format_word(*c.kv_cache_dtype);
    if (c.enforce_eager.value_or(false)) r_.no_graphs = true;
    if (c.flash_attention && !*c.flash_attention) r_.no_flash_attention = true;

    if (c.speculative.num_tokens) {
      remarks_.push_back(
          "speculative decoding is on: its acceptance is not in the command, so it was left out; add "
          "--spec-tokens and --spec-acceptance");
    }
    if (c.cpu_offload_gb.value_or(0) > 0 || c.cpu_moe.value_or(false) || c.n_cpu_moe.value_or(0) > 0) {
      remarks_.push_back(
          "a part of the weights is in host memory and is read over PCIe or by the CPU: the prediction takes all "
          "of them on the device");
    }
    if (c.disable_custom_all_reduce.value_or(false)) {
      remarks_.push_back("custom all-reduce is off: small transfers take the slower library path");
    }
  }
  void take_client(const ClientCommand& c) {
    if (r_.params.empty()) fill(r_.model, c.model);
    fill(r_.input, c.input_len);
    if (!r_.output && c.output_len) {
      r_.output = c.output_len;
      seen_.lengths_given = true;
    }
    if (c.batch_size && !r_.concurrency) fill(r_.batch, c.batch_size);
    if (!r_.batch) fill(r_.concurrency, c.max_concurrency);
    fill(seen_.request_rate, c.request_rate);
  }

  void take_results() {
    const ResultBlock* chosen = &paste_.results.back();
    if (chosen->kind == ResultKind::llama_bench || chosen->kind == ResultKind::ollama_verbose) {
      for (const ResultBlock& block : paste_.results) {  // generation tells more than the prompt
        if (block.decode_tok_s) chosen = &block;
      }
    }
    if (paste_.results.size() > 1) {
      remarks_.push_back(
          fmt::format("{} result blocks were read; line {} is compared", paste_.results.size(), chosen->line));
    }
    take_block(*chosen);
  }
  void take_block(const ResultBlock& b) {
    take_lengths(b);
    if (!r_.batch) fill(r_.concurrency, b.max_concurrency);
    if (!r_.batch)
      fill(r_.concurrency, b.concurrency ? std::optional(std::max(1.0, std::round(*b.concurrency))) : std::nullopt);
    fill(seen_.request_rate, b.request_rate);
    fill(seen_.request_per_s, b.request_per_s);
    fill(seen_.tpot_s, b.tpot_s.mean ? b.tpot_s.mean : b.tpot_s.median);
    fill(seen_.ttft_s, b.ttft_s.mean ? b.ttft_s.mean : b.ttft_s.median);
    fill(seen_.output_tok_s, b.output_tok_s);
    fill(seen_.total_tok_s, b.total_tok_s);
    fill(seen_.tok_s_per_user, b.per_user_tok_s ? b.per_user_tok_s : b.decode_tok_s);
    if (!b.decode_tok_s) fill(seen_.prefill_tok_s, b.prefill_tok_s);
    fill(r_.tp, b.tp);
    fill(r_.pp, b.pp);
    if (r_.weights.empty() && b.quantization) r_.weights = format_word(*b.quantization);
    if (r_.kv.empty() && b.kv_cache_dtype) r_.kv = format_word(*b.kv_cache_dtype);
    if (r_.engine.empty()) take_kind(b.kind);
    if (b.kind == ResultKind::llama_bench)
      take_llama_bench(b);
    else if (r_.params.empty())
      fill(r_.model, b.model);
    if (r_.device.empty() && b.gpu) r_.device = *b.gpu;
  }
  void take_lengths(const ResultBlock& b) {
    const auto mean = [&](const std::optional<double>& stated,
                          const std::optional<double>& total) -> std::optional<double> {
      if (stated) return stated;
      if (total && b.completed && *b.completed > 0) return *total / *b.completed;
      return std::nullopt;
    };
    const std::optional<double> input = mean(b.mean_input_len, b.input_tokens);
    const std::optional<double> output = mean(b.mean_output_len, b.output_tokens);
    if (!r_.input && input && *input >= 1) r_.input = static_cast<std::int64_t>(std::llround(*input));
    if (!r_.output && output && *output >= 1) {
      r_.output = static_cast<std::int64_t>(std::llround(*output));
      seen_.lengths_given = true;
    }
  }
  void take_kind(ResultKind kind) {
    switch (kind) {
      case ResultKind::sglang_bench_serving:
        r_.engine = "sglang";
        break;
      case ResultKind::trtllm_bench:
        r_.engine = "tensorrt-llm";
        break;
      case ResultKind::llama_bench:
      case ResultKind::ollama_verbose:
        r_.engine = "llama.cpp";
        break;
      case ResultKind::vllm_bench_throughput:
      case ResultKind::vllm_bench_latency:
        r_.engine = "vllm";
        break;
      default:
        break;  // clients that speak to any server
    }
  }
  void take_llama_bench(const ResultBlock& b) {
    if (!r_.input && b.prompt_tokens && *b.prompt_tokens > 0) r_.input = *b.prompt_tokens;
    if (!r_.output && b.gen_tokens && *b.gen_tokens > 0) r_.output = *b.gen_tokens;
    // tg N starts from an empty cache (or from the depth) and averages over N tokens.
    if (!r_.context && b.gen_tokens && *b.gen_tokens > 0)
      r_.context = b.depth.value_or(0) + std::max<std::int64_t>(1, *b.gen_tokens / 2);
    if (!r_.model.empty() || !r_.params.empty()) return;
    if (b.parameters && b.model_bytes && *b.parameters > 0) {
      r_.params = fmt::format("{:.0f}", *b.parameters);
      if (r_.weights.empty()) r_.weights = nearest_format(*b.model_bytes * 8 / *b.parameters);
      remarks_.push_back(fmt::format(
          "the table names no model file: taken as a plain model of {:.3g} parameters in {}, so without KV cache",
          *b.parameters, r_.weights));
    }
  }
  static std::string nearest_format(double bits) {
    std::string best = "bf16";
    double distance = 1e9;
    for (const model::WeightFormat& format : model::weight_formats()) {
      if (std::fabs(format.bits_per_weight - bits) >= distance) continue;
      distance = std::fabs(format.bits_per_weight - bits);
      best = format.name;
    }
    return best;
  }

  void take_log() {
    for (const profile::LogFact& fact : paste_.log_facts) {
      if (fact.kind == profile::LogKind::decode_timing && fact.generation_tok_s)
        seen_.tok_s_per_user = fact.generation_tok_s;
    }
    const profile::LogWindows& w = paste_.windows;
    if (seen_.has_speed() || w.busy == 0 || w.generation_tok_s_max <= 0) return;
    seen_.output_tok_s = w.generation_tok_s_max;
    if (!r_.batch && !r_.concurrency && w.running_max >= 1) r_.concurrency = w.running_max;
    if (w.kv_usage_max > 0) seen_.kv_usage = w.kv_usage_max;
    if (w.waiting_max > 0) seen_.waiting = w.waiting_max;
    remarks_.push_back(
        "from the log: the best throughput window; a window averages over idle time, so it is no decode rate");
  }
  void take_gpus() {
    if (paste_.gpus.empty()) return;
    if (r_.device.empty()) r_.device = paste_.gpus.front().name;
    if (!r_.tp && !r_.devices && paste_.gpus.size() > 1) {
      remarks_.push_back(fmt::format("{} GPUs are listed; no --tp is stated, so one is taken", paste_.gpus.size()));
    }
    fill(seen_.meter, paste_.gpus.front().utilization);
  }

  const PastedRun& paste_;
  PredictRequest& r_;
  Observation& seen_;
  std::vector<std::string> remarks_;
};

}  // namespace

std::vector<std::string> take_paste(const PastedRun& paste, PredictRequest& request, Observation& seen) {
  return PasteTaker(paste, request, seen).take();
}

}  // namespace corridor::app
