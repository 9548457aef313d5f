// SPDX-License-Identifier: Apache-2.0
// Models on disk: folders and files, in one part or many.
#pragma once

#include <string>

#include "corridor/base/result.h"
#include "corridor/model/model_spec.h"

namespace corridor::model {

/// A folder with config.json (and perhaps *.safetensors), or with *.gguf.
[[nodiscard]] Result<ModelSpec> read_model_folder(const std::string& folder);
/// config.json, *.safetensors, *.safetensors.index.json or *.gguf (any part of a split one).
[[nodiscard]] Result<ModelSpec> read_model_file(const std::string& path);

}  // namespace corridor::model
