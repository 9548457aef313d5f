// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as JSON of rocprofv3 or a CSV of rocprof-compute. Read or refused; indices stay inside.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "corridor/profile/rocprof/read_rocprof.h"

namespace {

namespace profile = corridor::profile;

bool inside(std::uint32_t index, std::size_t size) {
  return index == profile::none || index < size;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t most_unpacked = std::size_t{1} << 24U;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = profile::open_bytes(bytes, "input", most_unpacked);
  const auto trace = profile::looks_like_rocprof_compute(bytes) ? profile::read_rocprof_compute(*source, "input")
                                                                : profile::read_rocprofv3(*source, "input");
  if (!trace) return trace.error().line().empty() ? (std::abort(), 1) : 0;
  for (const profile::GpuSpan& span : trace->gpu) {
    const bool sound = inside(span.launch, trace->calls.size()) && inside(span.shape, trace->shapes.size()) &&
                       inside(span.name, trace->names.size()) && span.duration_s >= 0 && span.start_s >= 0;
    if (!sound) std::abort();
  }
  for (const profile::KernelCounters& c : trace->counters) {
    if (!inside(c.shape, trace->shapes.size()) || (c.dram_bytes && *c.dram_bytes < 0)) std::abort();
  }
  return 0;
}
