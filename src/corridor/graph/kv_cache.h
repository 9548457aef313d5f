// SPDX-License-Identifier: Apache-2.0
// The KV cache by geometry: bytes a sequence holds and bytes a decode step reads, for one device or the whole model.
#pragma once

#include "corridor/graph/scenario.h"
#include "corridor/model/model_spec.h"
#include "corridor/units/units.h"

namespace corridor::graph {

/// Bytes one layer's cache has, before any split (tp = 1) or on one tensor parallel rank.
struct LayerCache {
  double bytes_per_token = 0;        ///< for each cached entry
  double window = 0;                 ///< entries kept at most; 0 = all
  double compress_ratio = 1;         ///< tokens folded into one entry (beyond the window, when both are set)
  double index_bytes_per_token = 0;  ///< keys of a sparse-attention indexer
  double index_top_k = 0;            ///< entries read at most; 0 = all
  bool stored = true;                ///< false: the layer reads the cache of an earlier one
  double state_bytes = 0;            ///< constant per sequence (linear attention, state space)

  /// Entries of the attention cache that a query at `context` can see.
  [[nodiscard]] double visible(double context) const;
  [[nodiscard]] double resident_bytes(double context) const;
  /// Bytes a decode step reads for one sequence (state read and written back).
  [[nodiscard]] double read_bytes(double context) const;
};

[[nodiscard]] LayerCache layer_cache(const model::Mixer& mixer, const model::WeightFormat& kv, double tp);

/// Whole model, one device of a tp group.
[[nodiscard]] units::Bytes kv_resident(const model::ModelSpec&, const model::WeightFormat& kv, double context,
                                       double tp = 1);
[[nodiscard]] units::Bytes kv_read(const model::ModelSpec&, const model::WeightFormat& kv, double context,
                                   double tp = 1);
/// Bytes one more token adds while it is inside every window.
[[nodiscard]] units::Bytes kv_bytes_per_token(const model::ModelSpec&, const model::WeightFormat& kv, double tp = 1);
/// Constant bytes a sequence holds whatever its length.
[[nodiscard]] units::Bytes state_bytes_per_sequence(const model::ModelSpec&, double tp = 1);

}  // namespace corridor::graph
