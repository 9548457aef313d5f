// SPDX-License-Identifier: Apache-2.0
// What to change about kernels with counters, ranked by the time above their nearest roof.
#pragma once

#include <vector>

#include "corridor/diagnose/counters/counter_analysis.h"

namespace corridor::diagnose {

/// At most twenty, the largest loss first; kernels within a tenth of their roof have none. Rows without a roof give one
/// finding together when their launches are short.
[[nodiscard]] std::vector<Finding> counter_findings(const CounterAnalysis& analysis);

}  // namespace corridor::diagnose
