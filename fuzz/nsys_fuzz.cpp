// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as an export, a trace or a summary of Nsight Systems. It is read or refused, and indices
// stay inside.
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

bool is_sound(const profile::Trace& trace) {
  for (const profile::GpuSpan& span : trace.gpu) {
    const bool sound = inside(span.launch, trace.calls.size()) && inside(span.shape, trace.shapes.size()) &&
                       inside(span.annotation, trace.annotations.size()) && inside(span.name, trace.names.size()) &&
                       span.duration_s >= 0 && span.start_s >= 0;
    if (!sound) return false;
  }
  for (const profile::DeviceMeters& meters : trace.meters) {
    for (std::size_t i = 1; i < meters.samples.size(); ++i) {
      if (!(meters.samples[i - 1].at_s < meters.samples[i].at_s)) return false;
    }
  }
  for (const profile::KernelCounters& c : trace.counters) {
    if (!inside(c.shape, trace.shapes.size()) || c.launches < 1 || !(*c.duration_s >= 0)) return false;
  }
  return true;
}

corridor::Result<profile::Trace> read(std::string_view bytes) {
  if (profile::looks_like_nsys_sqlite(bytes)) return profile::read_nsys_sqlite(bytes, "input");
  const auto source = profile::open_bytes(bytes, "input", std::size_t{1} << 24U);
  if (profile::looks_like_nsys_gpu_trace(bytes)) return profile::read_nsys_gpu_trace(*source, "input");
  return profile::read_nsys_stats(*source, "input");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto trace = read({reinterpret_cast<const char*>(data), size});
  const bool answered = trace ? is_sound(*trace) : !trace.error().line().empty();
  if (!answered) std::abort();
  return 0;
}
