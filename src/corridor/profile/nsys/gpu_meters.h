// SPDX-License-Identifier: Apache-2.0
// The GPU metrics that Nsight Systems samples (`nsys profile --gpu-metrics-devices`), of the whole chip.
#pragma once

#include <cstdint>
#include <map>

#include "corridor/profile/nsys/database.h"
#include "corridor/profile/trace.h"

namespace corridor::profile::nsys {

/// Reads GPU_METRICS into Trace::meters, times from `first_ns` on; at most ten million samples. Only metrics in
/// "[Throughput %]" are taken: others are integers of scales that the file does not tell. `cuda_of_gpu`: device numbers
/// of the process.
void read_meters(const Database& database, const std::map<std::int64_t, std::uint16_t>& cuda_of_gpu,
                 std::int64_t first_ns, Trace& trace);

}  // namespace corridor::profile::nsys
