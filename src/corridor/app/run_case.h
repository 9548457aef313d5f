// SPDX-License-Identifier: Apache-2.0
// All files of one run in one answer: traces of its ranks, and what texts, results and metrics say of the same run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/app/diagnose.h"
#include "corridor/app/trace_case.h"

namespace corridor::app {

struct RunAnswer {
  TraceAnswer trace;
  std::optional<DiagnoseAnswer> measured;  ///< the observed speed against its prediction, when the case is known
  std::vector<std::string> understood, ignored, remarks;
};

/// Texts, results and metrics fill in what the flags leave open (model, formats, layout) for the traces; the device of
/// the traces serves the comparison of the observed speed. Fails when a trace cannot be read, or a name is not known;
/// an observation that cannot be compared is a remark.
[[nodiscard]] Result<RunAnswer> diagnose_run(const Assets& assets, const DiagnoseRequest& request,
                                             const std::vector<TraceFile>& traces);

}  // namespace corridor::app
