// SPDX-License-Identifier: Apache-2.0
// The face of the readers of ROCm's profilers: the JSON of rocprofv3 (a time-line) and the CSV files of rocprof-compute
// (counters of each dispatch, roofs measured on the machine, what the machine is).
//
//   rocprofv3 --kernel-trace --hip-trace --memory-copy-trace --output-format json → read_rocprofv3
//   pmc_perf.csv, roofline.csv, sysinfo.csv of one workload folder                → read_rocprof_compute, one call each
//
// Command lines, host and user names in them are not read.
#pragma once

#include <string>
#include <string_view>

#include "corridor/profile/byte_source.h"
#include "corridor/profile/trace.h"

namespace corridor::profile {

/// Whether the first bytes of a file look like the JSON of rocprofv3.
[[nodiscard]] bool looks_like_rocprofv3(std::string_view head);

/// Reads it, streamed: memory grows with the GPU work and the names of kernels, not with the file. Fails when there is
/// no kernel and no copy in it; anything less is counted in `Trace::stats`.
[[nodiscard]] Result<Trace> read_rocprofv3(ByteSource& source, const std::string& file);

/// Whether the first bytes of a file are the header of pmc_perf.csv, roofline.csv or sysinfo.csv.
[[nodiscard]] bool looks_like_rocprof_compute(std::string_view head);

/// Reads any of the three: counters go to Trace::counters, one entry a dispatch; measured roofs to Trace::roofs; what
/// the machine is to Trace::devices. Fails when it is none of them, or has no row.
[[nodiscard]] Result<Trace> read_rocprof_compute(ByteSource& source, const std::string& file);

/// Puts what `part`, another file of the same run, tells into `whole`: counters behind those that are there, roofs and
/// devices where there were none.
void join_counters(Trace& whole, Trace&& part);

}  // namespace corridor::profile
