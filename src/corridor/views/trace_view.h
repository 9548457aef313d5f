// SPDX-License-Identifier: Apache-2.0
// TraceAnswer → Document "corridor/diagnosis/1": the verdict and the largest loss first, then where the time went.
#pragma once

#include "corridor/app/trace_case.h"
#include "corridor/app/trace_comparison.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// `explain` adds how each number was made; `comparison` (may be null) what changed against another run.
[[nodiscard]] report::Document trace_view(const app::TraceAnswer& answer, bool explain = false,
                                          const app::TraceComparison* comparison = nullptr);

}  // namespace corridor::views
