// SPDX-License-Identifier: Apache-2.0
// Makes a launch ready: checks it, places variables, and joins parameters.
#pragma once

#include "corridor/base/result.h"
#include "corridor/ptx/functional/block_run.h"

namespace corridor::ptx {

[[nodiscard]] Result<LaunchState> set_up(const Program& program, const Launch& launch, DeviceMemory& memory,
                                         const RunDevice& device, const RunOptions& options);
/// Host bytes that one block takes while it runs.
[[nodiscard]] std::uint64_t bytes_of_block(const LaunchState& launch);

}  // namespace corridor::ptx
