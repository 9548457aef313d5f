// SPDX-License-Identifier: Apache-2.0
// From a name, a folder or a file to a ModelSpec: Hugging Face config.json, safetensors headers, GGUF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/model/model_spec.h"

namespace corridor::model {

/// A model and how its name was understood.
struct ResolvedModel {
  ModelSpec model;
  std::string note;  ///< empty, or "llama-3.1-70b taken as meta-llama/Llama-3.1-70B"
};

/// Finds a model by: a folder (config.json and/or *.safetensors, *.gguf), a file (config.json, *.safetensors,
/// *.safetensors.index.json, *.gguf, first part of a split one), a built-in id, or an alias. Unknown names fail with
/// the nearest known ones. "-Instruct", case and organisation do not matter for built-in models.
[[nodiscard]] Result<ResolvedModel> find_model(const Assets& assets, std::string_view name);

/// A plain dense model of N parameters: weights only, no KV geometry, no layers. N in [1e6, 1e14].
[[nodiscard]] Result<ModelSpec> plain_dense_model(double parameters);

/// Ids of the built-in models, sorted.
[[nodiscard]] std::vector<std::string> model_ids(const Assets& assets);

/// Reads a Hugging Face config.json; `where` names it in errors. Every number is checked: wrong type, negative,
/// zero where it cannot be, beyond 1e9 (or 1e13 parameters in all) is an error with the key's name.
[[nodiscard]] Result<ModelSpec> read_hf_config(std::string_view json_text, const std::string& where);

/// Tensor list of one safetensors file: names, types, element counts and bytes. Only the header is looked at.
struct StoredTensor {
  std::string name;
  std::string type;  ///< "BF16", "F8_E4M3", "Q4_K" …
  std::vector<std::int64_t> shape;
  double elements = 0;
  double bytes = 0;
};
[[nodiscard]] Result<std::vector<StoredTensor>> read_safetensors_header(std::string_view file,
                                                                        const std::string& where);

/// GGUF: metadata → ModelSpec with real bytes by role. `file` is the (mapped) file, whole or only its head.
[[nodiscard]] Result<ModelSpec> read_gguf(std::string_view file, const std::string& where);

/// Puts every weight in `format` (embedding, head, norms and router stay 16 bit; stored bytes are forgotten).
[[nodiscard]] ModelSpec with_weight_format(ModelSpec model, const WeightFormat& format);

}  // namespace corridor::model
