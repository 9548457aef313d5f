// SPDX-License-Identifier: Apache-2.0
// The face of the reader of Nsight Compute's CSV: the details page (one row a metric; columns of 2021, 2022 and later),
// the raw page (one row a launch, units in its second row), and tables of raw metrics that scripts write.
//
//   "ID","Process ID",…,"Kernel Name",…,"Section Name","Metric Name","Metric Unit","Metric Value"
//   "0","43201",…,"void relu_kernel(float *)",…,"Command line profiler metrics","dram__bytes.sum","Mbyte","7.86"
//
// Counters, the words of sections ("Duration"), scaled units, thousands separators and lines of the program's own
// output between the rows are understood. Host, process and user names are passed over.
#pragma once

#include <string>
#include <string_view>

#include "corridor/profile/byte_source.h"
#include "corridor/profile/trace.h"

namespace corridor::profile {

/// Whether the first bytes of a file hold the header line of such a table, whatever stands before it.
[[nodiscard]] bool looks_like_ncu_csv(std::string_view head);

/// Reads it into Trace::counters, one entry a launch, in the order of the file; a device where the file names one.
/// Fails when there is no header or no metric; anything less is counted in `Trace::stats`.
[[nodiscard]] Result<Trace> read_ncu(ByteSource& source, const std::string& file);

}  // namespace corridor::profile
