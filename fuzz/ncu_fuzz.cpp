// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes as a table of Nsight Compute. It is read or refused; what is read is finite and placed.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "corridor/profile/ncu/read_ncu.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace profile = corridor::profile;
  constexpr std::size_t most_unpacked = std::size_t{1} << 24U;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = profile::open_bytes(bytes, "input", most_unpacked);
  const auto trace = profile::read_ncu(*source, "input");
  (void)profile::looks_like_ncu_csv(bytes);
  if (!trace) return trace.error().line().empty() ? (std::abort(), 1) : 0;
  for (const profile::KernelCounters& c : trace->counters) {
    const bool shape = c.shape == profile::none || c.shape < trace->shapes.size();
    const bool time = !c.duration_s || (*c.duration_s > 0 && !std::isnan(*c.duration_s));
    if (!shape || !time || c.name >= trace->names.size()) std::abort();
  }
  return 0;
}
