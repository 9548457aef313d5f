// SPDX-License-Identifier: Apache-2.0
// How many loads of a warp are under way when it first waits for one: what the order of the code allows.
#pragma once

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// Mean over the places of the code where a loaded register is read first; loads of global, generic and local memory
/// and atomics. Each basic block counts once, loops are not weighted, and the machine's compiler may move loads
/// further ahead: a low estimate. 0 for a function without such loads.
[[nodiscard]] double loads_per_wait(const Function& function);

}  // namespace corridor::ptx
