// SPDX-License-Identifier: Apache-2.0
// Every operation of one step on one device: FLOPs, bytes by kind, launches and transfers. No time is known here.
//
//   product  qkv        ×80   m=1 n=10240 k=8192   168 MFLOP   weights 168 MB   activations 37 kB
//   attention decode    ×80   …                     4.7 MFLOP   kv 4.7 MB
#pragma once

#include <string>
#include <vector>

#include "corridor/graph/matrix_table.h"
#include "corridor/graph/scenario.h"
#include "corridor/model/model_spec.h"
#include "corridor/units/units.h"

namespace corridor::graph {

enum class OpKind { product, moe, attention_decode, attention_prefill, elementwise, quantise, collective };
[[nodiscard]] std::string_view name(OpKind);

enum class Collective { none, all_reduce, all_gather, all_to_all, send_recv };
[[nodiscard]] std::string_view name(Collective);

/// One operation; numbers are of one execution on one device.
struct Op {
  std::string name;
  OpKind kind = OpKind::elementwise;
  double repeats = 1;  ///< executions in the step (layers)
  double kernels = 1;  ///< launches of one execution
  units::Flops flops;
  units::Bytes weights;        ///< weight bytes read, experts included
  units::Bytes experts;        ///< of which routed experts, under the stated routing
  units::Bytes weights_least;  ///< weight bytes no routing can avoid: k experts
  units::Bytes kv;
  units::Bytes activations;
  double m = 0, n = 0, k = 0;  ///< product shape on this device (n over all fused matrices)
  double sequences = 0;        ///< attention: sequences; query tokens stand in m
  model::WeightFormat
      format;  ///< product: storage of the weights; attention: of the KV cache; quantise: of the product
  Collective collective = Collective::none;
  double ranks = 1;
  bool crosses_node = false;
  double expert_count = 0, experts_per_token = 0;  ///< moe
  units::Bytes payload;                            ///< collective: bytes of the buffer on one device

  [[nodiscard]] units::Bytes bytes() const { return weights + kv + activations; }
};

struct OpGraph {
  StepShape shape;
  std::vector<Op> ops;
};

struct GraphOptions {
  Parallelism parallelism;
  Routing routing = Routing::uniform;
  model::WeightFormat kv;
  bool flash_attention = true;
  bool fusion = true;
  double devices_in_node = 8;             ///< a collective over more ranks than this crosses the network
  const MatrixTable* matrices = nullptr;  ///< of this model, when the caller has listed them already
};

/// Builds the operations of one step on one device (a tensor parallel rank, all its layers; pipeline stages in turn).
/// `model` decides shapes and formats. No operation has NaN or negative numbers for a valid model and shape.
[[nodiscard]] OpGraph build_graph(const model::ModelSpec& model, const StepShape& shape, const GraphOptions& options);

/// What attention costs one sequence in one decode step, over all layers, before any split.
struct AttentionCost {
  units::Flops flops;
  units::Bytes kv;  ///< read and written
};
[[nodiscard]] AttentionCost decode_attention_cost(const model::ModelSpec& model, const model::WeightFormat& kv,
                                                  double context);

/// Distinct experts that `tokens` tokens touch, of `experts`, each choosing `per_token`.
[[nodiscard]] double experts_touched(double experts, double per_token, double tokens, Routing routing);

}  // namespace corridor::graph
