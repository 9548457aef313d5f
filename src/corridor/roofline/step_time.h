// SPDX-License-Identifier: Apache-2.0
// One step: the limit, the expected time, where the time goes, and which wall it is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "corridor/graph/op_graph.h"
#include "corridor/roofline/engine_profile.h"
#include "corridor/roofline/interval.h"
#include "corridor/roofline/op_time.h"

namespace corridor::roofline {

/// Expected time of a step by cause; the parts add up to expected.mid.
struct Budget {
  units::Seconds weights, kv, activations, compute, launch, communication, host;
  units::Seconds experts;  ///< part of `weights` that routed experts take
  [[nodiscard]] units::Seconds total() const {
    return weights + kv + activations + compute + launch + communication + host;
  }
  Budget& operator+=(const Budget& other);
  Budget& operator*=(double factor);
};

enum class Wall { memory, compute, overhead, interconnect };
[[nodiscard]] std::string_view name(Wall);
/// Shares of the expected time that decide the wall; they add up to 1.
struct WallShares {
  double memory = 0, compute = 0, overhead = 0, interconnect = 0;
  [[nodiscard]] Wall wall() const;
};
[[nodiscard]] WallShares shares_of(const Budget& budget);

/// FLOPs and bytes of a step.
struct StepTotals {
  units::Flops flops;
  units::Bytes weights, experts, kv, activations;  ///< experts are part of weights
  [[nodiscard]] units::Bytes bytes() const { return weights + kv + activations; }
};

/// One row of the per-operation table; times are of all repeats together.
struct OpRow {
  graph::Op op;
  OpTime time;  ///< of one execution
  units::Seconds expected, limit;
};

struct StepTime {
  graph::StepShape shape;
  units::Seconds limit;
  units::Seconds limit_memory, limit_compute, limit_link;  ///< limit is the largest of the three
  Budget budget;
  StepTotals per_device;
  std::vector<OpRow> rows;
};

/// Times every operation of a graph. Host time counts `sequences` requests.
[[nodiscard]] Result<StepTime> time_step(graph::OpGraph graph, const TimingContext& context,
                                         const EngineProfile& engine);

/// FLOPs and bytes of a graph (for a graph built at tp = pp = ep = 1: of the replica, no duplicate counted).
[[nodiscard]] Result<StepTotals> totals_of(const graph::OpGraph& graph, const TimingContext& context);

}  // namespace corridor::roofline
