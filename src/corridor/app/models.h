// SPDX-License-Identifier: Apache-2.0
// What is known of the models: the built-in list, or one model in full with its matrices and its bytes by role.
//
//   meta-llama/Llama-3.1-70B: 70.6B parameters, 80 layers, GQA, 328 kB of KV cache a token in bf16
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/model/model_spec.h"
#include "corridor/units/units.h"

namespace corridor::app {

/// One line of the list.
struct ModelSummary {
  std::string id, architecture;
  double parameters = 0;  ///< text model, a tied table once
  double active = 0;      ///< that one token uses
  std::int64_t layers = 0, hidden = 0, vocab = 0;
  std::int64_t max_positions = 0;   ///< 0 = not stated
  units::Bytes weights;             ///< as stored
  units::Bytes kv_per_token;        ///< in bf16, inside every window
  units::Bytes state_per_sequence;  ///< of linear and state space layers
  std::string kinds;                ///< "GQA, window, MoE"
};

/// Layers that are alike.
struct LayerRow {
  std::int64_t count = 0;
  std::string mixer;         ///< "GQA 64 heads, 8 KV heads of 128"
  std::string feed_forward;  ///< "MoE 8 of 128 × 1536"
  double parameters = 0;     ///< of one layer
};

/// One weight matrix of a layer group (or outside the layers, where `group` is 0).
struct MatrixRow {
  std::size_t group = 0;  ///< 1 = first layer group
  std::string name, role, format;
  double out = 0, in = 0, copies = 1;
  double elements = 0;  ///< of all copies in one layer
};

/// All tensors of one role.
struct RoleRow {
  std::string role, format;
  double elements = 0;
  double bits_per_weight = 0;
  units::Bytes bytes;
  bool real = false;  ///< from the files' headers; false: by the format's rule
};

struct ModelDetail {
  model::ModelSpec model;
  std::string resolution_note;  ///< how the name was understood; empty when it was exact
  ModelSummary summary;
  std::vector<LayerRow> layers;
  std::vector<MatrixRow> matrices;
  std::vector<RoleRow> roles;
};

/// Every built-in model, by id.
[[nodiscard]] Result<std::vector<ModelSummary>> list_models(const Assets& assets);

/// One model by any name find_model knows: an id, an alias, a folder or a file.
[[nodiscard]] Result<ModelDetail> describe_model(const Assets& assets, std::string_view name);

}  // namespace corridor::app
