// SPDX-License-Identifier: Apache-2.0
// What `corridor lab` hands over when it is asked to run on the simulated GPU.
#pragma once

#include <string>

#include "corridor/cli/session.h"

namespace corridor::cli {

/// "sim" or "sim:DEVICE".
[[nodiscard]] bool is_simulated(const std::string& on);
/// One experiment on the simulated GPU; without a name the list.
[[nodiscard]] Result<int> run_simulated_lab(const std::string& name, const std::string& on, Session& session);

}  // namespace corridor::cli
