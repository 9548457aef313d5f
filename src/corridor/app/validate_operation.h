// SPDX-License-Identifier: Apache-2.0
// A measured operation (one row of a table) → the operations the time model times, made by the graph builder itself.
//
//   const OperationCase fp8 = *operation_case(row.operation);   // quantise + product
//   const OperationTime time = *time_operation(fp8, device, constants);
#pragma once

#include <vector>

#include "corridor/base/result.h"
#include "corridor/graph/op_graph.h"
#include "corridor/hardware/device.h"
#include "corridor/profile/points/measured_point.h"
#include "corridor/roofline/kernel_constants.h"
#include "corridor/units/units.h"

namespace corridor::app {

/// What runs when a benchmark times the operation, one after another: a product in fp8 is preceded by the kernel that
/// quantises its activations.
struct OperationCase {
  std::vector<graph::Op> ops;
  bool graphs = true;               ///< replayed from a captured graph
  bool fused_all_reduce = false;    ///< an engine's own all-reduce kernel
  bool library_all_reduce = false;  ///< NCCL or RCCL at every size
  /// Copies of the weights (of the KV cache) that the benchmark runs in turn; what fits in the last cache stays there.
  double repeated_copies = 1;
  double host_floor_s = 0;  ///< where the benchmark launched from the host: no execution is seen below this
};

/// Builds a model of one layer (or of one matrix) with these shapes and takes the operation out of its graph, so that
/// nothing is counted a second way. Fails on sizes that are missing or no whole numbers of at least 1, and on types
/// that are not known; the message has no number in it, so that equal causes have equal texts.
[[nodiscard]] Result<OperationCase> operation_case(const profile::PointOperation& operation);

/// Times of one execution. The limit lets what fits in the last cache stay there, as benchmarks repeat one operation.
struct OperationTime {
  units::Seconds limit, low, mid, high;
  units::Seconds limit_memory, limit_compute, limit_link;
  units::Seconds cold_memory;  ///< limit of the bytes when nothing stays in a cache, as the usual roofline counts
};
[[nodiscard]] Result<OperationTime> time_operation(const OperationCase& operation, const hardware::Device& device,
                                                   const roofline::KernelConstants& constants);

}  // namespace corridor::app
