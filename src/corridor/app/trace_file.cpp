// SPDX-License-Identifier: Apache-2.0
// The reader that fits the first bytes; a SQLite file that is not packed is read where it lies.
#include "corridor/app/trace_file.h"

#include "corridor/app/run_files.h"
#include "corridor/profile/kineto/read_kineto.h"
#include "corridor/profile/nsys/read_nsys.h"
#include "corridor/profile/rocprof/read_rocprof.h"

namespace corridor::app {

using profile::FileKind;

Result<bool> is_trace(const TraceFile& file) {
  const Result<FileKind> kind = kind_of_file(file);
  if (!kind) return tl::unexpected(kind.error());
  return *kind == FileKind::kineto || *kind == FileKind::nsys_sqlite || *kind == FileKind::nsys_trace_csv ||
         *kind == FileKind::rocprofv3_json;
}

Result<profile::Trace> read_trace_file(const TraceFile& file) {
  const Result<FileKind> kind = kind_of_file(file);
  if (!kind) return tl::unexpected(kind.error());
  if (*kind == FileKind::nsys_sqlite && profile::looks_like_nsys_sqlite(file.bytes)) {
    return profile::read_nsys_sqlite(file.bytes, file.name);
  }
  const std::unique_ptr<profile::ByteSource> source = profile::open_bytes(file.bytes, file.name);
  if (*kind == FileKind::nsys_sqlite) return profile::read_nsys_sqlite(*source, file.name);
  if (*kind == FileKind::nsys_trace_csv) return profile::read_nsys_gpu_trace(*source, file.name);
  if (*kind == FileKind::rocprofv3_json) return profile::read_rocprofv3(*source, file.name);
  return profile::read_kineto(*source, file.name);
}

}  // namespace corridor::app
