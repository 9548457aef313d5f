// SPDX-License-Identifier: Apache-2.0
// Real bytes by role: from the tensor list of weight files to the storage of a ModelSpec.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/model/model_spec.h"
#include "corridor/model/readers.h"

namespace corridor::model {

/// Bytes and elements of a model's tensors, added up by role.
struct RoleTotals {
  std::array<double, tensor_role_count> bytes{};
  std::array<double, tensor_role_count> elements{};
  std::array<std::map<std::string, double>, tensor_role_count> bytes_by_type;

  void add(TensorRole role, const StoredTensor& tensor);
  [[nodiscard]] double all_bytes() const;
  [[nodiscard]] double all_elements() const;
  /// The type that holds most bytes of a role; empty when the role has none.
  [[nodiscard]] std::string main_type(TensorRole role) const;
};

/// Totals of safetensors files; layers from `layers` on are prediction modules.
void add_tensors(RoleTotals& totals, const std::vector<StoredTensor>& tensors, std::int64_t layers);

/// Adds a note when the files cannot be those of the model that config.json describes: more than 30 % apart.
void note_another_model(ModelSpec& model, const RoleTotals& totals);

/// Puts the bytes of safetensors files into `model`; elements come from its shapes, since files may hold packed
/// weights.
void set_stored_bytes(ModelSpec& model, RoleTotals totals);

}  // namespace corridor::model
