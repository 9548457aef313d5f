// SPDX-License-Identifier: Apache-2.0
// The files of one run, sorted by what they are: content decides, never a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/app/trace_case.h"
#include "corridor/base/result.h"
#include "corridor/profile/file_kind.h"

namespace corridor::app {

/// A file and its bytes (mapped, packed or not), which must outlive what uses it.
using RunFile = TraceFile;

struct RunFiles {
  std::vector<RunFile> traces;    ///< time-lines: Kineto, Nsight Systems, rocprofv3
  std::vector<RunFile> counters;  ///< per kernel: Nsight Compute, nsys stats, rocprof-compute
  std::vector<RunFile> results, metrics, texts;
};

/// What a file is: what it was said to be, else by its content. Fails when it cannot be unpacked at all.
[[nodiscard]] Result<profile::FileKind> kind_of_file(const RunFile& file);

/// Puts a file of a run where its kind belongs; `kind` is not `model`.
void sort_file(const RunFile& given, profile::FileKind kind, RunFiles& files);

}  // namespace corridor::app
