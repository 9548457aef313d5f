// SPDX-License-Identifier: Apache-2.0
// Addresses of lanes, and sums of half precision.
#include "corridor/ptx/functional/lane_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/functional/lane_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// It must come after.
#include "corridor/ptx/functional/numbers_inl.h"

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

void addresses_here(const void* row, bool narrow, std::int64_t offset, std::uint32_t mask, std::uint32_t stride,
                    LaneAddresses& out) {
  const auto add = static_cast<std::uint64_t>(offset);
  if (narrow) {
    const auto* const r = static_cast<const std::uint32_t*>(row);
    CORRIDOR_EACH_LANE
    for (int lane = 0; lane < 32; ++lane) out.of[lane] = r[lane] + add;
  } else {
    const auto* const r = static_cast<const std::uint64_t*>(row);
    CORRIDOR_EACH_LANE
    for (int lane = 0; lane < 32; ++lane) out.of[lane] = r[lane] + add;
  }
  const auto first = static_cast<std::uint32_t>(__builtin_ctz(mask));
  const std::uint64_t start = out.of[first];
  const std::uint64_t zero = start - std::uint64_t{stride} * first;
  std::uint64_t not_row = 0, not_uniform = 0;
  if (mask == all_lanes) {
    out.of[32] = 2 * out.of[31] - out.of[30];  // the same step once more
    CORRIDOR_EACH_LANE
    for (int lane = 0; lane < 32; ++lane) {
      const std::uint64_t step = out.of[lane + 1] - out.of[lane];
      not_row |= step ^ stride;
      not_uniform |= step;
    }
  } else {
    CORRIDOR_EACH_LANE
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t on = 0 - ((static_cast<std::uint64_t>(mask) >> lane) & 1);
      not_row |= (out.of[lane] ^ (zero + lane * stride)) & on;
      not_uniform |= (out.of[lane] ^ start) & on;
    }
  }
  out.first_lane = first;
  if (not_row == 0) {
    const auto last = 31 - static_cast<std::uint32_t>(__builtin_clz(mask));
    out.shape = LaneAddresses::Shape::row;
    out.least = start;
    out.most = start + std::uint64_t{stride} * (last - first);
    out.together = start | (last > first ? stride : 0);
    if (out.most >= out.least) return;
  }
  if (not_uniform == 0) {
    out.shape = LaneAddresses::Shape::uniform;
    out.least = out.most = out.together = start;
    return;
  }
  out.shape = LaneAddresses::Shape::scattered;
  std::uint64_t least = start, most = start, together = 0;
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    const bool on = ((mask >> lane) & 1) != 0;
    const std::uint64_t a = on ? out.of[lane] : start;
    least = a < least ? a : least;
    most = a > most ? a : most;
    together |= a;
  }
  out.least = least;
  out.most = most;
  out.together = together;
}

std::uint32_t add_f16_here(std::uint32_t a, std::uint32_t b) {
  return f16_of(static_cast<double>(float_of_f16(a & 0xFFFF)) + static_cast<double>(float_of_f16(b & 0xFFFF)));
}
std::uint32_t add_bf16_here(std::uint32_t a, std::uint32_t b) {
  return bf16_of(static_cast<double>(float_of_bf16(a & 0xFFFF)) + static_cast<double>(float_of_bf16(b & 0xFFFF)));
}
float f16_to_float_here(std::uint32_t h) {
  return float_of_f16(h & 0xFFFF);
}

LaneKernels lane_kernels_here() {
  return {&addresses_here, &add_f16_here, &add_bf16_here, &f16_to_float_here};
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
HWY_EXPORT(lane_kernels_here);
const LaneKernels& lane_kernels() {
  static const LaneKernels kernels = HWY_DYNAMIC_DISPATCH(lane_kernels_here)();
  return kernels;
}
}  // namespace corridor::ptx
#endif  // HWY_ONCE
