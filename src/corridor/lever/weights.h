// SPDX-License-Identifier: Apache-2.0
// What the levers on weight formats share: put every product's weights into a format and say what limits the gain.
#pragma once

#include <string>

#include "corridor/lever/lever.h"

namespace corridor::lever {

/// True where the engine reads GGUF files, so that formats are named after their block types.
[[nodiscard]] bool uses_gguf(const Situation& situation);

/// The lever `id` ("8-bit weights") with weights in `format_name`, a name of model::weight_formats().
[[nodiscard]] LeverResult change_weights(const Situation& situation, std::string id, std::string name,
                                         std::string_view format_name);

}  // namespace corridor::lever
