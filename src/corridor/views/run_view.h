// SPDX-License-Identifier: Apache-2.0
// Metrics of a server, ladders of results, and the answer from all files of one run, as parts of a Document
// "corridor/diagnosis/1".
#pragma once

#include "corridor/app/run_case.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// "What the server's metrics tell" and, with GPUs, a table of their activities. `device` may be null.
void add_metrics(const profile::ServerMetrics& metrics, const hardware::Device* device, report::Document& document);

/// The results side by side, with what changes along them.
void add_ladder(const app::ResultLadder& ladder, report::Document& document);

/// Metrics without a prediction: their own verdict first.
[[nodiscard]] report::Document metrics_document(const app::DiagnoseAnswer& answer);

/// Traces with texts, results and metrics of the same run. The verdict on the trace stands first; that on the observed
/// speed under "measured" in JSON.
[[nodiscard]] report::Document run_view(const app::RunAnswer& answer, bool explain = false);

}  // namespace corridor::views
