// SPDX-License-Identifier: Apache-2.0
// The order of the measurements and their shares of the time; each figure comes from the probe.
#include "corridor/measure/measure_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "corridor/measure/cpu/surroundings.h"
#include "corridor/measure/ladder.h"
#include "corridor/measure/machine_reader.h"
#include "corridor/measure/measured_cpu_device.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

using units::Bytes;
using units::Seconds;

constexpr double kibi = 1024.0;
constexpr double mebi = kibi * kibi;
constexpr Bytes smallest_part{4 * kibi};
constexpr double inside = 0.75;     // of a level's capacity: surely in it
constexpr double past = 2;          // times the level before: surely out of that
constexpr double saturated = 0.95;  // of the best read rate
constexpr double notable_drift = 0.03;
constexpr double notable_spread = 0.1;

/// How an effort spends its time.
struct Plan {
  Seconds point, main, peak, fill;
  int per_octave = 2;
  double cache_multiple = 4;     ///< working set ÷ last-level cache
  int refinements = 3;           ///< further latencies at each step
  Bytes dense_up_to{64 * mebi};  ///< above it: fewer latencies, since linking a large cycle takes seconds
  bool all_kinds_above = true;   ///< write, copy and triad above it too
};

Plan plan_of(Effort effort) {
  Plan plan{Seconds{0.12}, Seconds{2.5}, Seconds{0.5}, Seconds{20}};
  if (effort == Effort::quick) {
    plan = {Seconds{0.04}, Seconds{0.4}, Seconds{0.15}, Seconds{4}, 1, 4, 0};
    plan.all_kinds_above = false;
  } else if (effort == Effort::thorough) {
    plan = {Seconds{0.5}, Seconds{8}, Seconds{2}, Seconds{60}, 4, 12, 4};
    plan.dense_up_to = Bytes{std::numeric_limits<double>::infinity()};
  }
  return plan;
}

/// Sizes of the chases, the largest included.
std::vector<Bytes> latency_sizes(Bytes top, const Plan& plan) {
  std::vector<Bytes> sizes = ladder_sizes(smallest_part, std::min(top, plan.dense_up_to), plan.per_octave, Bytes{64});
  for (Bytes size = 2 * plan.dense_up_to; size < top; size *= 2) sizes.push_back(size);
  if (!sizes.empty() && sizes.back() < top / 1.1) sizes.push_back(Bytes{std::floor(top.value() / 64) * 64});
  return sizes;
}

/// The figure in the middle of a plateau: its ends lean on the levels beside it.
std::optional<Figure> middle_of(std::vector<Figure> figures) {
  if (figures.empty()) return std::nullopt;
  std::sort(figures.begin(), figures.end(), [](const Figure& a, const Figure& b) { return a.value < b.value; });
  return figures[(figures.size() - 1) / 2];
}

/// The four kinds of traffic and where their figures stand, of main memory or of a point of the curve.
std::array<std::pair<Traffic, std::optional<Figure>*>, 4> kinds_of(auto& figures) {
  return {{{Traffic::read, &figures.read},
           {Traffic::write, &figures.write},
           {Traffic::copy, &figures.copy},
           {Traffic::triad, &figures.triad}}};
}

/// One run of measurements; stops at the first error.
class Run {
 public:
  Run(CpuProbe& probe, const MachineFacts& facts, const Plan& plan, const Progress& progress)
      : probe_(probe), facts_(facts), plan_(plan), progress_(progress) {}

  Result<int> all();
  Measurement out;

 private:
  void tell(std::string_view what, double done) const {
    if (progress_) progress_(what, done);
  }
  Result<int> peaks();
  Result<int> latencies();
  Result<int> refine(const std::vector<LatencyStep>& steps);
  Result<int> rates();
  Result<int> main_memory();
  Result<int> dispatch();
  Result<int> second_look();
  void warn_about_clock(double change);
  void levels();
  void warn_about_levels(const FoundLevel& level);
  void warn_about_spread();
  [[nodiscard]] std::vector<LatencyPoint> latency_points() const;
  [[nodiscard]] double instances_used(const FoundLevel& level) const;
  [[nodiscard]] MeasuredLevel main_level() const;

  CpuProbe& probe_;
  const MachineFacts& facts_;
  const Plan& plan_;
  const Progress& progress_;
};

Result<int> Run::all() {
  using Stage = Result<int> (Run::*)();
  constexpr std::array<Stage, 6> stages = {&Run::peaks, &Run::main_memory, &Run::latencies,
                                           &Run::rates, &Run::dispatch,    &Run::second_look};
  for (const Stage stage : stages) {
    if (Result<int> done = (this->*stage)(); !done) return done;
  }
  levels();
  warn_about_spread();
  tell("done", 1);
  return 0;
}

Result<int> Run::peaks() {
  for (const PeakKernel& kernel : probe_.peaks()) {
    tell(fmt::format("arithmetic, {}", hardware::name(kernel.type)), 0.05);
    Result<Figure> figure = probe_.peak(kernel, plan_.peak);
    if (!figure) return tl::unexpected(figure.error());
    out.peaks.push_back({kernel.type, std::move(*figure), std::string(kernel.unit)});
  }
  return 0;
}

/// Peaks and main memory again at the end of the run: a neighbour or the clock may slow the machine down for seconds,
/// which the passes of one look, all alike, do not tell.
Result<int> Run::second_look() {
  const std::vector<PeakKernel> kernels = probe_.peaks();
  for (std::size_t i = 0; i < std::min(kernels.size(), out.peaks.size()); ++i) {
    tell(fmt::format("arithmetic again, {}", hardware::name(kernels[i].type)), 0.96);
    const Result<Figure> again = probe_.peak(kernels[i], plan_.peak);
    if (!again) return tl::unexpected(again.error());
    Figure& first = out.peaks[i].flop_per_s;
    if (i == 0) warn_about_clock(again->value / first.value - 1);
    first = better_of(first, *again);
  }
  for (const auto& [kind, figure] : kinds_of(out.main_memory)) {
    tell(fmt::format("main memory again, {}", name(kind)), 0.98);
    const Result<Figure> again = probe_.traffic(kind, probe_.largest(), probe_.threads(), plan_.main);
    if (!again) return tl::unexpected(again.error());
    *figure = better_of(**figure, *again);
  }
  return 0;
}

void Run::warn_about_clock(double change) {
  if (std::abs(change) <= notable_drift) return;
  out.warnings.push_back(
      fmt::format("{} arithmetic was {:.0f} % {} at the end than at the start: the clock moved, or others used the "
                  "processor.",
                  hardware::name(out.peaks.front().type), 100 * std::abs(change), change > 0 ? "faster" : "slower"));
}

Result<int> Run::latencies() {
  // A quick run leaves out the largest cycle: linking it would take seconds, and half of it lies beyond the caches too.
  const Bytes top = plan_.all_kinds_above ? probe_.largest() : std::max(smallest_part, probe_.largest() / 2);
  const std::vector<Bytes> sizes = latency_sizes(top, plan_);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    tell("latency, " + units::print(sizes[i]), 0.25 + 0.3 * static_cast<double>(i) / static_cast<double>(sizes.size()));
    Result<Figure> figure = probe_.latency(sizes[i], plan_.point);
    if (!figure) return tl::unexpected(figure.error());
    CurvePoint point;
    point.size = sizes[i];
    point.latency = std::move(*figure);
    out.curve.push_back(std::move(point));
  }
  for (int i = 0; i < plan_.refinements; ++i) {
    if (Result<int> done = refine(find_steps(latency_points())); !done) return done;
  }
  return 0;
}

/// One more latency in the middle of each step's uncertain stretch.
Result<int> Run::refine(const std::vector<LatencyStep>& steps) {
  for (const LatencyStep& step : steps) {
    const Bytes middle{std::round(step.below.value() * std::sqrt(step.above / step.below) / 64) * 64};
    if (middle <= step.below || middle >= step.above) continue;
    tell("latency, " + units::print(middle), 0.55);
    Result<Figure> figure = probe_.latency(middle, plan_.point);
    if (!figure) return tl::unexpected(figure.error());
    CurvePoint point;
    point.size = middle;
    point.latency = std::move(*figure);
    const auto place =
        std::find_if(out.curve.begin(), out.curve.end(), [&](const CurvePoint& other) { return other.size > middle; });
    out.curve.insert(place, std::move(point));
  }
  return 0;
}

std::vector<LatencyPoint> Run::latency_points() const {
  std::vector<LatencyPoint> points;
  for (const CurvePoint& point : out.curve) {
    if (point.latency) points.push_back({point.size, Seconds{point.latency->value}});
  }
  return points;
}

Result<int> Run::rates() {
  const int threads = probe_.threads();
  const std::vector<Bytes> sizes = ladder_sizes(smallest_part * threads, probe_.largest(), plan_.per_octave,
                                                Bytes{static_cast<double>(block_bytes) * threads});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    tell("bandwidth, " + units::print(sizes[i]),
         0.57 + 0.35 * static_cast<double>(i) / static_cast<double>(sizes.size()));
    CurvePoint point;
    point.size = sizes[i];
    point.threads = threads;
    for (const auto& [kind, place] : kinds_of(point)) {
      if (kind != Traffic::read && sizes[i] > plan_.dense_up_to && !plan_.all_kinds_above) continue;
      Result<Figure> figure = probe_.traffic(kind, sizes[i], threads, plan_.point);
      if (!figure) return tl::unexpected(figure.error());
      *place = std::move(*figure);
    }
    out.curve.push_back(std::move(point));
  }
  return 0;
}

Result<int> Run::main_memory() {
  MainMemory& main = out.main_memory;
  const int all = probe_.threads();
  for (const auto& [kind, place] : kinds_of(main)) {
    tell(fmt::format("main memory, {}", name(kind)), 0.1);
    Result<Figure> figure = probe_.traffic(kind, probe_.largest(), all, plan_.main);
    if (!figure) return tl::unexpected(figure.error());
    *place = std::move(*figure);
  }
  std::vector<std::pair<int, double>> by_threads;
  for (int threads = 1; threads < all; threads = threads < 4 ? threads + 1 : threads * 2) {
    tell(fmt::format("main memory, {} of {} threads", threads, all), 0.2);
    const Result<Figure> figure = probe_.traffic(Traffic::read, probe_.largest(), threads, plan_.main * 0.3);
    if (!figure) return tl::unexpected(figure.error());
    by_threads.emplace_back(threads, figure->value);
  }
  by_threads.emplace_back(all, main.read->value);
  double best = 0;
  for (const auto& [threads, rate] : by_threads) best = std::max(best, rate);
  const auto enough = std::find_if(by_threads.begin(), by_threads.end(),
                                   [&](const auto& entry) { return entry.second >= saturated * best; });
  main.threads_to_saturate = enough->first;
  return 0;
}

Result<int> Run::dispatch() {
  tell("dispatch of a task", 0.95);
  Result<Figure> figure = probe_.dispatch(plan_.peak);
  if (!figure) return tl::unexpected(figure.error());
  out.launch = std::move(*figure);
  return 0;
}

/// Caches of the first two levels belong to cores: only those of the threads in use count.
double Run::instances_used(const FoundLevel& level) const {
  const bool of_a_core = level.name == "L1" || level.name == "L2";
  return of_a_core ? std::min(level.instances, static_cast<double>(probe_.threads())) : level.instances;
}

void Run::warn_about_levels(const FoundLevel& level) {
  if (!level.found) {
    out.warnings.push_back(
        fmt::format("{}: the latency curve shows no step near the {} the system reports; its figures "
                    "are for that size.",
                    level.name, units::print(level.capacity)));
  } else if (level.reported && std::abs(level.capacity / *level.reported - 1) > 0.3) {
    out.warnings.push_back(fmt::format("{}: the latency curve rises at {}, the system reports {}.", level.name,
                                       units::print(level.capacity), units::print(*level.reported)));
  }
}

MeasuredLevel Run::main_level() const {
  MeasuredLevel level;
  level.level = "main memory";
  if (facts_.memory) level.capacity = *facts_.memory;
  level.reported = facts_.memory;
  level.bandwidth = out.main_memory.read;
  for (const CurvePoint& point : out.curve) {
    if (point.latency) level.latency = point.latency;  // the last one is that of the largest working set
  }
  return level;
}

void Run::levels() {
  Bytes before_one, before_all;
  for (const FoundLevel& found : match_levels(find_steps(latency_points()), facts_.caches)) {
    warn_about_levels(found);
    MeasuredLevel level;
    level.level = found.name;
    level.instances = instances_used(found);
    level.capacity = found.capacity * level.instances;
    if (found.reported) level.reported = *found.reported * level.instances;
    std::vector<Figure> inside_latencies;
    for (const CurvePoint& point : out.curve) {
      const bool in_all = point.size <= inside * level.capacity && point.size >= past * before_all;
      const bool in_one = point.size <= inside * found.capacity && point.size >= past * before_one;
      if (point.read && in_all && (!level.bandwidth || point.read->value > level.bandwidth->value)) {
        level.bandwidth = point.read;
      }
      if (point.latency && in_one) inside_latencies.push_back(*point.latency);
    }
    level.latency = middle_of(std::move(inside_latencies));
    before_one = found.capacity;
    before_all = level.capacity;
    out.ladder.push_back(std::move(level));
  }
  out.ladder.push_back(main_level());
}

void Run::warn_about_spread() {
  std::string wide;
  const auto look = [&](const std::string& what, const std::optional<Figure>& figure) {
    if (!figure || figure->spread <= notable_spread) return;
    wide += fmt::format("{}{} ({:.0f} %)", wide.empty() ? "" : ", ", what, 100 * figure->spread);
  };
  look("main memory read", out.main_memory.read);
  look("write", out.main_memory.write);
  look("copy", out.main_memory.copy);
  look("triad", out.main_memory.triad);
  for (const MeasuredPeak& peak : out.peaks) look(std::string(hardware::name(peak.type)) + " peak", peak.flop_per_s);
  for (const MeasuredLevel& level : out.ladder) {
    if (level.level != "main memory") look(level.level + " bandwidth", level.bandwidth);
    look(level.level + " latency", level.latency);
  }
  if (!wide.empty()) out.warnings.push_back("Spread above 10 %: " + wide + ". Measure again on a quiet machine.");
}

}  // namespace

Bytes working_set(const MachineFacts& facts, Effort effort) {
  const double wanted = std::max(512 * mebi, plan_of(effort).cache_multiple * facts.last_level_cache().value());
  const Bytes free = facts.memory_available.value_or(facts.memory.value_or(Bytes{}));
  const double share = free.value() > 0 ? free.value() / 4 : 64 * mebi;
  return Bytes{std::floor(std::min(wanted, share) / mebi) * mebi};
}

Result<Measurement> measure_with(CpuProbe& probe, const MachineFacts& facts, const Clock& clock,
                                 const MeasureSettings& settings, const Progress& progress) {
  const Plan plan = plan_of(settings.effort);
  Run run(probe, facts, plan, progress);
  if (Result<int> done = run.all(); !done) return tl::unexpected(done.error());
  Measurement& out = run.out;
  out.on = "cpu";
  out.device_name = facts.cpu_name;
  out.conditions = probe.conditions();
  out.conditions.emplace_back("date", clock.today());
#if defined(__clang__)
  out.conditions.emplace_back("compiler", __VERSION__);
#elif defined(__GNUC__)
  out.conditions.emplace_back("compiler", "g++ " __VERSION__);
#endif
  if (probe.largest() < 2 * facts.last_level_cache()) {
    out.warnings.push_back(
        fmt::format("The largest working set ({}) is less than twice the last-level cache ({}): main "
                    "memory figures contain cache hits.",
                    units::print(probe.largest()), units::print(facts.last_level_cache())));
  }
  out.device = measured_cpu_device(facts, out, clock.today());
  return std::move(out);
}

Result<Measurement> measure_cpu(const MeasureSettings& settings, const Progress& progress) {
  const SystemClock clock;
  const std::unique_ptr<MachineReader> reader = system_reader();
  const MachineFacts facts = read_machine_facts(*reader);
  const Surroundings before = look_around(*reader);
  const Seconds start = clock.now();
  if (progress) progress("touching memory", 0);
  const Plan plan = plan_of(settings.effort);
  Bytes memory = working_set(facts, settings.effort);
  if (settings.memory.value() > 0) memory = std::min(memory, settings.memory);
  const auto probe = system_cpu_probe(facts, clock, {memory, plan.fill});
  if (!probe) return tl::unexpected(probe.error());
  Result<Measurement> out = measure_with(**probe, facts, clock, settings, progress);
  if (!out) return out;
  const Surroundings after = look_around(*reader);
  const double seconds = (clock.now() - start).value();
  std::vector<std::string> warnings = surroundings_warnings(facts, before, after, seconds, (*probe)->threads());
  out->warnings.insert(out->warnings.begin(), warnings.begin(), warnings.end());
  out->conditions.emplace_back("duration", fmt::format("{:.0f} s", seconds));
  if (!before.governor.empty()) out->conditions.emplace_back("frequency governor", before.governor);
  return out;
}

}  // namespace corridor::measure
