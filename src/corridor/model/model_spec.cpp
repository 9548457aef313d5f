// SPDX-License-Identifier: Apache-2.0
// Names of the tensor roles and the small sums a ModelSpec offers.
#include "corridor/model/model_spec.h"

namespace corridor::model {

std::string_view name(TensorRole role) {
  switch (role) {
    case TensorRole::embedding:
      return "embedding";
    case TensorRole::head:
      return "head";
    case TensorRole::norm:
      return "norm";
    case TensorRole::attention:
      return "attention";
    case TensorRole::router:
      return "router";
    case TensorRole::expert:
      return "expert";
    case TensorRole::shared_expert:
      return "shared_expert";
    case TensorRole::dense_mlp:
      return "dense_mlp";
    case TensorRole::mtp:
      return "mtp";
    case TensorRole::vision:
      return "vision";
    case TensorRole::other:
      return "other";
  }
  return "other";
}

double RoleStorage::bits_per_weight() const {
  if (stored_bytes && elements && *elements > 0) return *stored_bytes * 8 / *elements;
  return format.bits_per_weight;
}

std::int64_t ModelSpec::layer_count() const {
  std::int64_t count = 0;
  for (const LayerGroup& group : layers) count += group.count;
  return count;
}

}  // namespace corridor::model
