// SPDX-License-Identifier: Apache-2.0
// Reads log lines of the vLLM engine: throughput windows, memory, KV pool, preemption, speculation.
#include <utility>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

class VllmLogReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    return read_window(line) || read_kv_pool(line) || read_memory(line) || read_preemption(line) ||
           read_speculation(line) || read_estimate(line);
  }

 private:
  bool record(LogKind kind, const Line& line, LogFact fact) {
    fact.kind = kind;
    fact.line = line.number;
    recorder_.log(std::move(fact));
    return true;
  }

  bool read_window(const Line& line) {
    const std::string_view text = line.text;
    const auto generation = value_after(text, "Avg generation throughput:");
    if (!generation) return false;
    LogFact fact;
    fact.generation_tok_s = generation;
    fact.prompt_tok_s = value_after(text, "Avg prompt throughput:");
    fact.running = value_after(text, "Running:");
    fact.waiting = value_after(text, "Waiting:");
    if (!fact.waiting) fact.waiting = value_after(text, "Pending:");
    fact.kv_usage = percent(number_after(text, "GPU KV cache usage:"));
    fact.prefix_hit_rate = percent(number_after(text, "Prefix cache hit rate:"));
    return record(LogKind::vllm_window, line, std::move(fact));
  }

  bool read_kv_pool(const Line& line) {
    LogFact fact;
    if (const auto tokens = number_after(line.text, "GPU KV cache size:")) {
      if (!trim(tokens->rest).starts_with("token")) return false;
      fact.tokens = tokens->value;
      return record(LogKind::kv_pool_tokens, line, std::move(fact));
    }
    if (const auto request = number_after(line.text, "Maximum concurrency for")) {
      const auto concurrency = number_after(request->rest, "per request");
      if (!concurrency || !concurrency->rest.starts_with("x")) return false;
      fact.request_tokens = request->value;
      fact.concurrency = concurrency->value;
      return record(LogKind::max_concurrency, line, std::move(fact));
    }
    for (const std::string_view label : {"# GPU blocks:", "# cuda blocks:", "# rocm blocks:"}) {
      if (const auto blocks = value_after(line.text, label)) {
        fact.blocks = blocks;
        fact.host_blocks = value_after(line.text, "# CPU blocks:");
        return record(LogKind::kv_pool_blocks, line, std::move(fact));
      }
    }
    return false;
  }

  bool read_memory(const Line& line) {
    LogFact fact;
    if (const auto bytes = bytes_after(line.text, "Available KV cache memory")) {
      fact.bytes = bytes;
      return record(LogKind::kv_memory, line, std::move(fact));
    }
    if (const auto rest = after(line.text, "Model loading took")) {
      fact.bytes = gibibytes(*rest);
      if (const auto time = after(*rest, " and ")) fact.seconds = seconds_of(*time);
      return fact.bytes && record(LogKind::model_memory, line, std::move(fact));
    }
    if (const auto rest = after(line.text, "Loading model weights took")) {
      fact.bytes = gibibytes(*rest);
      return fact.bytes && record(LogKind::model_memory, line, std::move(fact));
    }
    if (const auto rest = after(line.text, "Graph capturing finished in")) {
      if (const auto memory = after(*rest, "took")) fact.bytes = gibibytes(*memory);
      fact.text = "graphs";
      return fact.bytes && record(LogKind::compute_memory, line, std::move(fact));
    }
    return false;
  }

  /// These lines divide by 2^30 in every version, also in those that print "GB".
  static std::optional<double> gibibytes(std::string_view text) {
    const auto number = leading_number(text);
    if (!number) return std::nullopt;
    const std::string_view unit = trim(number->rest);
    if (!unit.starts_with("GiB") && !unit.starts_with("GB")) return std::nullopt;
    return number->value * 1073741824.0;
  }

  bool read_preemption(const Line& line) {
    if (!contains(line.text, "is preempted by")) return false;
    LogFact fact;
    fact.count = value_after(line.text, "total_num_cumulative_preemption=");
    return record(LogKind::preemption, line, std::move(fact));
  }

  /// "MFU: 210.3 TF/s/GPU 1450.7 GB/s/GPU": reads and writes together; of --enable-mfu-metrics.
  bool read_estimate(const Line& line) {
    const auto flops = number_after(line.text, "MFU:");
    if (!flops || !trim(flops->rest).starts_with("TF/s/GPU")) return false;
    const auto bytes = number_after(flops->rest, "TF/s/GPU");
    if (!bytes || !trim(bytes->rest).starts_with("GB/s/GPU")) return false;
    LogFact fact;
    fact.flop_per_s = flops->value * 1e12;
    fact.bytes_per_s = bytes->value * 1e9;
    return record(LogKind::engine_estimate, line, std::move(fact));
  }

  bool read_speculation(const Line& line) {
    if (!contains(line.text, "SpecDecoding metrics") && !contains(line.text, "Speculative metrics")) return false;
    LogFact fact;
    fact.accept_length = value_after(line.text, "Mean acceptance length:");
    const auto rate = number_after(line.text, "raft acceptance rate:");
    if (rate && trim(rate->rest).starts_with("%")) {
      fact.acceptance = percent(rate);
    } else if (rate && rate->value <= 1) {
      fact.acceptance = rate->value;
    }
    if (!fact.accept_length && !fact.acceptance) return false;
    return record(LogKind::speculation, line, std::move(fact));
  }
};

}  // namespace

std::unique_ptr<BlockReader> make_vllm_log_reader(Recorder& recorder) {
  return std::make_unique<VllmLogReader>(recorder);
}

}  // namespace corridor::profile
