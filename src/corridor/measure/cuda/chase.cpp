// SPDX-License-Identifier: Apache-2.0
// The chain is built on the GPU; the kernel times itself, so that no launch is in the figure.
#include "corridor/measure/cuda/chase.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace corridor::measure::cuda {
namespace {

// Steps of one timed walk. Short chains need many: a load from the L1 takes some 20 ns, and the nanosecond clock of
// some GPUs moves by a microsecond.
constexpr std::uint32_t steps_short = 65536, steps_long = 16384;
constexpr std::uint64_t short_slots = 8192;

}  // namespace

ChainStep chain_of(double bytes) {
  constexpr double most_slots = 4e9, golden = 0.6180339887;
  ChainStep chain;
  chain.slots = static_cast<std::uint64_t>(std::clamp(bytes / static_cast<double>(line_bytes), 1.0, most_slots));
  chain.step = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(golden * static_cast<double>(chain.slots)));
  while (std::gcd(chain.step, chain.slots) != 1) ++chain.step;
  return chain;
}

Result<ChaseTime> Chase::collect(std::uint32_t steps) const {
  std::array<std::uint64_t, 3> out{};
  if (auto done = gpu_.read_back(out.data(), results_.place(), sizeof(out)); !done) return tl::unexpected(done.error());
  if (out[0] == 0 || out[1] == 0) {
    return fail(
        fmt::format("a chase of {} loads took {} cycles and {} ns by the GPU's own clocks", steps, out[0], out[1]),
        fmt::format("cuda:{}", gpu_.facts().ordinal));
  }
  ChaseTime time;
  time.cycles = static_cast<double>(out[0]) / steps;
  time.load = units::Seconds{1e-9 * static_cast<double>(out[1]) / steps};
  return time;
}

Result<ChaseTime> Chase::global(double bytes, const std::function<Result<void>(std::size_t)>& warm) const {
  const ChainStep chain = chain_of(std::min(bytes, static_cast<double>(memory_.bytes())));
  const Shape shape{static_cast<unsigned>(gpu_.facts().sm_count) * 4, 256};
  constexpr std::uint64_t pitch = line_bytes;
  if (auto done = gpu_.launch("build_chain", shape, memory_.place(), chain.slots, pitch, chain.step); !done) {
    return tl::unexpected(done.error());
  }
  if (auto done = warm(chain.slots * line_bytes); !done) return tl::unexpected(done.error());
  const std::uint32_t steps = chain.slots <= short_slots ? steps_short : steps_long;
  const auto lap = static_cast<std::uint32_t>(std::min<std::uint64_t>(chain.slots, steps_long));
  if (auto done = gpu_.clear(results_); !done) return tl::unexpected(done.error());
  if (auto done = gpu_.launch("chase", Shape{1, 1}, memory_.place(), lap, steps, results_.place()); !done) {
    return tl::unexpected(done.error());
  }
  return collect(steps);
}

Result<ChaseTime> Chase::shared() const {
  constexpr std::uint32_t lap = 1024;
  if (auto done = gpu_.clear(results_); !done) return tl::unexpected(done.error());
  if (auto done = gpu_.launch("chase_shared", Shape{1, 1}, lap, steps_short, results_.place()); !done) {
    return tl::unexpected(done.error());
  }
  return collect(steps_short);
}

}  // namespace corridor::measure::cuda
