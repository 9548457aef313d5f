// SPDX-License-Identifier: Apache-2.0
// The rooms of a layer: products, attention, feed-forward, element-wise passes and transfers, for one device.
#pragma once

#include <string>
#include <vector>

#include "corridor/graph/kv_cache.h"
#include "corridor/graph/op_graph.h"
#include "corridor/model/matrices.h"

namespace corridor::graph {

/// Appends operations to `ops`. One instance builds one graph.
class LayerBuilder {
 public:
  LayerBuilder(const model::ModelSpec& model, const StepShape& shape, const GraphOptions& options,
               const MatrixTable& matrices, std::vector<Op>& ops);

  void add_embedding();
  void add_layers(const model::LayerGroup& group, const std::vector<model::Matrix>& matrices);
  void add_pipeline_transfers();
  void add_head();

 private:
  /// Matrices a device runs as one kernel, and what they add up to after the split.
  struct FusedProduct {
    std::string name;
    model::TensorRole role = model::TensorRole::other;
    double n = 0, k = 0, elements = 0;
    bool reduces = false;  ///< split by input: an all-reduce follows
  };

  [[nodiscard]] double split_ways(const model::Matrix& matrix) const;
  [[nodiscard]] std::vector<FusedProduct> fuse(const std::vector<model::Matrix>& matrices) const;
  Op& add_product(const FusedProduct& product, double rows);
  void add_attention(const model::LayerGroup& group);
  void add_softmax_core(const model::Mixer& mixer, const LayerCache& cache);
  void add_state_core(const LayerCache& cache);
  void add_experts(const model::LayerGroup& group, const std::vector<model::Matrix>& matrices);
  void add_elementwise(const std::string& name, double bytes, double kernels = 1);
  void add_small_passes(const model::LayerGroup& group);
  void add_collective(const std::string& name, Collective kind, double ranks, double payload);
  void add_row_reduce(const std::string& name);

  const model::ModelSpec& model_;
  const StepShape& shape_;
  const GraphOptions& options_;
  const MatrixTable& matrices_;
  std::vector<Op>& ops_;
  double tp_;
  double tokens_;
  double hidden_;
  double kv_heads_ = 1;  ///< of the group being built
  double repeats_ = 1;   ///< layers of the group being built
};

}  // namespace corridor::graph
