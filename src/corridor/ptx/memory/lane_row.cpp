// SPDX-License-Identifier: Apache-2.0
// Compares 32 lanes with an arithmetic row, compiled once for each instruction set.
#include "corridor/ptx/memory/lane_row.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/memory/lane_row.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// Highway must come after it.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE bool row(const T* address) {
  constexpr std::size_t steps = 31;  // from each lane to the next
  const hn::CappedTag<T, 16> d;
  const std::size_t n = hn::Lanes(d);
  const auto step = hn::Set(d, static_cast<T>(address[1] - address[0]));
  auto different = hn::Zero(d);
  for (std::size_t done = 0; done < steps; done += n) {
    const T* from = address + (done + n <= steps ? done : steps - n);  // the last vector overlaps
    different = hn::Or(different, hn::Xor(hn::Sub(hn::LoadU(d, from + 1), hn::LoadU(d, from)), step));
  }
  return hn::AllTrue(d, hn::Eq(different, hn::Zero(d)));
}

bool row_64(const std::uint64_t* address) {
  return row(address);
}
bool row_32(const std::uint32_t* address) {
  return row(address);
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
namespace {
HWY_EXPORT(row_64);
HWY_EXPORT(row_32);
}  // namespace

bool is_row(const std::uint64_t* address) {
  return HWY_DYNAMIC_DISPATCH(row_64)(address);
}
bool is_row(const std::uint32_t* address) {
  return HWY_DYNAMIC_DISPATCH(row_32)(address);
}

}  // namespace corridor::ptx
#endif
