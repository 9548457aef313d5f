// SPDX-License-Identifier: Apache-2.0
// Does it fit, how many requests and tokens fit beside the weights, and how many devices would be needed.
#pragma once

#include <optional>

#include "corridor/graph/matrix_table.h"
#include "corridor/graph/scenario.h"
#include "corridor/hardware/device.h"
#include "corridor/model/model_spec.h"
#include "corridor/roofline/engine_profile.h"

namespace corridor::roofline {

/// Memory of one device (bytes unless said otherwise), and what fits in it.
struct MemoryFit {
  bool fits = false;
  bool capacity_known = true;  ///< false: fit is not checked and nothing below that depends on it is filled
  units::Bytes capacity;       ///< of one device, as the driver reports it
  units::Bytes weights, kv, activations, reserve;  ///< needed on one device; kv is what the asked load needs
  units::Bytes shortfall;                          ///< on one device; zero when it fits
  units::Bytes kv_pool;                   ///< left for the KV cache on one device under the engine's memory limit
  units::Bytes kv_bytes_per_token;        ///< whole model, no duplicate counted
  units::Bytes state_bytes_per_sequence;  ///< whole model
  bool has_kv = true;                     ///< false for --params: no geometry is known
  double max_tokens = 0;                  ///< tokens the pool of one replica holds, at the asked lengths
  double max_requests = 0;                ///< requests of input + output tokens it holds
  std::optional<double> max_requests_at_max_length;  ///< at the model's own longest context
  double max_context = 0;                            ///< longest single request
  double sequences = 0;              ///< sequences that run at once on one replica: the batch, or what is admitted
  std::int64_t devices_needed = 0;   ///< smallest count, all replicas, that holds it; 0 = more than 4,096
  graph::Parallelism layout_needed;  ///< of that count
  [[nodiscard]] units::Bytes needed() const { return weights + kv + activations + reserve; }
};

/// `matrices`: of this model, when the caller has listed them already.
[[nodiscard]] MemoryFit fit_memory(const model::ModelSpec& model, const hardware::Device& device,
                                   const graph::Scenario& scenario, const EngineProfile& engine,
                                   const graph::MatrixTable* matrices = nullptr,
                                   const model::ModelSpec* draft = nullptr);

}  // namespace corridor::roofline
