// SPDX-License-Identifier: Apache-2.0
// The batch at which decode leaves the memory wall: where peak bandwidth and peak arithmetic take the same time.
#pragma once

#include <optional>
#include <string>

#include "corridor/graph/op_graph.h"
#include "corridor/roofline/op_time.h"

namespace corridor::roofline {

struct BreakEven {
  std::optional<double> batch;  ///< KV reads included; empty when no batch reaches the ridge
  std::optional<double> batch_weights_only;
  std::string reason;                       ///< why `batch` is empty
  std::optional<double> none_from_context;  ///< context from which no batch reaches the ridge
};

/// On datasheet peaks, one device, no activations (they are re-used on the chip). `options` gives routing and KV type.
[[nodiscard]] Result<BreakEven> break_even(const model::ModelSpec& model, double context,
                                           const graph::GraphOptions& options, const TimingContext& timing);

}  // namespace corridor::roofline
