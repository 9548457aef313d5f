// SPDX-License-Identifier: Apache-2.0
// Addresses of lanes, and rows of shared memory.
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

LaneAddresses::Shape shape_of_words_here(const std::uint32_t* row) {
  std::uint32_t not_row = 0, not_uniform = 0;
  for (int first = 0; first < 30; first += 15) {  // steps 0 to 15 and 15 to 30
    CORRIDOR_EACH_LANE
    for (int lane = 0; lane < 16; ++lane) {
      const std::uint32_t step = row[first + lane + 1] - row[first + lane];
      not_row |= step ^ 4;
      not_uniform |= step;
    }
  }
  return not_row == 0       ? LaneAddresses::Shape::row
         : not_uniform == 0 ? LaneAddresses::Shape::uniform
                            : LaneAddresses::Shape::scattered;
}

// Tags: epoch << 8 | who; who is a warp, 32 + a warp for its atomics, 64 for atomics of several, 128 for several
// readers.
bool row_of_loads_here(const std::uint32_t* writer, std::uint32_t* reader, const std::uint8_t* written,
                       std::uint32_t epoch_tag, std::uint32_t warp) {
  const std::uint32_t mine = epoch_tag | warp;
  std::uint32_t bad = 0;
  CORRIDOR_EACH_LANE
  for (int i = 0; i < 32; ++i) {
    const std::uint32_t w = writer[i];
    const bool now = (w & 0xFFFFFF00U) == epoch_tag;
    bad |= static_cast<std::uint32_t>(now && w != mine && w != mine + 32);
  }
  std::uint32_t unwritten = 0;
  CORRIDOR_EACH_LANE
  for (int i = 0; i < 32; ++i) unwritten |= written[i] ^ 0xFU;
  if (bad != 0 || unwritten != 0) return true;
  CORRIDOR_EACH_LANE
  for (int i = 0; i < 32; ++i) {
    const std::uint32_t r = reader[i];
    reader[i] = (r & 0xFFFFFF00U) == epoch_tag && r != mine ? epoch_tag | 128 : mine;
  }
  return false;
}

bool row_of_stores_here(std::uint32_t* writer, const std::uint32_t* reader, std::uint8_t* written,
                        std::uint32_t epoch_tag, std::uint32_t warp) {
  const std::uint32_t mine = epoch_tag | warp;
  std::uint32_t bad = 0;
  CORRIDOR_EACH_LANE
  for (int i = 0; i < 32; ++i) {
    const std::uint32_t w = writer[i], r = reader[i];
    const bool written_now = (w & 0xFFFFFF00U) == epoch_tag && w != mine && w != mine + 32;
    const bool read_now = (r & 0xFFFFFF00U) == epoch_tag && r != mine;
    bad |= static_cast<std::uint32_t>(written_now || read_now);
  }
  if (bad != 0) return true;
  CORRIDOR_EACH_LANE
  for (int i = 0; i < 32; ++i) writer[i] = mine;
  CORRIDOR_EACH_LANE
  for (int i = 0; i < 32; ++i) written[i] = 0xF;
  return false;
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
  return {&addresses_here, &shape_of_words_here, &row_of_loads_here, &row_of_stores_here,
          &add_f16_here,   &add_bf16_here,       &f16_to_float_here, &half_of_here};
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
