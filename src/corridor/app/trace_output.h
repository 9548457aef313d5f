// SPDX-License-Identifier: Apache-2.0
// Files that `corridor diagnose` writes about a recorded run: a copy that can be given away, and an annotated
// time-line.
#pragma once

#include <string>

#include "corridor/app/trace_case.h"

namespace corridor::app {

/// Writes a copy of `file` without names, paths, addresses and source code to `out`, which may be the file itself.
/// Returns what to tell of it in one line. Fails when the file is no trace that can be copied so.
[[nodiscard]] Result<std::string> write_redacted(const TraceFile& file, const std::string& out);

/// Writes the time-line of an answer that kept its trace (TraceRequest::keep_trace). Returns what to tell of it.
[[nodiscard]] Result<std::string> write_annotated(const TraceAnswer& answer, const std::string& out);

}  // namespace corridor::app
