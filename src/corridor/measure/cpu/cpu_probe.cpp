// SPDX-License-Identifier: Apache-2.0
// This processor: bound threads, one memory that each thread touches first where it reads, the kernels, the estimator.
#include "corridor/measure/cpu/cpu_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/machine_reader.h"
#include "corridor/measure/worker_team.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

using units::Bytes;
using units::Seconds;

constexpr std::size_t line = 64;
constexpr std::size_t slack = 4096;  // behind each thread's part, so that arrays can be moved against each other
constexpr std::size_t array_gap = 5 * line;  // arrays at equal distances from a page would meet in the same sets
constexpr double trials_share = 0.5;         // of the budget, for all variants together before the best one is measured
constexpr std::uint64_t cycle_seed = 20260101;
constexpr std::uint64_t bits_of_one =
    0x3FF0000000000000U;                  // 1.0: most other words are denormal numbers, which are slow
constexpr std::size_t chase_unit = 1024;  // loads of one repeat

std::size_t arrays_of(Traffic kind) {
  return kind == Traffic::triad ? 3 : kind == Traffic::copy ? 2 : 1;
}

EstimatorSettings figure_settings(Seconds budget) {
  EstimatorSettings settings;
  settings.budget = budget;
  settings.sure_passes = 3;
  return settings;
}

/// One way to do a loop; `run` works on the arrays of one thread.
struct Variant {
  std::string how;
  std::function<void(const std::array<std::byte*, 3>& arrays, std::size_t bytes, std::size_t repeats)> run;
};

/// The plain way first.
const std::vector<std::pair<std::string, ReadWay>>& read_ways() {
  using Hint = ReadWay::Hint;
  static const std::vector<std::pair<std::string, ReadWay>> ways = {
      {"", {}},
      {", prefetch 1 KiB ahead", {Hint::near, 1024, false}},
      {", prefetch 4 KiB ahead into L2", {Hint::far, 4096, false}},
      {", prefetch 1 KiB ahead past L2", {Hint::once, 1024, false}},
      {", four streams", {Hint::none, 0, true}}};
  return ways;
}

class SystemCpuProbe : public CpuProbe {
 public:
  SystemCpuProbe(const MachineFacts& facts, const Clock& clock, const std::vector<int>& processors, std::size_t part)
      : clock_(clock),
        team_(static_cast<int>(processors.size()), processors),
        part_(part),
        memory_(part * static_cast<std::size_t>(team_.size()) + slack * static_cast<std::size_t>(team_.size())),
        last_level_(facts.last_level_cache()) {
    for (const CacheFact& cache : facts.caches) {
      if (cache.level <= 2) private_caches_ = std::max(private_caches_, cache.one_instance);
    }
    numa_nodes_ = facts.numa_nodes;
  }

  /// Touches the memory, each thread its own part; false when there is none. Keeps what was touched in time.
  bool fill(Seconds budget) {
    if (memory_.data() == nullptr) return false;
    constexpr std::size_t pieces = 32;
    const Seconds start = clock_.now();
    std::size_t done = 0;
    for (std::size_t piece = 1; piece <= pieces; ++piece) {
      const std::size_t end = piece == pieces ? part_ + slack : part_ * piece / pieces / block_bytes * block_bytes;
      team_.run([&](int i) {
        if (end > done) kernels_.write(part_of(i, team_.size()) + done, end - done, 1, Store::cached);
      });
      done = end;
      if (clock_.now() - start > budget && done > 0) break;
    }
    if (done < part_) part_ = done / block_bytes * block_bytes;
    return part_ >= block_bytes;
  }

  [[nodiscard]] int threads() const override { return team_.size(); }
  [[nodiscard]] Bytes largest() const override {
    return Bytes{static_cast<double>(part_ * static_cast<std::size_t>(team_.size()))};
  }
  [[nodiscard]] std::vector<PeakKernel> peaks() const override { return peak_kernels(); }

  [[nodiscard]] Result<Figure> traffic(Traffic kind, Bytes size, int threads, Seconds budget) override;
  [[nodiscard]] Result<Figure> latency(Bytes size, Seconds budget) override;
  [[nodiscard]] Result<Figure> peak(const PeakKernel& kernel, Seconds budget) override;
  [[nodiscard]] Result<Figure> dispatch(Seconds budget) override;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> conditions() const override;

 private:
  /// Where thread `i` of `of` works. All threads: the part it touched first. Fewer: equal cuts of everything.
  [[nodiscard]] std::byte* part_of(int i, int of) const {
    const auto all = static_cast<std::size_t>(team_.size());
    const std::size_t whole = (part_ + slack) * all;
    const std::size_t stride = whole / static_cast<std::size_t>(of) / line * line;
    return memory_.data() + static_cast<std::size_t>(i) * (of == team_.size() ? stride_ : stride);
  }
  [[nodiscard]] std::vector<Variant> variants(Traffic kind, bool beyond_private) const;
  [[nodiscard]] std::string team_words(int threads) const {
    return fmt::format("{} {}, {}", threads, threads == 1 ? "thread" : "threads", kernels_.name);
  }
  [[nodiscard]] Result<Samples> timed(const Variant& variant, std::size_t arrays, std::size_t bytes, int threads,
                                      const EstimatorSettings& settings);
  [[nodiscard]] Result<std::size_t> best_of(const std::vector<Variant>& ways, std::size_t arrays, std::size_t bytes,
                                            int threads, Seconds budget);

  std::array<std::optional<std::size_t>, 4> best_;  ///< of each kind, at the largest size
  const Clock& clock_;
  WorkerTeam team_;
  const Kernels& kernels_ = best_kernels();
  std::size_t part_;  ///< bytes of one thread
  std::size_t stride_ = part_ + slack;
  Memory memory_;
  Bytes private_caches_, last_level_;
  int numa_nodes_ = 0;
  std::atomic<std::uint64_t> sink_{0};
};

std::vector<Variant> SystemCpuProbe::variants(Traffic kind, bool beyond_private) const {
  const Kernels& k = kernels_;
  std::vector<Variant> out;
  if (kind == Traffic::read) {
    for (const auto& [how, way] : read_ways()) {
      if (!out.empty() && !beyond_private) break;
      out.push_back({how, [&k, way = way](const auto& arrays, std::size_t bytes, std::size_t repeats) {
                       std::uint64_t sum = k.read_again(arrays[0], bytes, way, repeats);
                       asm volatile("" : "+r"(sum));  // the sum counts as used
                     }});
    }
    return out;
  }
  for (const Store store : {Store::cached, Store::streaming}) {
    if (store == Store::streaming && !beyond_private) continue;
    const char* how = store == Store::streaming ? ", streaming stores" : "";
    out.push_back({how, [&k, kind, store](const auto& arrays, std::size_t bytes, std::size_t repeats) {
                     for (std::size_t i = 0; i < repeats; ++i) {
                       if (kind == Traffic::write) k.write(arrays[0], bytes, i, store);
                       if (kind == Traffic::copy) k.copy(arrays[0], arrays[1], bytes, store);
                       if (kind == Traffic::triad) {
                         k.triad(reinterpret_cast<double*>(arrays[0]), reinterpret_cast<const double*>(arrays[1]),
                                 reinterpret_cast<const double*>(arrays[2]), bytes, store);
                       }
                     }
                   }});
  }
  return out;
}

Result<Samples> SystemCpuProbe::timed(const Variant& variant, std::size_t arrays, std::size_t bytes, int threads,
                                      const EstimatorSettings& settings) {
  return time_passes(settings, clock_, [&](double repeats) {
    team_.run([&](int i) {
      if (i >= threads) return;
      std::array<std::byte*, 3> places{};
      for (std::size_t a = 0; a < arrays; ++a) places[a] = part_of(i, threads) + a * (bytes + array_gap);
      variant.run(places, bytes, static_cast<std::size_t>(repeats));
    });
  });
}

/// The variant with the shortest median within `budget`.
Result<std::size_t> SystemCpuProbe::best_of(const std::vector<Variant>& ways, std::size_t arrays, std::size_t bytes,
                                            int threads, Seconds budget) {
  std::size_t best = 0;
  double best_time = 0;
  EstimatorSettings trial_settings;
  trial_settings.budget = budget / static_cast<double>(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const Result<Samples> trial = timed(ways[i], arrays, bytes, threads, trial_settings);
    if (!trial) return tl::unexpected(trial.error());
    if (i == 0 || trial->median.value() < best_time) {
      best = i;
      best_time = trial->median.value();
    }
  }
  return best;
}

Result<Figure> SystemCpuProbe::traffic(Traffic kind, Bytes size, int threads, Seconds budget) {
  threads = std::clamp(threads, 1, team_.size());
  const std::size_t arrays = arrays_of(kind);
  const double whole = std::min(size.value(), largest().value());
  const double each = whole / threads / static_cast<double>(arrays);
  const std::size_t bytes = std::max(block_bytes, static_cast<std::size_t>(each) / block_bytes * block_bytes);
  const bool beyond_private = size / threads > private_caches_;
  if (kind == Traffic::triad) {  // pointers of a chase and counts of a write would be denormal numbers
    team_.run([&](int i) {
      if (i < threads) kernels_.write(part_of(i, threads), arrays * bytes + slack / 2, bits_of_one, Store::cached);
    });
  }
  std::vector<Variant> ways = variants(kind, beyond_private);
  // Which way is best was found out at the largest size; below it only that one and the plain one are tried.
  std::optional<std::size_t>& known = best_[static_cast<std::size_t>(kind)];
  if (known && ways.size() > 1) {
    std::vector<Variant> tried;
    tried.push_back(std::move(ways.front()));
    if (*known > 0) tried.push_back(std::move(ways[*known]));
    ways = std::move(tried);
  }
  Seconds rest = budget;
  std::size_t best = 0;
  if (ways.size() > 1) {
    const Result<std::size_t> found = best_of(ways, arrays, bytes, threads, budget * trials_share);
    if (!found) return tl::unexpected(found.error());
    best = *found;
    rest = budget * (1 - trials_share);
    if (!known && size >= largest()) known = best;
  }
  const Result<Samples> samples = timed(ways[best], arrays, bytes, threads, figure_settings(rest));
  if (!samples) return tl::unexpected(samples.error());
  const double moved = static_cast<double>(bytes * arrays) * threads;
  return rate_figure(moved, *samples, team_words(threads) + ways[best].how);
}

Result<Figure> SystemCpuProbe::latency(Bytes size, Seconds budget) {
  const double whole = std::min(size.value(), largest().value());
  const std::size_t bytes = std::max(2 * line, static_cast<std::size_t>(whole) / line * line);
  link_cycle(memory_.data(), bytes, line, cycle_seed);
  const void* place = memory_.data();
  // One walk through the cycle brings it into the caches it fits in; a cycle that fits in none needs none.
  const std::size_t cycle = bytes / line;
  const Seconds start = clock_.now();
  if (size <= 2 * last_level_ || last_level_.value() <= 0) {
    for (std::size_t walked = 0; walked < cycle && clock_.now() - start < 4 * budget; walked += 64 * chase_unit) {
      place = chase(place, std::min(cycle, 64 * chase_unit));
    }
  }
  const EstimatorSettings settings = figure_settings(budget);
  const Result<Samples> samples = time_passes(
      settings, clock_, [&](double repeats) { place = chase(place, static_cast<std::size_t>(repeats) * chase_unit); });
  sink_ += reinterpret_cast<std::uintptr_t>(place);
  if (!samples) return tl::unexpected(samples.error());
  return time_figure(static_cast<double>(chase_unit), *samples, "1 thread, random cycle of 64-byte lines");
}

Result<Figure> SystemCpuProbe::peak(const PeakKernel& kernel, Seconds budget) {
  constexpr std::size_t rounds = 1000;
  const EstimatorSettings settings = figure_settings(budget);
  const Result<Samples> samples = time_passes(settings, clock_, [&](double repeats) {
    team_.run([&](int) {
      const double out = kernel.run(static_cast<std::size_t>(repeats) * rounds);
      sink_ += out > 0 ? 1U : 0U;
    });
  });
  if (!samples) return tl::unexpected(samples.error());
  return rate_figure(
      kernel.flop_per_round * static_cast<double>(rounds) * team_.size(), *samples,
      fmt::format("{} {}, {}, in registers", team_.size(), team_.size() == 1 ? "thread" : "threads", kernel.unit));
}

Result<Figure> SystemCpuProbe::dispatch(Seconds budget) {
  const EstimatorSettings settings = figure_settings(budget);
  const std::function<void(int)> nothing = [](int) {};
  const Result<Samples> samples = time_passes(settings, clock_, [&](double repeats) {
    for (double i = 0; i < repeats; ++i) team_.run(nothing);
  });
  if (!samples) return tl::unexpected(samples.error());
  return time_figure(1, *samples, fmt::format("an empty task to {} waiting threads and back", team_.size()));
}

std::vector<std::pair<std::string, std::string>> SystemCpuProbe::conditions() const {
  const Bytes huge = bytes_in_huge_pages();
  const Bytes all = largest();
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("threads", fmt::format("{}, {}", team_.size(),
                                          team_.pinned() ? "each bound to one processor" : "not bound to processors"));
  out.emplace_back("instruction set", std::string(kernels_.name));
  out.emplace_back("working set",
                   fmt::format("up to {}, touched first by the thread that reads it", units::print(all)));
  out.emplace_back("pages", huge.value() > 0 ? fmt::format("{} of it in 2 MiB pages", units::print(std::min(huge, all)))
                                             : "no huge pages seen: small pages, so latency contains page walks");
  if (numa_nodes_ > 1) {
    out.emplace_back("NUMA", fmt::format("{} nodes; rates are for memory of a thread's own node", numa_nodes_));
  }
  return out;
}

}  // namespace

const char* name(Traffic kind) {
  switch (kind) {
    case Traffic::read:
      return "read";
    case Traffic::write:
      return "write";
    case Traffic::copy:
      return "copy";
    case Traffic::triad:
      return "triad";
  }
  return "";
}

std::vector<int> processors_by_core(const std::vector<int>& allowed, const std::vector<std::string>& siblings) {
  std::vector<int> first, rest;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const bool known = i < siblings.size() && !siblings[i].empty();
    const bool again = known && !seen.insert(siblings[i]).second;
    (again ? rest : first).push_back(allowed[i]);
  }
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

Result<std::unique_ptr<CpuProbe>> system_cpu_probe(const MachineFacts& facts, const Clock& clock,
                                                   const CpuProbeSettings& settings) {
  const std::vector<int> allowed = allowed_processors();
  const std::unique_ptr<MachineReader> reader = system_reader();
  std::vector<std::string> siblings;
  for (const int cpu : allowed) {
    const std::string path = fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu);
    siblings.push_back(reader->read_file(path).value_or(std::string()));
  }
  std::vector<int> processors = processors_by_core(allowed, siblings);
  const auto wanted = static_cast<std::size_t>(std::max(1, facts.usable_cores()));
  if (processors.empty()) processors.push_back(0);
  if (processors.size() > wanted) processors.resize(wanted);
  const double each = std::max(0.0, settings.memory.value()) / static_cast<double>(processors.size());
  const std::size_t part = static_cast<std::size_t>(each) / block_bytes * block_bytes;
  const tl::unexpected<Error> none = fail("the system gives no memory for the measurement",
                                          units::print(settings.memory), "free some memory, or use --device");
  if (part < block_bytes) return none;
  auto probe = std::make_unique<SystemCpuProbe>(facts, clock, processors, part);
  if (!probe->fill(settings.fill)) return none;
  return probe;
}

}  // namespace corridor::measure
