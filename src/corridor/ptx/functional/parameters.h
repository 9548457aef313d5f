// SPDX-License-Identifier: Apache-2.0
// Where the parameters of a kernel lie in its parameter space.
#pragma once

#include <cstdint>
#include <vector>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// Offset of each parameter in bytes; `total`: bytes of all.
[[nodiscard]] std::vector<std::uint64_t> parameter_offsets(const Function& function, std::uint64_t& total);

}  // namespace corridor::ptx
