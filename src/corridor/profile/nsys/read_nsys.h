// SPDX-License-Identifier: Apache-2.0
// The face of the readers of Nsight Systems: the SQLite export (a time-line) and the kernel summary of `nsys stats`
// (times by kernel).
//
//   nsys export --type sqlite report.nsys-rep         → read_nsys_sqlite: kernels, copies, calls, NVTX ranges, devices
//   nsys stats --report cuda_gpu_kern_sum --format csv → read_nsys_stats: launches and time of each kernel
//
// The export holds the host's name and the whole environment of the process: neither is read.
#pragma once

#include <string>
#include <string_view>

#include "corridor/profile/byte_source.h"
#include "corridor/profile/trace.h"

namespace corridor::profile {

/// Whether a file is a SQLite database; whether Nsight Systems made it, only reading it tells.
[[nodiscard]] bool looks_like_nsys_sqlite(std::string_view head);

/// Reads the database that lies in `bytes` (unpacked, mapped or held; they must outlive the call). Tables and columns
/// are looked for, since each version of the tool has its own. Fails in one line when it is damaged beyond its list of
/// tables, is none of Nsight Systems, or holds no GPU work (the usual reason: the driver is newer than the tool).
/// Anything less is counted in `Trace::stats`.
[[nodiscard]] Result<Trace> read_nsys_sqlite(std::string_view bytes, const std::string& file);

/// The same, from bytes that have to be unpacked or are no mapped file; at most 4 GiB.
[[nodiscard]] Result<Trace> read_nsys_sqlite(ByteSource& source, const std::string& file);

/// Whether the first bytes of a text hold a kernel summary of `nsys stats`, or the line that says there is none.
[[nodiscard]] bool looks_like_nsys_stats(std::string_view head);

/// Reads it into Trace::counters: one entry a kernel (and launch shape, in the variants that tell it) with its launches
/// and the sum of their time. Fails when there is no kernel summary in it, or an empty one.
[[nodiscard]] Result<Trace> read_nsys_stats(ByteSource& source, const std::string& file);

/// Whether the first bytes of a text hold the report `cuda_gpu_trace` of `nsys stats`.
[[nodiscard]] bool looks_like_nsys_gpu_trace(std::string_view head);

/// Reads the first table of it into Trace::gpu: kernels, copies and sets with their starts, devices and launch shapes.
/// It holds no calls of the host. Fails when no row can be read; damaged rows are counted.
[[nodiscard]] Result<Trace> read_nsys_gpu_trace(ByteSource& source, const std::string& file);

}  // namespace corridor::profile
