// SPDX-License-Identifier: Apache-2.0
// Which settings of a pasted command change no number of the answer.
#pragma once

#include <string>
#include <vector>

#include "corridor/profile/paste/serve_command.h"

namespace corridor::app {

/// Adds one remark that names the settings without effect, when there are any.
void name_without_effect(const profile::ServeCommand& command, std::vector<std::string>& remarks);

}  // namespace corridor::app
