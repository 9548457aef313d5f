// SPDX-License-Identifier: Apache-2.0
// What a prediction needs of the model alone: computed once when many scenarios of one model are predicted.
#pragma once

#include "corridor/graph/matrix_table.h"
#include "corridor/model/model_spec.h"
#include "corridor/units/units.h"

namespace corridor::roofline {

/// Of one model in its formats; make new ones when either changes.
struct ModelFacts {
  explicit ModelFacts(const model::ModelSpec& model);
  graph::MatrixTable matrices;
  double parameters, active_parameters;
  units::Bytes weight_bytes;  ///< resident, whole model
};

}  // namespace corridor::roofline
