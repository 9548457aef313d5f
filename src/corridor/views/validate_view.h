// SPDX-License-Identifier: Apache-2.0
// The document of `corridor validate`, and its rows as CSV.
#pragma once

#include <string>

#include "corridor/app/validate.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Regimes, what was set apart and why, the worst ten, and (HTML) predicted against measured.
[[nodiscard]] report::Document validate_document(const app::ValidateAnswer& answer, bool explain);

/// One line a row: id, metric, observed, low, mid, high, limit, status, reason. Numbers in the row's own unit; empty
/// where there is no prediction.
[[nodiscard]] std::string validate_rows_csv(const app::ValidateAnswer& answer);

}  // namespace corridor::views
