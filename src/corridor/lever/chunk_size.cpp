// SPDX-License-Identifier: Apache-2.0
// Lever: more prompt tokens in one step. Each chunk reads the weights again; but a step that carries a chunk makes
// every other user wait that long.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"
#include "corridor/units/text.h"

namespace corridor::lever {
namespace {

constexpr double largest_chunk = 65'536;  // tokens; activations of more take a large part of the memory

/// The engine's own flag for it.
std::string flag_of(const std::string& engine) {
  if (engine == "sglang") return "--chunked-prefill-size";
  if (engine == "tensorrt-llm") return "--max_num_tokens";
  if (engine == "llama.cpp") return "--ubatch-size";
  return "--max-num-batched-tokens";
}

/// Time of one step that carries a chunk.
units::Seconds step_with_chunk(const Situation& s, const roofline::PrefillPrediction& prefill) {
  const double engine_s = std::min(s.input.engine.request_overhead_s, prefill.expected.mid.value());
  return units::Seconds{(prefill.expected.mid.value() - engine_s) / std::max(1.0, prefill.chunks)};
}

}  // namespace

LeverResult chunk_size(const Situation& s) {
  LeverResult result = unavailable("chunk_size", "larger prompt chunks", Metric::first_token, "");
  const double chunk = s.input.engine.max_batched_tokens;
  const roofline::PrefillPrediction& now = s.now.prefill;
  const double tokens = now.prompts * static_cast<double>(s.input.scenario.input);
  const double wanted = std::min(largest_chunk, std::exp2(std::ceil(std::log2(std::max(1.0, tokens)))));
  if (now.chunks <= 1 || wanted <= chunk) {
    result.note = now.chunks <= 1
                      ? fmt::format(
                            "{:.0f} prompt tokens fit in one step of {:.0f}; that step takes {}, and smaller chunks "
                            "would shorten it for the other users",
                            tokens, chunk, units::print(step_with_chunk(s, now)))
                      : fmt::format("steps already hold {:.0f} tokens: larger ones need too much memory", chunk);
    return result;
  }
  Change change;
  change.engine = s.input.engine;
  change.engine->max_batched_tokens = wanted;
  const Result<roofline::Prediction> after = predict_change(s, change, result.metric);
  if (!after) return unavailable(result.id, result.name, result.metric, after.error().line());
  if (s.now.memory.fits && !after->memory.fits) {
    result.note =
        fmt::format("chunks of {:.0f} tokens do not fit: {} short", wanted, units::print(after->memory.shortfall));
    return result;
  }
  const double repeated = 1 - after->prefill.chunks / now.chunks;
  const roofline::Budget& b = now.budget;
  const double touched = (b.weights + b.kv + b.activations + b.launch + b.host + b.communication) / b.total();
  take_gain(s, std::move(change), *after, gain_without(touched * repeated), result);
  result.engine_change = fmt::format("{} {:.0f}", flag_of(s.input.engine.id), wanted);
  result.cost = fmt::format("a step that carries a chunk takes {} instead of {}: the other users' tokens wait for it",
                            units::print(step_with_chunk(s, after->prefill)), units::print(step_with_chunk(s, now)));
  result.stops_at = fmt::format("{:.0f} tokens, all prompts in one step", tokens);
  result.note =
      fmt::format("weights, KV and overhead, repeated for {:.0f} chunks, are {} of the time; the arithmetic stays",
                  now.chunks, percent(touched));
  return result;
}

}  // namespace corridor::lever
