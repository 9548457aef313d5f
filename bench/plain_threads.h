// SPDX-License-Identifier: Apache-2.0
// A plain interpreter of PTX, for comparison: one thread after the other, one value at a time, without counters, checks
// or caches. It knows the instructions of the kernels that ptx_bench runs.
#pragma once

#include <cstdint>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/ptx/functional/launch.h"

namespace corridor::bench {

/// Runs `kernel` on host memory: an argument is a scalar or the host address of a buffer. Returns the number of thread
/// instructions; an error names an instruction that it does not know.
[[nodiscard]] Result<std::uint64_t> run_plain_threads(const ptx::Function& kernel, ptx::Dim3 grid, ptx::Dim3 block,
                                                      const std::vector<std::uint64_t>& arguments);

}  // namespace corridor::bench
