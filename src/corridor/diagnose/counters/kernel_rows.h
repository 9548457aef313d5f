// SPDX-License-Identifier: Apache-2.0
// Launches → rows: one for each kernel and launch shape, with its rates against the roofs.
#pragma once

#include <vector>

#include "corridor/diagnose/counters/roofs.h"

namespace corridor::diagnose {

/// By time, then as in the file; `share` is filled.
[[nodiscard]] std::vector<KernelRow> kernel_rows(const RoofInput& input);

}  // namespace corridor::diagnose
