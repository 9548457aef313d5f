// SPDX-License-Identifier: Apache-2.0
// One measured number as a table gives it: names as written, numbers in SI units, what is missing left empty.
//
//   const PointTable table = *read_points(text, "runs.csv");
//   table.points[0].metric    // PointMetric::tpot
//   table.points[0].value     // 0.0241 (seconds)
//
// Several column layouts are understood (the header line tells which; docs/validation.md describes them); columns
// beyond those are allowed and counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"

namespace corridor::profile {

enum class PointMetric {
  tpot,             ///< seconds between two tokens of one sequence
  ttft,             ///< seconds to the first token
  latency,          ///< seconds from arrival to the last token
  decode_per_user,  ///< tokens a second of one sequence
  output_total,     ///< generated tokens a second, all sequences
  total_tokens,     ///< generated and prompt tokens a second, all sequences
  prefill_rate,     ///< prompt tokens a second
  speedup,          ///< of speculative decoding, against the same engine without it
  acceptance,       ///< mean tokens a verification step yields: an input of a prediction, not a result
  op_time,          ///< seconds of one operation
  flop_rate,        ///< FLOP/s of one product
  bandwidth,        ///< bytes/s of one device
};
[[nodiscard]] std::string_view name(PointMetric);

/// `batch`: a static batch runs from its prompts to its last token. `concurrency`: a closed loop that keeps so many
/// requests in flight. `other`: arrival rates, mixed lengths and whatever else has no one number of sequences.
enum class PointLoad { batch, concurrency, other };

/// One operation on one device (metric op_time or flop_rate). Only the numbers of its kind are set.
struct PointOperation {
  enum class Kind { product, attention_decode, attention_prefill, moe, collective };
  Kind kind = Kind::product;
  std::string type;  ///< storage and arithmetic, our names: "bf16", "fp8", "fp8-block", "int8", "nvfp4", "w4a16" …
  std::string kv;    ///< attention: type of the KV cache
  double m = 0, n = 0, k = 0;                                           ///< product: out[m,n] = act[m,k] · W[k,n]
  double batch = 0, heads = 0, kv_heads = 0, head_dim = 0, window = 0;  ///< attention; window 0 = all
  double length = 0;  ///< attention: cached tokens with the new one (decode), prompt tokens (prefill)
  double tokens = 0, hidden = 0, inter = 0, experts = 0, per_token = 0;  ///< moe: routed experts of one layer
  double tp = 1, ep = 1;                                                 ///< moe: how the layer is cut
  std::string routing;                                                   ///< moe: "balanced", "power_law_1.2" …
  std::string collective;               ///< "all_reduce", "all_gather", "all_to_all", "reduce_scatter", "send_recv"
  std::string implementation;           ///< "graph", "eager", "nccl", else a library as written, in lower case
  double ranks = 0, payload_bytes = 0;  ///< collective: bytes of the buffer on one device
};

struct MeasuredPoint {
  std::string id;  ///< the row's own, else FILE:LINE
  int line = 0;
  std::string source, date;
  std::string device, engine, model;  ///< as written; empty when not stated. Of "HOST (BOARD)" the board
  std::optional<double> parameters;   ///< when the table states a count
  std::string weights, kv;            ///< as written
  std::optional<std::int64_t> devices, tp, pp, ep, dp;
  PointLoad load = PointLoad::batch;
  /// Lengths in tokens. `context` is the mean number of cached tokens while decoding; of a prompt (ttft, prefill_rate)
  /// it is what was cached before the prompt. An output rate without `output` is one of the decode phase alone.
  std::optional<double> sequences, input, output, context;
  std::optional<double> tokens_per_step;  ///< speculation: mean tokens a verification step yields
  std::optional<double> draft_tokens;
  PointMetric metric = PointMetric::tpot;
  double value = 0;         ///< SI: seconds, tokens/s, FLOP/s, bytes/s, or a ratio; NaN when it is no number
  std::string metric_name;  ///< as written: "tpot_ms"
  double unit = 1;          ///< value = written number × unit
  std::optional<PointOperation> operation;
  std::string notes;
  std::string not_usable;  ///< why no prediction can be held against this row; empty when one can
};

struct PointTable {
  std::string layout;  ///< which column layout was recognised: "corridor runs", "silicon sample" …
  std::vector<MeasuredPoint> points;
  std::vector<std::string> ignored_columns;
};

/// Reads a table. Rows that cannot be used stay, with the reason. Fails, in one line, only when nothing can be made of
/// the file: no known header, not text, an unterminated quote, beyond 256 MiB or one million points.
/// `file` names it in errors; its stem also names the device of tables without a device column ("a100_sxm_…").
[[nodiscard]] Result<PointTable> read_points(std::string_view text, const std::string& file);

}  // namespace corridor::profile
