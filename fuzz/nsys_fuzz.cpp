// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as an export or a summary of Nsight Systems. It is read or refused, and indices stay
// inside.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "corridor/profile/nsys/read_nsys.h"

namespace {

namespace profile = corridor::profile;

bool inside(std::uint32_t index, std::size_t size) {
  return index == profile::none || index < size;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!profile::looks_like_nsys_sqlite(bytes)) {
    const auto source = profile::open_bytes(bytes, "input", std::size_t{1} << 24U);
    const auto summary = profile::read_nsys_stats(*source, "input");
    if (!summary) return summary.error().line().empty() ? (std::abort(), 1) : 0;
    for (const profile::KernelCounters& c : summary->counters) {
      if (!inside(c.shape, summary->shapes.size()) || c.launches < 1 || !(*c.duration_s >= 0)) std::abort();
    }
    return 0;
  }
  const auto trace = profile::read_nsys_sqlite(bytes, "input");
  if (!trace) return trace.error().line().empty() ? (std::abort(), 1) : 0;
  for (const profile::GpuSpan& span : trace->gpu) {
    const bool sound = inside(span.launch, trace->calls.size()) && inside(span.shape, trace->shapes.size()) &&
                       inside(span.annotation, trace->annotations.size()) && inside(span.name, trace->names.size()) &&
                       span.duration_s >= 0 && span.start_s >= 0;
    if (!sound) std::abort();
  }
  return 0;
}
