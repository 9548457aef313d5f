// SPDX-License-Identifier: Apache-2.0
// What follows from a measurement's figures alone.
#include "corridor/measure/measurement.h"

#include <algorithm>

namespace corridor::measure {

Figure better_of(const Figure& first, const Figure& again) {
  Figure out = first.value >= again.value ? first : again;
  const double apart = out.value > 0 ? 1 - std::min(first.value, again.value) / out.value : 0;
  out.spread = std::max({first.spread, again.spread, apart});
  out.passes = first.passes + again.passes;
  return out;
}

std::optional<double> Measurement::ridge_flop_per_byte() const {
  using hardware::ComputeType;
  if (!main_memory.read || !(main_memory.read->value > 0)) return std::nullopt;
  double best = 0;
  for (const MeasuredPeak& peak : peaks) {
    const bool counts = peak.type == ComputeType::fp32 || peak.type == ComputeType::tf32 ||
                        peak.type == ComputeType::fp16 || peak.type == ComputeType::bf16;
    if (counts) best = std::max(best, peak.flop_per_s.value);
  }
  if (!(best > 0)) return std::nullopt;
  return best / main_memory.read->value;
}

}  // namespace corridor::measure
