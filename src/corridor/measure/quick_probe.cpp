// SPDX-License-Identifier: Apache-2.0
// The probes: a team of threads, a buffer cut in equal slices, passes of at least some milliseconds, the best one kept.
#include "corridor/measure/quick_probe.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "corridor/measure/cpu_kernels.h"
#include "corridor/measure/stop_rule.h"
#include "corridor/measure/worker_team.h"

namespace corridor::measure {
namespace {

using units::Bytes;
using units::Seconds;

constexpr double mebi = 1024.0 * 1024.0;
constexpr double least_buffer = 8 * mebi;
constexpr double usual_buffer = 128 * mebi;
constexpr double most_buffer = 512 * mebi;
constexpr std::size_t block_bytes = read_block_words * sizeof(std::uint64_t);
constexpr double least_pass_s = 0.008;  // starting and ending a pass takes microseconds: well under one percent
constexpr double most_repeats = 1e9;

/// Anonymous memory; nothing is touched yet, so each thread can fill its own slice next to its own core.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return;
    data_ = static_cast<std::uint64_t*>(place);
#ifdef MADV_HUGEPAGE
    madvise(place, bytes, MADV_HUGEPAGE);  // fewer page faults and address translations; only a wish
#endif
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  [[nodiscard]] std::uint64_t* data() const {
    return data_;
  }

 private:
  std::uint64_t* data_ = nullptr;
  std::size_t bytes_;
};

template <class Work>
Seconds timed(const Clock& clock, const Work& work) {
  const Seconds start = clock.now();
  work();
  return clock.now() - start;
}

/// How often to repeat work that took `once`, so that a pass is long enough to be timed well.
double repeats_for(Seconds once, double least_seconds) {
  if (!(once.value() > 0)) return 1;
  return std::clamp(std::ceil(least_seconds / once.value()), 1.0, most_repeats);
}

tl::unexpected<Error> dead_clock(const char* probe) {
  return fail("the clock does not move during the measurement", probe, "try again, or name a device with --device");
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
  const std::size_t blocks = slices.stride / read_block_words;
  const Seconds start = clock.now();
  for (std::size_t piece = 1; piece <= pieces; ++piece) {
    const std::size_t end = blocks * piece / pieces * read_block_words;
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
  slices.stride = static_cast<std::size_t>(size.value()) / threads / block_bytes * read_block_words;
  if (slices.stride == 0) return fail("too little memory for each thread", what, "free some memory, or use --device");
  const Buffer buffer(slices.stride * threads * sizeof(std::uint64_t));
  if (buffer.data() == nullptr) {
    return fail("the system gives no memory for the measurement", what, "free some memory, or use --device");
  }
  slices.data = buffer.data();
  fill(team, slices, request.fill_budget, clock);

  const SumKernel sum = best_cpu_kernels().sum;
  std::atomic<std::uint64_t> sink{0};
  double repeats = 1;
  const auto pass = [&] {
    team.run([&](int index) {
      std::uint64_t total = 0;
      for (double i = 0; i < repeats; ++i) total += sum(slices.of(index), slices.words);
      sink += total;
    });
  };
  repeats = repeats_for(timed(clock, pass), least_pass_s);
  StopRule rule({request.budget});
  while (!rule.finished()) rule.add(timed(clock, pass));
  if (!(rule.best().value() > 0) || sink == 0) return dead_clock(what);

  ReadBandwidth out;
  out.buffer = Bytes{static_cast<double>(slices.words * threads * sizeof(std::uint64_t))};
  out.best = out.buffer * repeats / rule.best();
  out.threads = team.size();
  out.passes = rule.passes();
  out.near_cache = out.buffer < 2 * request.last_level_cache;
  return out;
}

Result<FmaPeak> probe_fma_peak(int threads, Seconds budget, const Clock& clock) {
  const CpuKernels& kernels = best_cpu_kernels();
  WorkerTeam team(threads);
  std::atomic<int> sink{0};
  double rounds = 20000;  // about 50 microseconds
  const auto pass = [&] { team.run([&](int) { sink += kernels.fma(static_cast<std::size_t>(rounds)) > 0 ? 1 : 0; }); };
  rounds *= repeats_for(timed(clock, pass), least_pass_s / 4);  // a first estimate, clocks may still be rising
  rounds = std::min(rounds * repeats_for(timed(clock, pass), least_pass_s), most_repeats);
  StopRule rule({budget});
  while (!rule.finished()) rule.add(timed(clock, pass));
  if (!(rule.best().value() > 0) || sink == 0) return dead_clock("arithmetic probe");
  FmaPeak out;
  out.threads = team.size();
  out.best = units::Flops{kernels.flop_per_round * rounds * team.size()} / rule.best();
  out.passes = rule.passes();
  out.vectors = kernels.name;
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
