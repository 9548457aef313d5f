// SPDX-License-Identifier: Apache-2.0
// Loops over one array: multiply-adds a value, and element-wise passes apart and fused.
#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/measure/lab/lab_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/measure/lab/stream_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// Highway must come after it.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace corridor::measure {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

float intensity(const float* data, std::size_t count, std::size_t steps) {
  constexpr std::size_t chains = 8;    // as many as two units with a latency of four cycles keep busy
  constexpr std::size_t ahead = 1024;  // values asked for in advance, so that waiting and arithmetic overlap
  const D d;
  const std::size_t n = hn::Lanes(d);
  const V a = hn::Set(d, 0.999F);
  const V b = hn::Set(d, 0.001F);
  V sum = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += chains * n) {
    V v[chains];
    for (std::size_t k = 0; k < chains; ++k) {
      hwy::Prefetch(data + i + k * n + ahead);
      v[k] = hn::LoadU(d, data + i + k * n);
    }
    for (std::size_t s = 0; s < steps; ++s) {
      for (std::size_t k = 0; k < chains; ++k) v[k] = hn::MulAdd(v[k], a, b);
    }
    sum = hn::Add(sum, hn::Add(hn::Add(hn::Add(v[0], v[1]), hn::Add(v[2], v[3])),
                               hn::Add(hn::Add(v[4], v[5]), hn::Add(v[6], v[7]))));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <class Work>
HWY_INLINE void each(float* data, std::size_t count, const Work& work) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += 4 * n) {
    for (std::size_t k = 0; k < 4; ++k) hn::StoreU(work(hn::LoadU(d, data + i + k * n)), d, data + i + k * n);
  }
}

void scale(float* data, std::size_t count, float a) {
  const V factor = hn::Set(D(), a);
  each(data, count, [factor](V v) HWY_ATTR { return hn::Mul(v, factor); });
}
void shift(float* data, std::size_t count, float b) {
  const V addend = hn::Set(D(), b);
  each(data, count, [addend](V v) HWY_ATTR { return hn::Add(v, addend); });
}
void clamp(float* data, std::size_t count, float c) {
  const V least = hn::Set(D(), c);
  each(data, count, [least](V v) HWY_ATTR { return hn::Max(v, least); });
}
void fused(float* data, std::size_t count, float a, float b, float c) {
  const V factor = hn::Set(D(), a);
  const V addend = hn::Set(D(), b);
  const V least = hn::Set(D(), c);
  each(data, count,
       [factor, addend, least](V v) HWY_ATTR { return hn::Max(hn::Add(hn::Mul(v, factor), addend), least); });
}

const char* target() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace corridor::measure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::measure {
HWY_EXPORT(intensity);
HWY_EXPORT(scale);
HWY_EXPORT(shift);
HWY_EXPORT(clamp);
HWY_EXPORT(fused);
HWY_EXPORT(target);

void take_stream_kernels(LabKernels& table) {
  table.name = HWY_DYNAMIC_DISPATCH(target)();
  table.intensity = HWY_DYNAMIC_DISPATCH(intensity);
  table.scale = HWY_DYNAMIC_DISPATCH(scale);
  table.shift = HWY_DYNAMIC_DISPATCH(shift);
  table.clamp = HWY_DYNAMIC_DISPATCH(clamp);
  table.fused = HWY_DYNAMIC_DISPATCH(fused);
}

}  // namespace corridor::measure
#endif
