// SPDX-License-Identifier: Apache-2.0
// Reads log lines of llama.cpp programs: timings, buffers, layers on the GPU.
#include <utility>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

class LlamaLogReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    return read_timing(line) || read_short_timing(line) || read_layers(line) || read_buffer(line);
  }

 private:
  bool record(LogKind kind, const Line& line, LogFact fact) {
    fact.kind = kind;
    fact.line = line.number;
    recorder_.log(std::move(fact));
    return true;
  }

  /// "prompt eval time =  123.4 ms /  26 tokens (  4.7 ms per token,  210.6 tokens per second)"
  bool read_timing(const Line& line) {
    const auto time = number_after(line.text, "eval time");
    if (!time || !trim(time->rest).starts_with("ms /")) return false;
    const bool prompt = contains(line.text, "prompt eval time");
    const auto tokens = number_after(time->rest, "ms /");
    const auto per_token = after(line.text, "per token,");
    if (!tokens) return false;
    LogFact fact;
    fact.seconds = time->value * 1e-3;
    fact.tokens = tokens->value;
    if (per_token) {
      const auto rate = leading_number(*per_token);
      if (rate && trim(rate->rest).starts_with("tokens per second")) {
        (prompt ? fact.prompt_tok_s : fact.generation_tok_s) = rate->value;
      }
    }
    return record(prompt ? LogKind::prefill_timing : LogKind::decode_timing, line, std::move(fact));
  }

  /// "[ Prompt: 123.4 t/s | Generation: 56.7 t/s ]"
  bool read_short_timing(const Line& line) {
    const auto prompt = number_after(line.text, "Prompt:");
    const auto generation = number_after(line.text, "Generation:");
    if (!prompt || !generation || !trim(prompt->rest).starts_with("t/s") ||
        !trim(generation->rest).starts_with("t/s")) {
      return false;
    }
    LogFact fact;
    fact.prompt_tok_s = prompt->value;
    (void)record(LogKind::prefill_timing, line, std::move(fact));
    LogFact decode;
    decode.generation_tok_s = generation->value;
    return record(LogKind::decode_timing, line, std::move(decode));
  }

  bool read_layers(const Line& line) {
    const auto on_gpu = number_after(line.text, "offloaded");
    if (!on_gpu || !on_gpu->rest.starts_with("/")) return false;
    const auto layers = leading_number(on_gpu->rest.substr(1));
    if (!layers || !trim(layers->rest).starts_with("layers to GPU")) return false;
    LogFact fact;
    fact.gpu_layers = on_gpu->value;
    fact.layers = layers->value;
    return record(LogKind::layers_on_gpu, line, std::move(fact));
  }

  /// The word before `label`, which names a device: "CUDA0 KV buffer size" → "CUDA0".
  static std::string word_before(std::string_view text, std::string_view label) {
    std::string_view head = trim(text.substr(0, text.find(label)));
    const std::size_t blank = head.find_last_of(" \t:");
    if (blank != std::string_view::npos) head.remove_prefix(blank + 1);
    return shortened(head, 60);
  }

  bool read_buffer(const Line& line) {
    const std::string_view text = line.text;
    const std::pair<std::string_view, LogKind> buffers[] = {{"KV buffer size", LogKind::kv_memory},
                                                            {"model buffer size", LogKind::model_memory},
                                                            {"compute buffer size", LogKind::compute_memory}};
    for (const auto& [label, kind] : buffers) {
      const auto bytes = bytes_after(text, label);
      if (!bytes) continue;
      LogFact fact;
      fact.bytes = bytes;
      fact.text = word_before(text, label);
      return record(kind, line, std::move(fact));
    }
    if (!contains(text, "llama_kv_cache") && !contains(text, "KV self size")) return false;
    auto bytes = bytes_after(text, "KV self size");
    if (!bytes && contains(text, "cells")) bytes = bytes_after(text, " size");
    if (!bytes) return false;
    LogFact fact;
    fact.bytes = bytes;
    fact.text = "all devices";
    if (const auto open = after(text, "MiB (")) {
      const auto cells = leading_number(*open);
      if (cells && trim(cells->rest).starts_with("cells")) fact.tokens = cells->value;
    }
    return record(LogKind::kv_memory, line, std::move(fact));
  }
};

}  // namespace

std::unique_ptr<BlockReader> make_llama_log_reader(Recorder& recorder) {
  return std::make_unique<LlamaLogReader>(recorder);
}

}  // namespace corridor::profile
