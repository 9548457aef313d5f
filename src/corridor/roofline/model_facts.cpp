// SPDX-License-Identifier: Apache-2.0
// Counts of a model, once.
#include "corridor/roofline/model_facts.h"

#include "corridor/model/matrices.h"

namespace corridor::roofline {

ModelFacts::ModelFacts(const model::ModelSpec& model)
    : matrices(model),
      parameters(model::parameter_count(model)),
      active_parameters(model::active_parameter_count(model)),
      weight_bytes{model::weight_bytes(model)} {}

}  // namespace corridor::roofline
