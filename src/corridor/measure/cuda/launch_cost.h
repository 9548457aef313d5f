// SPDX-License-Identifier: Apache-2.0
// What it costs to start a kernel that does nothing: one after the other from the host, and replayed from a graph.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure::cuda {

struct LaunchCost {
  Figure eager;                 ///< seconds from one launch to the next in a row: host or GPU, whichever is slower
  std::optional<Figure> graph;  ///< seconds from one node to the next in a replayed graph
  Figure alone;                 ///< seconds of one launch between two events, less two events with nothing between them
};

/// Without the driver's graph calls `graph` is empty and a warning says so.
[[nodiscard]] Result<LaunchCost> measure_launch_cost(Gpu& gpu, const MeasureSettings& settings,
                                                     std::vector<std::string>& warnings);

}  // namespace corridor::measure::cuda
