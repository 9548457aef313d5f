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

namespace hn = hwy::HWY_NAMESPACE;
using Addresses = hn::CappedTag<std::uint64_t, 8>;

HWY_INLINE auto lanes_from(Addresses d, std::uint32_t mask, std::size_t first) {
  const std::uint64_t bits = mask >> first;
  std::uint8_t bytes[8];
  __builtin_memcpy(bytes, &bits, sizeof bytes);
  return hn::LoadMaskBits(d, bytes);
}

/// Least, most and alignment of lanes that are neither a row nor at one place.
HWY_INLINE void measure_scattered(std::uint32_t mask, std::uint64_t start, LaneAddresses& out) {
  const Addresses d;
  auto least = hn::Set(d, start), most = least, together = hn::Zero(d);
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
    const auto here = hn::IfThenElse(lanes_from(d, mask, i), hn::Load(d, out.of + i), hn::Set(d, start));
    least = hn::Min(least, here);
    most = hn::Max(most, here);
    together = hn::Or(together, here);
  }
  out.least = hn::GetLane(hn::MinOfLanes(d, least));
  out.most = hn::GetLane(hn::MaxOfLanes(d, most));
  alignas(64) std::uint64_t parts[8] = {};
  hn::Store(together, d, parts);
  out.together = 0;
  for (const std::uint64_t part : parts) out.together |= part;
}

template <class T>
void find_addresses(const T* row, std::int64_t offset, std::uint32_t mask, std::uint32_t stride, LaneAddresses& out) {
  const Addresses d;
  const hn::Rebind<T, Addresses> of_row;
  const hn::Rebind<std::uint32_t, Addresses> narrow;
  const auto add = static_cast<std::uint64_t>(offset);
  const auto first = static_cast<std::uint32_t>(__builtin_ctz(mask));
  const std::uint64_t start = row[first] + add;
  const auto steps = hn::PromoteTo(d, hn::Mul(hn::Iota(narrow, 0), hn::Set(narrow, stride)));
  auto expected = hn::Add(hn::Set(d, start - std::uint64_t{stride} * first), steps);
  auto not_row = hn::Zero(d), not_uniform = hn::Zero(d);
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
    auto here = hn::Set(d, add);
    if constexpr (sizeof(T) == 8) {
      here = hn::Add(here, hn::Load(of_row, row + i));
    } else {
      here = hn::Add(here, hn::PromoteTo(d, hn::Load(of_row, row + i)));
    }
    hn::Store(here, d, out.of + i);
    const auto on = lanes_from(d, mask, i);
    not_row = hn::Or(not_row, hn::IfThenElseZero(on, hn::Xor(here, expected)));
    not_uniform = hn::Or(not_uniform, hn::IfThenElseZero(on, hn::Xor(here, hn::Set(d, start))));
    expected = hn::Add(expected, hn::Set(d, std::uint64_t{stride} * hn::Lanes(d)));
  }
  out.first_lane = first;
  if (hn::AllTrue(d, hn::Eq(not_row, hn::Zero(d)))) {
    const auto last = 31 - static_cast<std::uint32_t>(__builtin_clz(mask));
    out.shape = LaneAddresses::Shape::row;
    out.least = start;
    out.most = start + std::uint64_t{stride} * (last - first);
    out.together = start | (last > first ? stride : 0);
    if (out.most >= out.least) return;
  }
  if (hn::AllTrue(d, hn::Eq(not_uniform, hn::Zero(d)))) {
    out.shape = LaneAddresses::Shape::uniform;
    out.least = out.most = out.together = start;
    return;
  }
  out.shape = LaneAddresses::Shape::scattered;
  measure_scattered(mask, start, out);
}

void addresses_here(const void* row, bool narrow, std::int64_t offset, std::uint32_t mask, std::uint32_t stride,
                    LaneAddresses& out) {
  if (narrow) return find_addresses(static_cast<const std::uint32_t*>(row), offset, mask, stride, out);
  find_addresses(static_cast<const std::uint64_t*>(row), offset, mask, stride, out);
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

std::uint32_t half_of_here(double v) {
  return f16_of(v);
}

LaneKernels lane_kernels_here() {
  return {&addresses_here, &add_f16_here, &add_bf16_here, &f16_to_float_here, &half_of_here};
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
