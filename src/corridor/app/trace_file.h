// SPDX-License-Identifier: Apache-2.0
// One file of a recorded time-line, whatever tool wrote it.
#pragma once

#include "corridor/app/trace_case.h"
#include "corridor/profile/trace.h"

namespace corridor::app {

/// PyTorch profiler, Nsight Systems SQLite or rocprofv3 JSON, told by its content; packed or not.
[[nodiscard]] Result<profile::Trace> read_trace_file(const TraceFile& file);

}  // namespace corridor::app
