// SPDX-License-Identifier: Apache-2.0
// The inputs of a framework operation, from the JSON texts that were kept of them.
#include <cmath>
#include <nlohmann/json.hpp>

#include "corridor/profile/kineto/events.h"

namespace corridor::profile::kineto {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_inputs = 4096;  // tensors of one operation
constexpr std::size_t most_rank = 16;      // dimensions of a tensor
constexpr double largest_extent = 1e15;    // elements along one dimension

Json array_of(std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_array()) return Json::array();
  return value;  // moved: a copy of nested lists would go as deep as they do
}

std::vector<std::int64_t> extents(const Json& value) {
  std::vector<std::int64_t> out;
  if (!value.is_array() || value.size() > most_rank) return out;
  for (const Json& extent : value) {
    // A list of tensors holds lists of extents; such inputs are not sized.
    if (!extent.is_number()) return {};
    const double number = extent.get<double>();
    if (!std::isfinite(number) || number < 0 || number > largest_extent) return {};
    out.push_back(static_cast<std::int64_t>(number));
  }
  return out;
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  for (const Json& value : list) {
    if (out.size() >= most_inputs) break;
    out.push_back(value.is_string() ? value.get<std::string>() : value.is_primitive() ? value.dump() : std::string());
  }
  return out;
}

}  // namespace

OpInputs parse_inputs(std::string_view dims, std::string_view types, std::string_view concrete) {
  OpInputs inputs;
  for (const Json& value : array_of(dims)) {
    if (inputs.dims.size() >= most_inputs) break;
    inputs.dims.push_back(extents(value));
  }
  inputs.types = texts(array_of(types));
  inputs.concrete = texts(array_of(concrete));
  return inputs;
}

}  // namespace corridor::profile::kineto
