// SPDX-License-Identifier: Apache-2.0
// How a model is run: layout over devices, precision, load and lengths; and the shape of one step that follows from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "corridor/hardware/device.h"
#include "corridor/model/weight_format.h"

namespace corridor::graph {

/// How the model is laid over devices. One replica uses tp · pp devices; dp replicas serve side by side.
struct Parallelism {
  std::int64_t tp = 1;  ///< tensor parallel ranks
  std::int64_t pp = 1;  ///< pipeline stages
  std::int64_t ep = 1;  ///< devices the experts are spread over; 1 = experts are cut by tp like everything else
  std::int64_t dp = 1;  ///< replicas (of attention only, when experts are spread over more than tp devices)
  [[nodiscard]] std::int64_t devices() const { return tp * pp * dp; }
};

/// `batch`: static, pure decode. `concurrency`: closed loop, every step also carries its share of prompt tokens.
enum class Load { batch, concurrency };

/// How tokens choose experts: evenly spread, at random, or by a power law (some experts are hot).
enum class Routing { balanced, uniform, skewed };
[[nodiscard]] std::string_view name(Routing);

/// Speculative decoding: `draft_tokens` guesses, one verification pass over draft_tokens + 1 tokens a sequence.
struct Speculation {
  std::int64_t draft_tokens = 0;  ///< 0 = off
  double acceptance = 0;          ///< chance that one guess is right, 0..1
  std::string draft_model;        ///< id or parameter count of the draft; empty = no cost (n-gram) or own MTP layers
};

/// Mean tokens a round yields: (1 − α^(k+1)) / (1 − α), and k + 1 at α = 1.
[[nodiscard]] double tokens_per_round(std::int64_t draft_tokens, double acceptance);
/// The acceptance that yields `tokens` a round (inverse of the above); clamps to 0..1.
[[nodiscard]] double acceptance_for(std::int64_t draft_tokens, double tokens);

struct Scenario {
  Parallelism parallelism;
  Load load = Load::batch;
  double sequences = 1;                       ///< batch or concurrency, over all replicas
  std::int64_t input = 1024;                  ///< prompt tokens
  std::int64_t output = 256;                  ///< generated tokens
  double context = 1152;                      ///< tokens in the cache that a decode step sees
  model::WeightFormat kv;                     ///< storage of the KV cache
  std::optional<hardware::ComputeType> math;  ///< arithmetic of the products, when the user insists
  std::string engine = "vllm";
  Speculation speculation;
  Routing routing = Routing::uniform;
  bool graphs = true;
  bool flash_attention = true;
  bool fusion = true;
};

/// What one forward pass holds, for one replica and one pipeline stage's micro-batch.
struct StepShape {
  double decode_sequences = 0;     ///< sequences that extend
  double tokens_per_sequence = 1;  ///< 1, or draft_tokens + 1 in a verification
  double context = 0;              ///< cached tokens each of them sees
  double prefill_tokens = 0;       ///< prompt tokens in this pass, all prompts together
  double prefill_sequences = 0;    ///< prompts they belong to; each needs one row of logits
  double prefill_past = 0;         ///< tokens of each prompt that are cached already
  [[nodiscard]] double decode_tokens() const { return decode_sequences * tokens_per_sequence; }
  [[nodiscard]] double tokens() const { return decode_tokens() + prefill_tokens; }
};

}  // namespace corridor::graph
