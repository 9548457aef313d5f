// SPDX-License-Identifier: Apache-2.0
// What the name of a serving step says: how many prompt tokens, how many decoding sequences, how long their caches are.
//
//   "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)"
//   → 32 decoding sequences that see 55,086 cached tokens together
#pragma once

#include <optional>
#include <string_view>

namespace corridor::diagnose {

/// Sums over the sequences of one kind: query tokens, cached tokens seen, and the sums of their products.
struct TokenSums {
  double sequences = 0;
  double query = 0;          ///< tokens computed
  std::optional<double> kv;  ///< tokens in the cache they see, their own included
  std::optional<double> query_query, query_kv;
};

struct StepTokens {
  TokenSums prefill, decode;
  [[nodiscard]] double tokens() const { return prefill.query + decode.query; }
};

/// Names of vLLM (execute_context_…, execute_N_context_…) and SGLang (step[DECODE bs=32]). Empty for others.
[[nodiscard]] std::optional<StepTokens> parse_step(std::string_view name);

/// Whether an annotation marks a step at all: those of `parse_step`, and "ProfilerStep#7".
[[nodiscard]] bool names_step(std::string_view name);

}  // namespace corridor::diagnose
