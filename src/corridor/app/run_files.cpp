// SPDX-License-Identifier: Apache-2.0
// Looks at the first bytes of each file.
#include "corridor/app/run_files.h"

#include "corridor/profile/byte_source.h"

namespace corridor::app {

using profile::FileKind;

Result<FileKind> kind_of_file(const RunFile& file) {
  if (file.kind) return *file.kind;
  const Result<std::string> head = profile::peek_bytes(file.bytes, file.name);
  if (!head) return tl::unexpected(head.error());
  return profile::kind_of(*head);
}

void sort_file(const RunFile& given, FileKind kind, RunFiles& files) {
  RunFile file = given;
  file.kind = kind;
  switch (kind) {
    case FileKind::kineto:
    case FileKind::nsys_sqlite:
    case FileKind::nsys_trace_csv:
    case FileKind::rocprofv3_json:
      files.traces.push_back(file);
      return;
    case FileKind::ncu_csv:
    case FileKind::nsys_stats_csv:
    case FileKind::rocprof_compute_csv:
      files.counters.push_back(file);
      return;
    case FileKind::results:
      files.results.push_back(file);
      return;
    case FileKind::metrics:
      files.metrics.push_back(file);
      return;
    case FileKind::model:
    case FileKind::text:
      files.texts.push_back(file);
      return;
  }
}

}  // namespace corridor::app
