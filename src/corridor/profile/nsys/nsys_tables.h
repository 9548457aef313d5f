// SPDX-License-Identifier: Apache-2.0
// The tables of an Nsight Systems export as flat rows, before they are joined.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "corridor/profile/nsys/database.h"
#include "corridor/profile/trace.h"

namespace corridor::profile::nsys {

// Times are nanoseconds of the export's clock. `process` is the upper part of the tool's global ids.
struct RawSpan {
  std::int64_t start = 0, end = 0;
  std::uint64_t process = 0, correlation = 0;
  std::uint32_t name = none, shape = none, stream = 0;
  std::uint16_t device = 0;
  GpuWork work = GpuWork::kernel;
  bool from_graph = false;
  double bytes = 0;
};

struct RawCall {
  std::int64_t start = 0, end = 0;
  std::uint64_t process = 0, correlation = 0, thread = 0;
  std::uint32_t name = none;
};

struct RawRange {
  std::int64_t start = 0, end = 0;
  std::uint64_t thread = 0;
  std::uint32_t name = none;
};

struct RawTables {
  std::vector<RawSpan> spans;
  std::vector<RawCall> calls;
  std::vector<RawRange> ranges;
  std::map<std::int64_t, std::uint16_t> cuda_of_gpu;  ///< numbers of the machine → of the process
  bool kernel_table = false;
};

/// Reads what is there; names, shapes, devices, producer and what was lost go to `trace`.
[[nodiscard]] RawTables read_tables(const Database& database, Trace& trace);

}  // namespace corridor::profile::nsys
