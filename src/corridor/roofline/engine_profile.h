// SPDX-License-Identifier: Apache-2.0
// What an engine adds to the arithmetic: host time, launch gaps, batch limits, memory it keeps (data/engines/*.toml).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"

namespace corridor::roofline {

struct EngineProfile {
  std::string id;
  double host_per_step_s = 0;     ///< scheduler, input preparation, output handling that the device waits for
  double host_per_request_s = 0;  ///< and for each sequence in the step
  double sampler_s = 0;
  double launch_gap_graph_s = 0;  ///< between kernels replayed from a graph
  double launch_gap_eager_s = 0;  ///< host time to launch one kernel eagerly
  bool graphs_default = true;
  double max_batched_tokens = 8192;  ///< tokens of one step at most
  double kv_pool_fraction = 0.9;     ///< share of device memory that weights, activations and KV may take
  double reserve_bytes = 0;          ///< context, graphs, communication buffers, on each device
  double request_overhead_s = 0;     ///< once a request, before its first token: HTTP, tokeniser, admission
  double prefill_interference = 1;   ///< share of a prompt chunk's time that the decoding requests wait for
  bool fused_norms = true;           ///< residual add, norm and activation run as one kernel each
  bool fused_quantise = false;       ///< quantising activations rides in a neighbour kernel
  bool fused_all_reduce = false;     ///< its own all-reduce kernel, fused with the norm
  double attention_decode_t0_s = 0;  ///< floor of its own decode attention kernel; 0 = the device class's
  /// expected.low ÷ mid and expected.high ÷ mid from residuals: decode by sequences in the step, then prefill.
  struct Ratios {
    double low = 1, high = 1;
  };
  Ratios decode_to_8, decode_to_64, decode_above, prefill;
  [[nodiscard]] const Ratios& decode_ratios(double sequences) const {
    return sequences <= 8 ? decode_to_8 : sequences <= 64 ? decode_to_64 : decode_above;
  }
  std::vector<std::string> sources;
};

[[nodiscard]] std::vector<std::string> engine_ids(const Assets& assets);
/// Unknown names fail with the list of known ones.
[[nodiscard]] Result<EngineProfile> load_engine(const Assets& assets, std::string_view name);

}  // namespace corridor::roofline
