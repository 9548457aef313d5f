// SPDX-License-Identifier: Apache-2.0
// The probes: a team of threads, a buffer cut in equal slices, passes of at least some milliseconds, the best one kept.
#include "corridor/measure/quick_probe.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "corridor/measure/cpu/kernels.h"
#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/estimator.h"
#include "corridor/measure/worker_team.h"

namespace corridor::measure {
namespace {

using units::Bytes;
using units::Seconds;

constexpr double mebi = 1024.0 * 1024.0;
constexpr double least_buffer = 8 * mebi;
constexpr double usual_buffer = 128 * mebi;
constexpr double most_buffer = 512 * mebi;
constexpr std::size_t block_words = block_bytes / sizeof(std::uint64_t);
constexpr double least_pass_s = 0.008;  // starting and ending a pass takes microseconds: well under one percent

EstimatorSettings quick(Seconds budget) {
  EstimatorSettings settings;
  settings.budget = budget;
  settings.least_pass = Seconds{least_pass_s};
  settings.least_passes = 3;
  return settings;
}

}  // namespace

Bytes probe_buffer_size(Bytes last_level_cache, Bytes memory_available) {
  const double share = memory_available.value() / 4;
  if (!(share >= least_buffer)) return Bytes{};
  const double size = std::min(std::clamp(4 * last_level_cache.value(), usual_buffer, most_buffer), share);
  return Bytes{std::floor(size / mebi) * mebi};
}

namespace {

/// Equal parts of the buffer, one a thread, `stride` words apart, of which `words` are filled and read.
struct Slices {
  std::uint64_t* data = nullptr;
  std::size_t stride = 0;
  std::size_t words = 0;
  [[nodiscard]] std::uint64_t* of(int index) const { return data + static_cast<std::size_t>(index) * stride; }
};

/// Fills the slices piece by piece, each thread its own, and stops early when the budget is spent: the first touch of
/// memory can take seconds where the system must first make room.
void fill(WorkerTeam& team, Slices& slices, Seconds budget, const Clock& clock) {
  constexpr std::size_t pieces = 8;
  const std::size_t blocks = slices.stride / block_words;
  const Seconds start = clock.now();
  for (std::size_t piece = 1; piece <= pieces; ++piece) {
    const std::size_t end = blocks * piece / pieces * block_words;
    team.run([&](int index) {
      std::fill(slices.of(index) + slices.words, slices.of(index) + end, static_cast<std::uint64_t>(index) + 1);
    });
    slices.words = end;
    if (slices.words > 0 && clock.now() - start > budget) return;
  }
}

}  // namespace

Result<ReadBandwidth> probe_read_bandwidth(const BandwidthRequest& request, const Clock& clock) {
  const char* what = "memory bandwidth probe";
  const Bytes size = probe_buffer_size(request.last_level_cache, request.memory_available);
  if (size.value() <= 0) return fail("too little free memory to measure", what, "free some memory, or use --device");
  WorkerTeam team(request.threads);
  const auto threads = static_cast<std::size_t>(team.size());
  Slices slices;
  slices.stride = static_cast<std::size_t>(size.value()) / threads / block_bytes * block_words;
  if (slices.stride == 0) return fail("too little memory for each thread", what, "free some memory, or use --device");
  const Memory buffer(slices.stride * threads * sizeof(std::uint64_t));
  if (buffer.data() == nullptr) {
    return fail("the system gives no memory for the measurement", what, "free some memory, or use --device");
  }
  slices.data = reinterpret_cast<std::uint64_t*>(buffer.data());
  fill(team, slices, request.fill_budget, clock);

  const Kernels& kernels = best_kernels();
  const std::size_t bytes = slices.words * sizeof(std::uint64_t);
  std::atomic<std::uint64_t> sink{0};
  const auto samples = time_passes(quick(request.budget), clock, [&](double repeats) {
    team.run(
        [&](int index) { sink += kernels.read_again(slices.of(index), bytes, {}, static_cast<std::size_t>(repeats)); });
  });
  if (!samples) return tl::unexpected(samples.error());

  ReadBandwidth out;
  out.buffer = Bytes{static_cast<double>(bytes * threads)};
  out.best = out.buffer / samples->best;
  out.threads = team.size();
  out.passes = samples->passes;
  out.near_cache = out.buffer < 2 * request.last_level_cache;
  return out;
}

Result<FmaPeak> probe_fma_peak(int threads, Seconds budget, const Clock& clock) {
  const PeakKernel& kernel = best_kernels().f32;
  constexpr std::size_t rounds = 20000;  // of one repeat, about 50 microseconds
  WorkerTeam team(threads);
  std::atomic<int> sink{0};
  const auto samples = time_passes(quick(budget), clock, [&](double repeats) {
    team.run([&](int) { sink += kernel.run(static_cast<std::size_t>(repeats) * rounds) > 0 ? 1 : 0; });
  });
  if (!samples) return tl::unexpected(samples.error());
  FmaPeak out;
  out.threads = team.size();
  out.best = units::Flops{kernel.flop_per_round * static_cast<double>(rounds) * team.size()} / samples->best;
  out.passes = samples->passes;
  out.vectors = kernel.unit;
  return out;
}

namespace {

class SystemProber : public Prober {
 public:
  [[nodiscard]] Result<ReadBandwidth> read_bandwidth(const BandwidthRequest& request) const override {
    return probe_read_bandwidth(request, clock_);
  }
  [[nodiscard]] Result<FmaPeak> fma_peak(int threads) const override {
    return probe_fma_peak(threads, Seconds{0.08}, clock_);
  }
  [[nodiscard]] std::string today() const override { return clock_.today(); }

 private:
  SystemClock clock_;
};

}  // namespace

std::unique_ptr<Prober> system_prober() {
  return std::make_unique<SystemProber>();
}

}  // namespace corridor::measure
