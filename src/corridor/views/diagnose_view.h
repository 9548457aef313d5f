// SPDX-License-Identifier: Apache-2.0
// DiagnoseAnswer → Document "corridor/diagnosis/1": the verdict and the next change first, then the evidence.
#pragma once

#include "corridor/app/diagnose.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// `explain` adds the formulas behind the prediction, with this case's numbers.
[[nodiscard]] report::Document diagnose_view(const app::DiagnoseAnswer& answer, bool explain = false);

}  // namespace corridor::views
