// SPDX-License-Identifier: Apache-2.0
// What costs time, as a table of a Document: the same of traces and of counters.
#pragma once

#include <vector>

#include "corridor/diagnose/finding.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// `findings`, the largest loss first. People see the gain only where it is another number than the loss, and tokens a
/// second where a finding tells them.
[[nodiscard]] report::Table findings_table(const std::vector<diagnose::Finding>& findings);

}  // namespace corridor::views
