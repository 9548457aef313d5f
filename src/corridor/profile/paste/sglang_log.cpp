// SPDX-License-Identifier: Apache-2.0
// Reads log lines of the SGLang scheduler and the iteration log of TensorRT-LLM.
#include <utility>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

/// A share printed as 0.12.
std::optional<double> share_after(std::string_view line, std::string_view label) {
  const auto value = value_after(line, label);
  return value && *value <= 1 ? value : std::nullopt;
}

class SglangLogReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    return read_batch(line) || read_pool(line) || read_weights(line) || read_retract(line);
  }

 private:
  bool record(LogKind kind, const Line& line, LogFact fact) {
    fact.kind = kind;
    fact.line = line.number;
    recorder_.log(std::move(fact));
    return true;
  }

  bool read_batch(const Line& line) {
    const std::string_view text = line.text;
    const bool decode = contains(text, "Decode batch");
    if ((!decode && !contains(text, "Prefill batch")) || !contains(text, "#running-req")) return false;
    LogFact fact;
    fact.running = value_after(text, "#running-req:");
    fact.waiting = value_after(text, "#queue-req:");
    fact.kv_usage = share_after(text, "token usage:");
    if (decode) {
      fact.tokens = value_after(text, "#token:");
      fact.generation_tok_s = value_after(text, "gen throughput (token/s):");
      fact.accept_length = value_after(text, "accept len:");
      if (const auto graph = after(text, "cuda graph:")) fact.graph = trim(*graph).starts_with("True");
    } else {
      fact.tokens = value_after(text, "#new-token:");
      fact.cached_tokens = value_after(text, "#cached-token:");
      fact.prompt_tok_s = value_after(text, "input throughput (token/s):");
    }
    return record(decode ? LogKind::sglang_decode : LogKind::sglang_prefill, line, std::move(fact));
  }

  bool read_pool(const Line& line) {
    LogFact fact;
    fact.tokens = value_after(line.text, "max_total_num_tokens=");
    if (fact.tokens) {
      fact.concurrency = value_after(line.text, "max_running_requests=");
      return record(LogKind::kv_pool_tokens, line, std::move(fact));
    }
    if (!contains(line.text, "KV Cache is allocated")) return false;
    fact.tokens = value_after(line.text, "#tokens:");
    if (!fact.tokens) return false;
    return record(LogKind::kv_pool_tokens, line, std::move(fact));
  }

  bool read_weights(const Line& line) {
    if (!contains(line.text, "Load weight end")) return false;
    // The engine divides by 2^30 and prints "GB".
    const auto memory = number_after(line.text, "mem usage=");
    if (!memory || !trim(memory->rest).starts_with("GB")) return false;
    LogFact fact;
    fact.bytes = memory->value * 1073741824.0;
    return record(LogKind::model_memory, line, std::move(fact));
  }

  bool read_retract(const Line& line) {
    if (!contains(line.text, "Retract requests")) return false;
    LogFact fact;
    fact.count = value_after(line.text, "#retracted_reqs:");
    return record(LogKind::preemption, line, std::move(fact));
  }
};

class TrtllmLogReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  /// "iter = 12, …, host_step_time = 12.3ms, prev_device_step_time = 11.2ms, …, num_scheduled_requests: 8, states =
  /// {…}"
  bool feed(const Line& line) override {
    const std::string_view text = line.text;
    if (contains(text, "iter = ") && contains(text, "step_time")) return read_iteration(line);
    if (contains(text, "max tokens in paged KV cache")) {
      LogFact fact;
      fact.kind = LogKind::kv_memory;
      fact.line = line.number;
      fact.bytes = bytes_after(text, "Allocated");
      fact.tokens = value_after(text, "max tokens in paged KV cache (");
      if (!fact.bytes && !fact.tokens) return false;
      recorder_.log(std::move(fact));
      return true;
    }
    return false;
  }

 private:
  static std::optional<double> milliseconds_after(std::string_view text, std::string_view label) {
    const auto number = number_after(text, label);
    if (!number || !trim(number->rest).starts_with("ms")) return std::nullopt;
    return number->value * 1e-3;
  }

  bool read_iteration(const Line& line) {
    const std::string_view text = line.text;
    LogFact fact;
    fact.kind = LogKind::trtllm_iteration;
    fact.line = line.number;
    fact.step_s = milliseconds_after(text, "host_step_time");
    fact.device_step_s = milliseconds_after(text, "device_step_time");
    fact.running = value_after(text, "num_scheduled_requests");
    fact.prefill_tokens = value_after(text, "'num_ctx_tokens'");
    fact.tokens = value_after(text, "'num_generation_tokens'");
    if (!fact.step_s && !fact.device_step_s) return false;
    recorder_.log(std::move(fact));
    return true;
  }
};

}  // namespace

std::unique_ptr<BlockReader> make_sglang_log_reader(Recorder& recorder) {
  return std::make_unique<SglangLogReader>(recorder);
}
std::unique_ptr<BlockReader> make_trtllm_log_reader(Recorder& recorder) {
  return std::make_unique<TrtllmLogReader>(recorder);
}

}  // namespace corridor::profile
