// SPDX-License-Identifier: Apache-2.0
// Asks the model for its matrices, group by group.
#include "corridor/graph/matrix_table.h"

namespace corridor::graph {

MatrixTable::MatrixTable(const model::ModelSpec& model) : outer(model::outer_matrices(model)) {
  layers.reserve(model.layers.size());
  for (const model::LayerGroup& group : model.layers) layers.push_back(model::layer_matrices(model, group));
}

}  // namespace corridor::graph
