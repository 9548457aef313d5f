// SPDX-License-Identifier: Apache-2.0
// A decode loop over a small transformer's weights: every token reads all weights and the cache of the tokens before
// it.
//
// Weights and cache are bf16 with made-up values, products in f32; layers are norm, attention with grouped queries,
// norm, gated feed-forward; the input table serves as the head. Rotary embedding and biases are left out (no bytes).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/lab/weights.h"

namespace corridor::measure {

/// hidden, heads · head_dim and intermediate are multiples of 64: each is the depth of a product.
struct DecodeShape {
  std::string model;  ///< the name it goes by
  std::size_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate = 0, vocab = 0;
  /// Bytes a token reads: all matrices once.
  [[nodiscard]] double weight_bytes() const;
  [[nodiscard]] double kv_bytes_per_token() const;
  /// What the loop cannot run, as one line; empty when it can.
  [[nodiscard]] std::string fault() const;
};

/// Waits until all workers of a team have come; a worker that waits long gives its processor away.
class SpinBarrier {
 public:
  explicit SpinBarrier(int workers) : workers_(workers) {}
  void wait();

 private:
  int workers_;
  std::atomic<int> waiting_{0};
  std::atomic<unsigned> round_{0};
};

class DecodeLoop {
 public:
  /// Room for `most_tokens` in the cache. Fails when the system gives no memory.
  [[nodiscard]] static Result<std::unique_ptr<DecodeLoop>> make(WorkerTeam& team, const DecodeShape& shape,
                                                                std::size_t most_tokens);
  /// Makes the next token with `context` tokens in the cache (its own included; at least 1); returns it.
  std::size_t step(std::size_t context);
  /// Logits of the last step, for tests.
  [[nodiscard]] const std::vector<float>& logits() const { return logits_; }

 private:
  struct Layer {
    StoredWeights qkv, out, gate_up, down;
  };
  DecodeLoop(WorkerTeam& team, DecodeShape shape, std::size_t most_tokens);
  [[nodiscard]] bool fill();
  void work(int index, std::size_t context);
  void attend(int index, std::size_t layer, std::size_t context);
  void feed_forward(int index, const Layer& layer);
  void product(int index, const StoredWeights& w, const float* x, float* y) const;
  void choose(int index);
  [[nodiscard]] std::uint16_t* keys(std::size_t layer, std::size_t kv_head) const;
  [[nodiscard]] std::uint16_t* values(std::size_t layer, std::size_t kv_head) const;

  WorkerTeam& team_;
  DecodeShape shape_;
  std::size_t room_;  ///< tokens of one head's cache, in whole tiles
  SpinBarrier barrier_;
  std::vector<Layer> layers_;
  StoredWeights table_;
  std::unique_ptr<Memory> cache_;
  std::vector<float> x_, qkv_, mixed_, added_, hidden_, logits_;
  std::vector<std::vector<float>> normed_;  ///< a copy a worker
  std::vector<std::size_t> best_;           ///< a worker's largest logit
  std::size_t token_ = 1;
};

/// One context length and what `predict` says of it.
struct DecodePoint {
  std::size_t context = 0;
  double predicted_s = 0;
};

/// Runs the loop at each context. The first point is judged within 15 % of its prediction, the others within 40 %.
[[nodiscard]] Result<LabResult> run_decode(const LabContext& context, const DecodeShape& shape,
                                           const std::vector<DecodePoint>& points);

}  // namespace corridor::measure
