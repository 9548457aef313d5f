// SPDX-License-Identifier: Apache-2.0
// One curve over working sets from a few KiB to many times the L2: latency everywhere; rates through the L1 while an SM
// can hold the set, through the L2 and from main memory beyond.
#include "corridor/measure/cuda/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "corridor/measure/cuda/chase.h"
#include "corridor/measure/cuda/levels.h"
#include "corridor/measure/cuda/passes.h"
#include "corridor/measure/cuda/traffic.h"

namespace corridor::measure::cuda {
namespace {

constexpr double kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
constexpr double smallest_set = 3 * kib;
constexpr double most_l1 = 512 * kib;  // no SM holds more; beyond it loads pass by the L1
constexpr std::size_t l1_search_set = 12 * 1024;
constexpr double usual_l2 = 4 * mib;     // where the driver does not tell
constexpr double least_sets_per_l2 = 4;  // main memory is measured beyond this many times the L2
constexpr std::size_t versions_kept = 3;

constexpr double least_buffer = 16 * mib;

/// The buffer of all working sets: what was asked for, else 16 times the L2, at least 512 MiB, at most 4 GiB; in any
/// case no more than half of the free memory.
double wanted_buffer(const GpuFacts& facts, units::Bytes asked) {
  const double wanted =
      asked.value() > 0 ? std::max(asked.value(), least_buffer) : std::clamp(16 * facts.l2.value(), 0.5 * gib, 4 * gib);
  const double free_bytes = facts.memory_free.value();
  return free_bytes > 0 ? std::min(wanted, free_bytes / 2) : wanted;
}

/// Halves the wish until the driver grants it; the refusal is told when not even 16 MiB are left.
Result<Buffer> allocate_sets(Gpu& gpu, units::Bytes asked) {
  double bytes = std::max(wanted_buffer(gpu.facts(), asked), least_buffer);
  while (true) {
    const auto whole = static_cast<std::size_t>(bytes) / 4096 * 4096;
    Result<Buffer> buffer = gpu.allocate(whole);
    if (buffer || bytes / 2 < least_buffer) return buffer;
    bytes /= 2;
  }
}

class LadderRun {
 public:
  LadderRun(Gpu& gpu, const MeasureSettings& settings, const Progress& progress, const Buffer& sets,
            const Buffer& small, Measurement& result)
      : gpu_(gpu),
        effort_(settings.effort),
        passes_(pass_settings(settings.effort)),
        progress_(progress),
        traffic_(gpu, sets, small),
        chase_(gpu, sets, small),
        most_(static_cast<double>(sets.bytes())),
        result_(result) {}

  [[nodiscard]] Result<void> run();

 private:
  struct Choices {
    std::vector<Version> l1, read, write, copy, triad;
  };
  void tell(const char* what, double done) const {
    if (progress_) progress_(what, done);
  }
  [[nodiscard]] Result<void> search();
  [[nodiscard]] Result<CurvePoint> point(double bytes);
  [[nodiscard]] Result<void> rates(CurvePoint& point, std::size_t bytes);
  [[nodiscard]] Result<Figure> latency(double bytes, const char* how);
  [[nodiscard]] Result<Figure> shared_rate();
  [[nodiscard]] Result<void> shared_level();
  [[nodiscard]] Result<void> cache_levels();

  Gpu& gpu_;
  Effort effort_;
  EstimatorSettings passes_;
  const Progress& progress_;
  Traffic traffic_;
  Chase chase_;
  double most_;
  Measurement& result_;
  Choices choices_;
};

Result<void> LadderRun::search() {
  const double l2 = gpu_.facts().l2.value() > 0 ? gpu_.facts().l2.value() : usual_l2;
  const auto far = static_cast<std::size_t>(std::min(most_, std::max(8 * l2, 256 * mib)));
  const units::Seconds least = passes_.least_pass / 4;
  const auto choose = [&](Kind kind, std::size_t bytes, std::vector<Version>& into) -> Result<void> {
    auto found = traffic_.search(kind, bytes, versions_kept, least);
    if (!found) return tl::unexpected(found.error());
    into.insert(into.end(), found->begin(), found->end());
    return {};
  };
  if (auto done = choose(Kind::read_l1, l1_search_set, choices_.l1); !done) return done;
  if (auto done = choose(Kind::read, far, choices_.read); !done) return done;
  tell("choosing versions of the kernels", 0.05);
  if (auto done = choose(Kind::read, static_cast<std::size_t>(l2 / 2), choices_.read); !done) return done;
  if (auto done = choose(Kind::write, far, choices_.write); !done) return done;
  if (auto done = choose(Kind::copy, far, choices_.copy); !done) return done;
  tell("choosing versions of the kernels", 0.1);
  return choose(Kind::triad, far, choices_.triad);
}

Result<Figure> LadderRun::latency(double bytes, const char* how) {
  EstimatorSettings settings;
  settings.warm_up = effort_ == Effort::quick ? 0 : 1;
  settings.least_passes = effort_ == Effort::quick ? 2 : 3;
  settings.most_passes = effort_ == Effort::thorough ? 9 : settings.least_passes + 1;
  std::optional<Error> failure;
  const auto warm = [&](std::size_t set) { return traffic_.walk(Kind::read, choices_.read.front(), set, 1); };
  const auto samples = estimate(settings, [&]() -> units::Seconds {
    if (failure) return {};
    const Result<ChaseTime> time = bytes > 0 ? chase_.global(bytes, warm) : chase_.shared();
    if (time) return time->load;
    failure = time.error();
    return {};
  });
  if (failure) return tl::unexpected(std::move(*failure));
  if (!samples) return tl::unexpected(samples.error());
  return time_figure(1, *samples, how);
}

Result<void> LadderRun::rates(CurvePoint& point, std::size_t bytes) {
  const auto take = [&](Kind kind, const std::vector<Version>& versions, std::optional<Figure>& into) -> Result<void> {
    Result<Figure> figure = traffic_.rate(kind, versions, bytes, passes_);
    if (!figure) return tl::unexpected(figure.error());
    into = std::move(*figure);
    return {};
  };
  if (static_cast<double>(bytes) <= most_l1) return take(Kind::read_l1, choices_.l1, point.read);
  if (auto done = take(Kind::read, choices_.read, point.read); !done) return done;
  if (auto done = take(Kind::write, choices_.write, point.write); !done) return done;
  if (auto done = take(Kind::copy, choices_.copy, point.copy); !done) return done;
  return take(Kind::triad, choices_.triad, point.triad);
}

Result<CurvePoint> LadderRun::point(double bytes) {
  CurvePoint point;
  point.size = units::Bytes{bytes};
  point.threads = gpu_.facts().sm_count * gpu_.facts().max_threads_per_sm;
  Result<Figure> load = latency(bytes, "pointer chase by one thread, 128 bytes a step");
  if (!load) return tl::unexpected(load.error());
  point.latency = std::move(*load);
  if (auto done = rates(point, static_cast<std::size_t>(bytes)); !done) return tl::unexpected(done.error());
  return point;
}

Result<Figure> LadderRun::shared_rate() {
  const Shape shape{static_cast<unsigned>(gpu_.facts().sm_count) * 2, 512};
  constexpr double bytes_of_round = 8 * 16;
  const auto samples = time_work(gpu_, passes_, [&](unsigned rounds) {
    return gpu_.launch("read_shared", shape, rounds, DevicePointer{0}, std::uint32_t{0x9e3779b1});
  });
  if (!samples) return tl::unexpected(samples.error());
  const double threads = static_cast<double>(shape.blocks) * shape.threads;
  return rate_figure(bytes_of_round * threads, *samples, "16-byte reads without bank conflicts, 1024 threads an SM");
}

Result<void> LadderRun::shared_level() {
  MeasuredLevel level;
  level.level = "shared memory";
  level.instances = gpu_.facts().sm_count;
  level.capacity = gpu_.facts().shared_per_sm * level.instances;
  level.reported = level.capacity;
  Result<Figure> load = latency(0, "chase through shared memory by one thread");
  if (!load) return tl::unexpected(load.error());
  level.latency = std::move(*load);
  const Result<ChaseTime> clocks = chase_.shared();
  if (!clocks) return tl::unexpected(clocks.error());
  result_.conditions.emplace_back("SM clock during a chase",
                                  fmt::format("{:.0f} MHz", 1e-6 * clocks->cycles / clocks->load.value()));
  Result<Figure> rate = shared_rate();
  if (!rate) return tl::unexpected(rate.error());
  level.bandwidth = std::move(*rate);
  result_.ladder.push_back(std::move(level));
  return {};
}

Result<void> LadderRun::cache_levels() {
  constexpr int bisections = 6;
  const auto probe = [&](double bytes) -> Result<double> {
    const Result<Figure> load = latency(bytes, "");
    if (!load) return tl::unexpected(load.error());
    return load->value;
  };
  auto levels = levels_of(result_.curve, gpu_.facts(), most_l1, bisections, probe, result_.warnings);
  if (!levels) return tl::unexpected(levels.error());
  for (MeasuredLevel& level : *levels) result_.ladder.push_back(std::move(level));
  return {};
}

Result<void> LadderRun::run() {
  constexpr std::uint32_t float_mask = 0x807fffff, float_one_half = 0x3f000000;
  if (auto done = traffic_.fill(float_mask, float_one_half); !done) return done;
  if (auto done = search(); !done) return done;
  const std::vector<double> sizes = curve_sizes(most_, effort_);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    tell("memory ladder", 0.12 + 0.78 * static_cast<double>(i) / static_cast<double>(sizes.size()));
    Result<CurvePoint> next = point(sizes[i]);
    if (!next) return tl::unexpected(next.error());
    result_.curve.push_back(std::move(*next));
  }
  const CurvePoint& last = result_.curve.back();
  result_.main_memory = {last.read, last.write, last.copy, last.triad, last.threads};
  tell("capacities of the levels", 0.9);
  if (auto done = shared_level(); !done) return done;
  return cache_levels();
}

}  // namespace

std::vector<double> curve_sizes(double most, Effort effort) {
  std::vector<double> sizes;
  for (double bytes = smallest_set; bytes <= most; bytes *= 2) {
    sizes.push_back(bytes);
    const double between = bytes / 3 * 4;
    if (effort != Effort::quick && between <= most) sizes.push_back(between);
  }
  return sizes;
}

Result<void> measure_ladder(Gpu& gpu, const MeasureSettings& settings, const Progress& progress, Measurement& result) {
  const Result<Buffer> sets = allocate_sets(gpu, settings.memory);
  if (!sets) return tl::unexpected(sets.error());
  const Result<Buffer> small = gpu.allocate(4096);
  if (!small) return tl::unexpected(small.error());
  const double bytes = static_cast<double>(sets->bytes());
  if (bytes < least_sets_per_l2 * gpu.facts().l2.value()) {
    result.warnings.push_back(
        fmt::format("only {:.0f} MiB of GPU memory were free: main memory is measured partly "
                    "from the L2 of {:.0f} MiB",
                    bytes / mib, gpu.facts().l2.value() / mib));
  }
  return LadderRun(gpu, settings, progress, *sets, *small, result).run();
}

}  // namespace corridor::measure::cuda
