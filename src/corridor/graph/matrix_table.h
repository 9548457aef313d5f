// SPDX-License-Identifier: Apache-2.0
// The weight matrices of a model, listed once for all the graphs and layouts that are made of it.
#pragma once

#include <vector>

#include "corridor/model/matrices.h"
#include "corridor/model/model_spec.h"

namespace corridor::graph {

/// Depends on the model's shapes only, not on its formats.
struct MatrixTable {
  explicit MatrixTable(const model::ModelSpec& model);
  std::vector<std::vector<model::Matrix>> layers;  ///< by layer group
  std::vector<model::Matrix> outer;
};

}  // namespace corridor::graph
