// SPDX-License-Identifier: Apache-2.0
// What each device holds once a model is laid over several: weights by split, duplicates counted.
#pragma once

#include "corridor/base/result.h"
#include "corridor/graph/matrix_table.h"
#include "corridor/graph/scenario.h"
#include "corridor/model/model_spec.h"
#include "corridor/units/units.h"

namespace corridor::graph {

/// Weight bytes on one device (the fullest pipeline stage's share is taken as layers ÷ pp, rounded up).
[[nodiscard]] units::Bytes weights_per_device(const model::ModelSpec& model, const Parallelism& layout);

/// The same for many layouts of one model: what only tp and ep change is kept between calls.
class WeightPlacement {
 public:
  /// Both must outlive this.
  WeightPlacement(const model::ModelSpec& model, const MatrixTable& matrices) : model_(model), matrices_(matrices) {}
  [[nodiscard]] units::Bytes on_one_device(const Parallelism& layout);

 private:
  [[nodiscard]] double layer_bytes(const Parallelism& layout) const;
  const model::ModelSpec& model_;
  const MatrixTable& matrices_;
  std::int64_t tp_ = 0, ep_ = 0;  ///< of `layer_bytes_`; 0: none yet
  double layer_bytes_ = 0;
};

/// Bytes of activations a step of `tokens` tokens and `rows` logit rows needs at once on one device.
[[nodiscard]] units::Bytes activations_per_device(const model::ModelSpec& model, const Parallelism& layout,
                                                  double tokens, double rows);

/// A layout of `devices` devices for this model: the widest tensor parallelism that divides the heads and stays in a
/// node, the rest pipeline stages. `devices` = 1 gives tp = 1.
[[nodiscard]] Parallelism default_layout(const model::ModelSpec& model, std::int64_t devices,
                                         std::int64_t devices_in_node);

/// Checks a layout against the model: positive, tp divides the heads, pp ≤ layers, ep fits; one clear line.
[[nodiscard]] Result<Parallelism> check_layout(const model::ModelSpec& model, const Parallelism& layout);

}  // namespace corridor::graph
