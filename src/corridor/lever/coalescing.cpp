// SPDX-License-Identifier: Apache-2.0
// Lever: memory layout. Engines' kernels read whole sectors already; it is for those who write their own.
#include <algorithm>

#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"

namespace corridor::lever {

LeverResult coalescing(const Situation& s) {
  constexpr double sector_bytes = 32;  // what one access fetches at least, on every GPU considered
  constexpr double value_bytes = 2;    // bf16
  LeverResult result = unavailable("coalescing", "coalesced memory layout", Metric::per_user, "");
  if (s.input.device.kind == hardware::DeviceKind::cpu) {
    result.note = "on a CPU layout matters by cache line; the engine's packed weights are read in order already";
    return result;
  }
  result.note = fmt::format(
      "the engine's kernels read whole sectors already; in a kernel of your own, 2-byte values with a "
      "stride of {:.0f} or more fetch {:.0f}× the bytes used, of the {} of the step that bytes take",
      sector_bytes / value_bytes, sector_bytes / value_bytes, percent(s.now.decode.shares.memory));
  result.cost = "rewriting the kernel";
  return result;
}

}  // namespace corridor::lever
