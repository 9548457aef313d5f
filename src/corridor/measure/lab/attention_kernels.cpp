// SPDX-License-Identifier: Apache-2.0
// Softmax over rows of scores, and attention of a few queries over a cache of keys and values.
#include <algorithm>
#include <cmath>

#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/measure/lab/lab_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/measure/lab/attention_kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// Highway must come after it.
#include <hwy/cache_control.h>
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace corridor::measure {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;

constexpr std::size_t most_heads = 16;

float max_row(const float* row, std::size_t count) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  V largest = hn::LoadU(d, row);
  for (std::size_t i = n; i < count; i += n) largest = hn::Max(largest, hn::LoadU(d, row + i));
  return hn::GetLane(hn::MaxOfLanes(d, largest));
}

float exp_row(float* row, std::size_t count, float scale, float largest) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  const V factor = hn::Set(d, scale);
  const V shift = hn::Set(d, -largest);
  V sum = hn::Zero(d);
  for (std::size_t i = 0; i < count; i += n) {
    const V e = hn::Exp(d, hn::MulAdd(hn::LoadU(d, row + i), factor, shift));
    hn::StoreU(e, d, row + i);
    sum = hn::Add(sum, e);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void scale_row(float* row, std::size_t count, float factor) {
  const D d;
  const V f = hn::Set(d, factor);
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(hn::Mul(hn::LoadU(d, row + i), f), d, row + i);
}

HWY_INLINE V load_bf16(const std::uint16_t* place) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const hn::Rebind<std::uint16_t, D> dh;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(dh, place))));
}

/// scores[heads][key_tile] of `count` queries against one tile of keys; `columns` vectors of tokens at a time.
template <std::size_t count>
HWY_INLINE void tile_scores(const float* q, std::size_t head_dim, const std::uint16_t* keys, float* scores) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t t = 0; t < key_tile; t += 2 * n) {
    V left[count];
    V right[count];
    for (std::size_t h = 0; h < count; ++h) left[h] = right[h] = hn::Zero(d);
    for (std::size_t i = 0; i < head_dim; ++i) {
      const V k0 = load_bf16(keys + i * key_tile + t);
      const V k1 = load_bf16(keys + i * key_tile + t + n);
      for (std::size_t h = 0; h < count; ++h) {
        const V query = hn::Set(d, q[h * head_dim + i]);
        left[h] = hn::MulAdd(query, k0, left[h]);
        right[h] = hn::MulAdd(query, k1, right[h]);
      }
    }
    for (std::size_t h = 0; h < count; ++h) {
      hn::StoreU(left[h], d, scores + h * key_tile + t);
      hn::StoreU(right[h], d, scores + h * key_tile + t + n);
    }
  }
}

/// out[count][head_dim] += p[count][key_tile] · V of one tile of `tokens` tokens.
template <std::size_t count>
HWY_INLINE void tile_values(const float* p, std::size_t head_dim, const std::uint16_t* values, std::size_t tokens,
                            float* out) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t i = 0; i < head_dim; i += n) {
    V sum[count];
    for (std::size_t h = 0; h < count; ++h) sum[h] = hn::LoadU(d, out + h * head_dim + i);
    for (std::size_t t = 0; t < tokens; ++t) {
      const V v = load_bf16(values + t * head_dim + i);
      for (std::size_t h = 0; h < count; ++h) sum[h] = hn::MulAdd(hn::Set(d, p[h * key_tile + t]), v, sum[h]);
    }
    for (std::size_t h = 0; h < count; ++h) hn::StoreU(sum[h], d, out + h * head_dim + i);
  }
}

/// Calls `one<8>`, `one<4>` … for groups of queries until all `heads` are done.
#define CORRIDOR_FOR_HEADS(function, heads, ...)                                        \
  for (std::size_t at = 0; at < (heads);) {                                             \
    const std::size_t left = (heads)-at;                                                \
    const std::size_t group = left >= 7 ? 7 : left >= 4 ? 4 : 1;                        \
    const auto run = group == 7 ? function<7> : group == 4 ? function<4> : function<1>; \
    run(__VA_ARGS__);                                                                   \
    at += group;                                                                        \
  }

void cached_attention(const float* q, std::size_t heads, std::size_t head_dim, const std::uint16_t* keys,
                      const std::uint16_t* values, std::size_t length, float* out) {
  alignas(64) float scores[most_heads * key_tile];
  float largest[most_heads];
  float sums[most_heads] = {};
  std::fill(largest, largest + most_heads, -INFINITY);
  std::fill(out, out + heads * head_dim, 0.0F);
  const float scale = 1.0F / std::sqrt(static_cast<float>(head_dim));
  for (std::size_t begin = 0; begin < length; begin += key_tile) {
    const std::size_t tokens = std::min(key_tile, length - begin);
    const std::uint16_t* tile_keys = keys + begin * head_dim;
    const std::uint16_t* tile_values_at = values + begin * head_dim;
    CORRIDOR_FOR_HEADS(tile_scores, heads, q + at * head_dim, head_dim, tile_keys, scores + at * key_tile)
    for (std::size_t h = 0; h < heads; ++h) {
      float* row = scores + h * key_tile;
      std::fill(row + tokens, row + key_tile, -INFINITY);
      const float now = std::max(largest[h], scale * max_row(row, key_tile));
      std::fill(row + tokens, row + key_tile, -1e30F);  // infinity times the scale must not become NaN
      const float keep = std::exp(largest[h] - now);
      sums[h] = sums[h] * keep + exp_row(row, key_tile, scale, now);
      if (keep != 1.0F) scale_row(out + h * head_dim, head_dim, keep);
      largest[h] = now;
    }
    CORRIDOR_FOR_HEADS(tile_values, heads, scores + at * key_tile, head_dim, tile_values_at, tokens,
                       out + at * head_dim)
  }
  for (std::size_t h = 0; h < heads; ++h) {
    if (sums[h] > 0) scale_row(out + h * head_dim, head_dim, 1.0F / sums[h]);
  }
}
#undef CORRIDOR_FOR_HEADS

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace corridor::measure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::measure {
HWY_EXPORT(max_row);
HWY_EXPORT(exp_row);
HWY_EXPORT(scale_row);
HWY_EXPORT(cached_attention);

void take_attention_kernels(LabKernels& table) {
  table.max_row = HWY_DYNAMIC_DISPATCH(max_row);
  table.exp_row = HWY_DYNAMIC_DISPATCH(exp_row);
  table.scale_row = HWY_DYNAMIC_DISPATCH(scale_row);
  table.cached_attention = HWY_DYNAMIC_DISPATCH(cached_attention);
}

}  // namespace corridor::measure
#endif
