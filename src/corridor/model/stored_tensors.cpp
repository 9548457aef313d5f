// SPDX-License-Identifier: Apache-2.0
// Adds up stored tensors by role and gives the sums to a ModelSpec where they are believable.
#include "corridor/model/stored_tensors.h"

#include <cmath>

#include <fmt/format.h>

#include "corridor/model/matrices.h"
#include "corridor/model/tensor_names.h"

namespace corridor::model {
namespace {

// Bits a weight beyond these limits mean that names were misread.
constexpr double fewest_bits = 1;
constexpr double most_bits = 40;
constexpr double most_difference = 0.3;  // between files and shapes: duplicated heads and scales explain less

std::size_t at(TensorRole role) {
  return static_cast<std::size_t>(role);
}

/// Elements of each role by the model's own shapes.
std::array<double, tensor_role_count> shaped_elements(const ModelSpec& model) {
  std::array<double, tensor_role_count> elements{};
  for (const LayerGroup& group : model.layers) {
    for (const Matrix& matrix : layer_matrices(model, group)) {
      elements[at(matrix.role)] += matrix.elements() * static_cast<double>(group.count);
    }
  }
  for (const Matrix& matrix : outer_matrices(model)) elements[at(matrix.role)] += matrix.elements();
  return elements;
}

void move(RoleTotals& totals, TensorRole from, TensorRole to) {
  totals.bytes[at(to)] += totals.bytes[at(from)];
  totals.elements[at(to)] += totals.elements[at(from)];
  for (const auto& [type, bytes] : totals.bytes_by_type[at(from)]) totals.bytes_by_type[at(to)][type] += bytes;
  totals.bytes[at(from)] = totals.elements[at(from)] = 0;
  totals.bytes_by_type[at(from)].clear();
}

}  // namespace

void RoleTotals::add(TensorRole role, const StoredTensor& tensor) {
  bytes[at(role)] += tensor.bytes;
  elements[at(role)] += tensor.elements;
  bytes_by_type[at(role)][tensor.type] += tensor.bytes;
}

double RoleTotals::all_bytes() const {
  double sum = 0;
  for (const double value : bytes) sum += value;
  return sum;
}

double RoleTotals::all_elements() const {
  double sum = 0;
  for (const double value : elements) sum += value;
  return sum;
}

std::string RoleTotals::main_type(TensorRole role) const {
  std::string best;
  double most = 0;
  for (const auto& [type, bytes_of_type] : bytes_by_type[at(role)]) {
    if (bytes_of_type > most) best = type;
    most = bytes_of_type > most ? bytes_of_type : most;
  }
  return best;
}

void add_tensors(RoleTotals& totals, const std::vector<StoredTensor>& tensors, std::int64_t layers) {
  for (const StoredTensor& tensor : tensors) {
    TensorRole role = tensor_role(tensor.name);
    const auto layer = layer_index(tensor.name);
    if (role != TensorRole::vision && layer && layers > 0 && *layer >= layers) role = TensorRole::mtp;
    totals.add(role, tensor);
  }
}

void note_another_model(ModelSpec& model, const RoleTotals& totals) {
  double outside = 0;  // of the text model
  double outside_bytes = 0;
  bool packed = false;  // several weights share an element: only bytes can be compared
  for (std::size_t i = 0; i < tensor_role_count; ++i) {
    const auto role = static_cast<TensorRole>(i);
    if (role == TensorRole::vision || role == TensorRole::mtp) {
      outside += totals.elements[i];
      outside_bytes += totals.bytes[i];
    }
    const std::string type = totals.main_type(role);
    packed = packed || type == "I32" || type == "U32" || type == "U8" || type == "I8" || type == "F4";
  }
  const double held = packed ? totals.all_bytes() - outside_bytes : totals.all_elements() - outside;
  const double described = packed ? weight_bytes(model) : parameter_count(model);
  if (std::abs(held - described) <= most_difference * described) return;
  const char* unit = packed ? "bytes" : "parameters";
  model.approximations.push_back(
      fmt::format("the weight files hold {:.3g} {}, config.json describes {:.3g}: are they of the same model?", held,
                  unit, described));
}

void set_stored_bytes(ModelSpec& model, RoleTotals totals) {
  const std::array<double, tensor_role_count> shaped = shaped_elements(model);
  if (model.tied_embeddings && totals.bytes[at(TensorRole::head)] == 0)
    move(totals, TensorRole::embedding, TensorRole::head);
  // A dense block that runs beside the experts is a shared expert here.
  if (shaped[at(TensorRole::dense_mlp)] == 0) move(totals, TensorRole::dense_mlp, TensorRole::shared_expert);
  for (std::size_t i = 0; i < tensor_role_count; ++i) {
    const auto role = static_cast<TensorRole>(i);
    if (shaped[i] <= 0 || totals.bytes[i] <= 0) continue;
    RoleStorage& storage = model.stored(role);
    const double bits = totals.bytes[i] * 8 / shaped[i];
    const std::string type = totals.main_type(role);
    if (type == "F32" && role != TensorRole::norm && role != TensorRole::router) continue;  // engines load 16 bit
    if (bits < fewest_bits || bits > most_bits) {
      model.approximations.push_back(
          fmt::format("the files' {} tensors do not fit the shapes in config.json ({:.1f} bits "
                      "a weight): bytes by rule",
                      name(role), bits));
      continue;
    }
    storage.stored_bytes = totals.bytes[i];
    storage.elements = shaped[i];
    const bool sixteen = storage.format.bits_per_weight == 16;
    if (sixteen && type.rfind("F8_E", 0) == 0) storage.format = find_weight_format("fp8").value_or(storage.format);
    if (sixteen && type == "F16") storage.format = find_weight_format("fp16").value_or(storage.format);
  }
}

}  // namespace corridor::model
