// SPDX-License-Identifier: Apache-2.0
// Pointer chases: each load's address is the value of the load before, in one random cycle that no prefetcher guesses.
#include <algorithm>
#include <numeric>
#include <vector>

#include "corridor/measure/cpu/kernels.h"

namespace corridor::measure {
namespace {

constexpr std::size_t most_chases = 64;

/// SplitMix64: small, fast, the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  /// Below `bound`, which is at most 2^32.
  std::size_t below(std::size_t bound) { return ((next() >> 32U) * bound) >> 32U; }

 private:
  std::uint64_t state_;
};

const void* follow(const void* place) {
  return *static_cast<const void* const*>(place);
}

template <std::size_t count>
void chase_together(const void** places, std::size_t steps) {
  const void* at[count];
  for (std::size_t k = 0; k < count; ++k) at[k] = places[k];
  for (std::size_t i = 0; i < steps; ++i) {
    for (std::size_t k = 0; k < count; ++k) at[k] = follow(at[k]);
  }
  for (std::size_t k = 0; k < count; ++k) places[k] = at[k];
}

}  // namespace

const void* chase(const void* start, std::size_t steps) {
  const void* place = start;
  for (std::size_t i = 0; i < steps / 8; ++i) {
    place = follow(follow(follow(follow(follow(follow(follow(follow(place))))))));
  }
  for (std::size_t i = 0; i < steps % 8; ++i) place = follow(place);
  return place;
}

void chase_many(const void** places, std::size_t count, std::size_t steps) {
  switch (count) {  // the small counts stay in registers
    case 1:
      places[0] = chase(places[0], steps);
      return;
    case 2:
      chase_together<2>(places, steps);
      return;
    case 4:
      chase_together<4>(places, steps);
      return;
    case 8:
      chase_together<8>(places, steps);
      return;
    case 16:
      chase_together<16>(places, steps);
      return;
    case 32:
      chase_together<32>(places, steps);
      return;
    case 64:
      chase_together<64>(places, steps);
      return;
    default:
      break;
  }
  const std::size_t used = std::min(count, most_chases);
  for (std::size_t i = 0; i < steps; ++i) {
    for (std::size_t k = 0; k < used; ++k) places[k] = follow(places[k]);
  }
}

void link_cycle(void* data, std::size_t bytes, std::size_t stride, std::uint64_t seed) {
  const std::size_t count = bytes / stride;
  if (count == 0) return;
  auto* base = static_cast<std::byte*>(data);
  const auto place = [&](std::size_t i) { return reinterpret_cast<void**>(base + i * stride); };
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  Random random(seed);
  for (std::size_t i = count - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  for (std::size_t i = 0; i < count; ++i) *place(order[i]) = place(order[(i + 1) % count]);
}

}  // namespace corridor::measure
