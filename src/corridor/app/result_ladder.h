// SPDX-License-Identifier: Apache-2.0
// Several results of one model side by side: how far each fills the memory bandwidth and the arithmetic, with weights
// alone, with the KV cache, with activations.
//
//   test             tok/s   MBU weights   + KV
//   tg128              196          61 %   61 %
//   tg128 @ d65536    64.6          20 %   74 %    the KV cache has grown; the memory is as busy as before
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/profile/paste/pasted_run.h"

namespace corridor::app {

/// One result. Shares are of one device's peaks: bytes of a step ÷ its time ÷ bandwidth of the data sheet; FLOP
/// likewise with the dense peak. The step is a decode step, or the whole prompt of a prefill test.
struct LadderRow {
  std::string test;      ///< "tg128 @ d4096", "16 × (pp128 + tg128)", "vllm bench serve"
  std::size_t line = 0;  ///< of the file
  bool prompt = false;   ///< a prefill test: compute, no MBU
  double depth = 0;      ///< tokens in the cache before the test
  double context = 0;    ///< mean tokens in the cache of a sequence
  double sequences = 1;  ///< that run at once
  double tok_s = 0;      ///< as printed: of all sequences
  double step_s = 0;     ///< observed
  double weights_bytes = 0, kv_bytes = 0, activation_bytes = 0;  ///< of one step, one device
  std::optional<double> mbu_weights, mbu_weights_kv, mbu;        ///< the last with activations
  std::optional<double> mfu;
};

struct ResultLadder {
  std::vector<LadderRow> rows;  ///< in the order of the results
  std::string sentence;         ///< what changes along the ladder; empty when there is nothing to say
  std::vector<std::string> notes;
};

/// From the results of a run and the prepared case they belong to. Empty when fewer than two results tell a step's
/// time, or they are of other models.
[[nodiscard]] std::optional<ResultLadder> result_ladder(const std::vector<profile::ResultBlock>& results,
                                                        const PredictAnswer& prepared);

}  // namespace corridor::app
