// SPDX-License-Identifier: Apache-2.0
// Models without shapes (--params N), and putting all weights of a model into one format.
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "corridor/model/readers.h"
#include "corridor/units/text.h"

namespace corridor::model {
namespace {

/// GGUF block types and mixes: files in them quantise the embedding and the head as well.
bool is_gguf(const WeightFormat& format) {
  const std::string& name = format.name;
  const bool block = name.size() > 2 && name[0] == 'q' && name[1] >= '1' && name[1] <= '8';
  return block || name.rfind("iq", 0) == 0 || name.rfind("tq", 0) == 0;
}

void put(ModelSpec& model, TensorRole role, const WeightFormat& format) {
  model.stored(role) = RoleStorage{format, {}, {}};
}

WeightFormat known(std::string_view name) {
  return find_weight_format(name).value_or(WeightFormat{});
}

/// The block type a mix gives the embedding.
WeightFormat embedding_format(const WeightFormat& format) {
  const std::string& name = format.name;
  if (name == "q2_k_mix") return known("q2_k");
  if (name.size() == 6 && name.compare(2, 3, "_k_") == 0) return known(name.substr(0, 4));
  return format;
}

}  // namespace

Result<ModelSpec> plain_dense_model(double parameters) {
  if (!(parameters >= 1e6 && parameters <= 1e14)) {
    return fail(fmt::format("{} parameters", parameters), "--params", "give a number from 1M to 100T, such as 70B");
  }
  ModelSpec model;
  const std::string count = units::print_count(parameters);
  model.id = "dense-" + count;
  model.name = "dense " + count;
  model.architecture = "dense";
  model.source = "--params";
  model.plain_parameters = parameters;
  for (RoleStorage& role : model.storage) role.format = known("bf16");
  model.approximations.emplace_back("only the number of parameters is known: weights only, no KV cache");
  return model;
}

ModelSpec with_weight_format(ModelSpec model, const WeightFormat& format) {
  const bool wide = format.name == "fp32" || format.name == "fp16" || format.name == "bf16" || format.name == "tf32";
  const WeightFormat sixteen = format.name == "fp16" ? known("fp16") : known("bf16");
  for (std::size_t i = 0; i < tensor_role_count; ++i) {
    const auto role = static_cast<TensorRole>(i);
    const bool product = role == TensorRole::attention || role == TensorRole::expert ||
                         role == TensorRole::shared_expert || role == TensorRole::dense_mlp;
    put(model, role, product || wide ? format : sixteen);
  }
  if (is_gguf(format)) {
    put(model, TensorRole::embedding, embedding_format(format));
    put(model, TensorRole::head, format.bits_per_weight > 6.6 ? format : known("q6_k"));
  }
  return model;
}

}  // namespace corridor::model
