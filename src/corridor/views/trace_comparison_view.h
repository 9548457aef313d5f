// SPDX-License-Identifier: Apache-2.0
// TraceComparison → the blocks that `corridor diagnose A --against B` adds to the answer on A.
#pragma once

#include "corridor/app/trace_comparison.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Caveats as warnings, both spans and busy shares, and the changed parts.
void add_comparison(const app::TraceComparison& comparison, report::Document& document);

}  // namespace corridor::views
