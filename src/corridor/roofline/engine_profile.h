// SPDX-License-Identifier: Apache-2.0
// What an engine adds to the arithmetic: host time, launch gaps, batch limits, memory it keeps (data/engines/*.toml).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/roofline/interval.h"

namespace corridor::roofline {

struct EngineProfile {
  std::string id;
  double host_per_step_s = 0;     ///< scheduler, input preparation, output handling that the device waits for
  double host_per_request_s = 0;  ///< and for each sequence in the step
  double sampler_s = 0;
  double launch_gap_graph_s = 0;  ///< between kernels replayed from a graph
  double launch_gap_eager_s = 0;  ///< host time to launch one kernel eagerly
  double old_host_factor = 1;  ///< that time on hosts of server devices from before 2022, over newer and desktop ones
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
  bool layers_in_turn = false;    ///< several devices hold layers in turn: a step's time does not fall with their count
  bool prefill_eager = false;     ///< prompts are not replayed from a graph: their launches are paid by the host
  double turn_overlap = 0;        ///< share of the gain of a perfect pipeline that a prompt's chunks have from it
  bool reserves_whole = true;     ///< a request is admitted with room for its longest length; else as its cache grows
  double queue_meeting = 0;       ///< prompts a new one meets on average in a closed loop, in prompts of its length
  double queue_wave = 0;          ///< and of the others in flight, the share that stands before it (first waves)
  bool flash_attention = true;    ///< false: prompts write and read their score matrix unless told otherwise
  double wide_fraction = 1;       ///< of the 16-bit peak, at most, that its prompts reach on NVIDIA devices other than
                                  ///< GeForce (whose stated peak, with 32-bit sums, is half of what 16-bit sums reach)
  double quantised_fraction = 0;  ///< of the int8 peak, which products of many rows with quantised weights reach in it;
                                  ///< 0: they are unpacked to 16 bit
  double speculation_round_s = 0;  ///< host time of a round beyond its steps: candidates, acceptance, cache upkeep
  bool known = true;               ///< false: a profile that stands in for an engine without one (widens intervals)
  std::string interval_class;      ///< which rows of data/intervals.toml: "server", "local" …
  std::shared_ptr<const IntervalTable> intervals;
  std::vector<std::string> sources;
};

[[nodiscard]] std::vector<std::string> engine_ids(const Assets& assets);
/// The profile for an engine as a table or a user names it: the one whose `engine_words` hold `engine_word` (any case,
/// "TensorRT-LLM", "llama.cpp", "HF transformers") and whose `versions_below` or `dates_below` the run falls under, the
/// narrowest first. `version` is text such as "0.4.2", "v0.6.1" or "b3265", `date` text such as "2024" or "2024-05-13";
/// both may be empty (then the newest profile). Empty when no profile claims the word: the engine is not known.
[[nodiscard]] std::string engine_for(const Assets& assets, std::string_view engine_word, std::string_view version,
                                     std::string_view date);
/// Unknown names fail with the list of known ones.
[[nodiscard]] Result<EngineProfile> load_engine(const Assets& assets, std::string_view name);

}  // namespace corridor::roofline
