// SPDX-License-Identifier: Apache-2.0
// Parts of the Hugging Face config reader: layer shapes, feed-forward blocks and the formats weights are stored in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "corridor/model/json_fields.h"
#include "corridor/model/model_spec.h"

namespace corridor::model {

/// What the parts of the reader share. `text` reads the language model's own object, `root` the whole file.
struct HfConfig {
  Fields& text;
  Fields& root;
  std::string type;  ///< model_type of the language model, lower case
  ModelSpec& spec;

  [[nodiscard]] bool is(std::initializer_list<std::string_view> types) const;
  [[nodiscard]] bool starts_with(std::string_view prefix) const { return type.substr(0, prefix.size()) == prefix; }
  void note(const std::string& clause) const;  ///< adds to the approximations, once
};

/// Kind of each layer in files that mix them: "attention", "mamba", "mlp", "moe"; empty when each layer has both a
/// mixer and a feed-forward block. Unknown kinds are rejected on `config.text`.
[[nodiscard]] std::vector<std::string> hybrid_layer_kinds(HfConfig& config);

/// Token mixers of all layers. Errors are left in `config.text`.
[[nodiscard]] std::vector<Mixer> read_mixers(HfConfig& config, std::int64_t layers);
/// Feed-forward blocks of all layers.
[[nodiscard]] std::vector<FeedForward> read_feed_forwards(HfConfig& config, std::int64_t layers);

/// Sets the storage of every role and the KV format from torch_dtype and quantization_config. `side_file` is the
/// content of hf_quant_config.json, or null.
void read_storage(HfConfig& config, const nlohmann::json* side_file);

/// read_hf_config with the text of hf_quant_config.json (empty when there is none).
[[nodiscard]] Result<ModelSpec> read_hf_config_with(std::string_view json_text, std::string_view quant_text,
                                                    const std::string& where);

}  // namespace corridor::model
