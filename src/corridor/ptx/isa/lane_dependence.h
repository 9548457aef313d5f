// SPDX-License-Identifier: Apache-2.0
// Which branches can part the lanes of a warp, as far as the flow of data tells.
#pragma once

#include <cstdint>
#include <vector>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// Conditional branches (indices into the body) whose condition comes from a lane's own number or from loaded data.
/// The rest have conditions that all lanes share. Conditions that differ only because lanes took different paths before
/// are not seen.
[[nodiscard]] std::vector<std::uint32_t> lane_dependent_branches(const Function& function);

}  // namespace corridor::ptx
