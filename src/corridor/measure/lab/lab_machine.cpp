// SPDX-License-Identifier: Apache-2.0
// Measures the rungs of the ladder that the experiments predict from.
#include "corridor/measure/lab/lab_machine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "corridor/measure/cpu/kernels.h"
#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/cpu_device.h"
#include "corridor/measure/local_device.h"
#include "corridor/measure/machine_reader.h"
#include "corridor/measure/quick_probe.h"

namespace corridor::measure {
namespace {

using units::Bytes;
using units::Seconds;

constexpr std::size_t mebi = 1024 * 1024;
constexpr std::size_t line_bytes = 64;
constexpr std::size_t most_chase = 256 * mebi;  // linking a longer cycle takes longer than it is worth
constexpr double level_budget_s = 0.15;

/// The processor as a device: what `--device local` names, or the processor beside a GPU.
Result<LabMachine> look(const Assets& assets) {
  Result<LocalMachine> local = look_at_this_machine(assets);
  if (!local) return tl::unexpected(local.error());
  LabMachine out;
  out.facts = std::move(local->facts);
  if (local->device.kind == hardware::DeviceKind::cpu) {
    out.device = std::move(local->device);
  } else {
    const auto prober = system_prober();
    BandwidthRequest request;
    request.last_level_cache = out.facts.last_level_cache();
    request.memory_available = out.facts.memory_available.value_or(out.facts.memory.value_or(Bytes{}));
    request.threads = out.facts.usable_cpus;
    const Result<ReadBandwidth> read = prober->read_bandwidth(request);
    if (!read) return tl::unexpected(read.error());
    const Result<FmaPeak> peak = prober->fma_peak(out.facts.usable_cpus);
    if (!peak) return tl::unexpected(peak.error());
    out.device = cpu_from_facts(out.facts, {*read, *peak, prober->today()});
    out.notes.emplace_back("The experiments run on the processor; --on cuda:0 runs them on the GPU");
  }
  constexpr double busy_share = 0.5;  // of the processors in use before anything was measured
  if (out.facts.load && *out.facts.load > busy_share * out.facts.usable_cpus) {
    out.notes.push_back(
        fmt::format("Other programs keep this machine busy (load {:.1f} on {} processors): readings vary, "
                    "and a claim may fail for that reason",
                    *out.facts.load, out.facts.usable_cpus));
  }
  LabLevel memory;
  memory.name = "main memory";
  memory.capacity = memory.one_instance = out.facts.memory.value_or(Bytes{});
  out.ladder.push_back(std::move(memory));
  return out;
}

/// Read rate of all threads, each over its own `bytes`.
Result<Samples> read_rate(WorkerTeam& team, const Clock& clock, std::byte* data, std::size_t bytes) {
  const Kernels& kernels = best_kernels();
  std::atomic<std::uint64_t> sink{0};
  EstimatorSettings settings;
  settings.budget = Seconds{level_budget_s};
  return time_passes(settings, clock, [&](double repeats) {
    team.run([&](int index) {
      std::uint64_t sum = 0;
      const std::byte* mine = data + static_cast<std::size_t>(index) * bytes;
      for (double i = 0; i < repeats; ++i) sum += kernels.read(mine, bytes, 0);
      sink += sum;
    });
  });
}

Result<Seconds> load_latency(const Clock& clock, std::byte* data, std::size_t bytes) {
  link_cycle(data, bytes, line_bytes, 1);
  constexpr std::size_t steps = 20000;
  const void* place = data;
  EstimatorSettings settings;
  settings.budget = Seconds{level_budget_s};
  const Result<Samples> samples = time_passes(settings, clock, [&](double repeats) {
    for (double i = 0; i < repeats; ++i) place = chase(place, steps);
  });
  if (!samples) return tl::unexpected(samples.error());
  if (place == nullptr) return fail("the chase lost its way", "lab");
  return samples->median / static_cast<double>(steps);
}

/// Working set of one thread that stays inside a level: half of what a thread has of it.
std::size_t inside(const CacheFact& cache, int threads) {
  const double sharers = cache.sharers ? std::min<double>(*cache.sharers, threads) : 1;
  const double bytes = cache.one_instance.value() / 2 / std::max(1.0, sharers);
  return std::max<std::size_t>(static_cast<std::size_t>(bytes) / block_bytes, 1) * block_bytes;
}

Result<int> measure_levels(LabMachine& machine, WorkerTeam& team, const Clock& clock) {
  const std::size_t chased_memory =
      machine.most_memory.value() > 0 ? std::min(machine.beyond_caches(), most_chase) : most_chase;
  std::size_t largest = chased_memory;
  for (const CacheFact& cache : machine.facts.caches) {
    largest = std::max(largest, inside(cache, machine.threads) * static_cast<std::size_t>(team.size()));
  }
  const Memory memory(largest);
  if (memory.data() == nullptr) return fail("the system gives no memory for the ladder", "lab");
  team.run([&](int index) {
    const std::size_t share = largest / static_cast<std::size_t>(team.size()) / block_bytes * block_bytes;
    best_kernels().write(memory.data() + static_cast<std::size_t>(index) * share, share, 1, Store::cached);
  });
  std::vector<LabLevel> ladder;
  for (const CacheFact& cache : machine.facts.caches) {
    const std::size_t bytes = inside(cache, machine.threads);
    const Result<Samples> read = read_rate(team, clock, memory.data(), bytes);
    if (!read) return tl::unexpected(read.error());
    const std::size_t chased =
        std::min(bytes * static_cast<std::size_t>(cache.sharers.value_or(1) > 1 ? team.size() : 1), chased_memory);
    const Result<Seconds> latency = load_latency(clock, memory.data(), chased);
    if (!latency) return tl::unexpected(latency.error());
    const double moved = static_cast<double>(bytes) * team.size();
    ladder.push_back(
        {fmt::format("L{}", cache.level), cache.one_instance, cache.total(), Bytes{moved} / read->median, *latency});
  }
  const Result<Seconds> latency = load_latency(clock, memory.data(), chased_memory);
  if (!latency) return tl::unexpected(latency.error());
  if (machine.facts.last_level_cache().value() > static_cast<double>(chased_memory)) {
    machine.notes.push_back(
        fmt::format("The latency of main memory was taken over {} MiB, which the last-level cache may hold in part",
                    chased_memory / mebi));
  }
  machine.ladder.back().latency = *latency;
  machine.ladder.insert(machine.ladder.begin(), ladder.begin(), ladder.end());
  return 0;
}

}  // namespace

const LabLevel* LabMachine::find(std::string_view level) const {
  const auto found = std::find_if(ladder.begin(), ladder.end(), [&](const LabLevel& l) { return l.name == level; });
  return found == ladder.end() ? nullptr : &*found;
}

const LabLevel& LabMachine::level_for(Bytes bytes) const {
  for (const LabLevel& level : ladder) {
    const bool shared = &level != &ladder.front() && level.one_instance == level.capacity;
    if (bytes * (shared ? threads : 1) <= level.one_instance) return level;
  }
  return ladder.back();
}

std::size_t LabMachine::beyond_caches() const {
  const double least = 64.0 * mebi;
  const double available = facts.memory_available.value_or(facts.memory.value_or(Bytes{3 * least})).value();
  const double wanted = std::max(least, 2 * facts.last_level_cache().value());
  double most = std::max(least / 8, available / 3);
  if (most_memory.value() > 0) most = std::min(most, std::max(least / 8, most_memory.value()));
  const auto bytes = static_cast<std::size_t>(std::min(wanted, most));
  return bytes / (2 * mebi) * (2 * mebi);
}

Result<units::Hertz> measure_clock(const Clock& clock) {
  constexpr double additions = 1 << 16;
  volatile std::uint64_t sink = 1;
  EstimatorSettings settings;
  settings.budget = Seconds{0.05};
  const Result<Samples> samples = time_passes(settings, clock, [&](double repeats) {
    std::uint64_t x = sink;
    for (double r = 0; r < repeats; ++r) {
      for (int i = 0; i < static_cast<int>(additions); ++i) {
        x += static_cast<std::uint64_t>(i);
#if defined(__GNUC__)
        asm volatile("" : "+r"(x));  // each addition waits for the one before; no closed form, no vectors
#endif
      }
    }
    sink = x;
  });
  if (!samples) return tl::unexpected(samples.error());
  return units::Hertz{additions / samples->median.value()};
}

Result<Samples> measure_dispatch(WorkerTeam& team, const Clock& clock, Seconds budget) {
  EstimatorSettings settings;
  settings.budget = budget;
  std::atomic<int> sink{0};
  const std::function<void(int)> nothing = [&](int index) { sink.store(index, std::memory_order_relaxed); };
  return time_passes(settings, clock, [&](double repeats) {
    for (double i = 0; i < repeats; ++i) team.run(nothing);
  });
}

namespace {

/// Median time of `work(data, bytes)` on all threads, each on its own part of one array beyond the caches.
template <class Work>
Result<Samples> time_over(WorkerTeam& team, const Clock& clock, std::byte* data, std::size_t each, const Work& work) {
  EstimatorSettings settings;
  settings.budget = Seconds{2 * level_budget_s};
  std::atomic<std::uint64_t> sink{0};
  return time_passes(settings, clock, [&](double repeats) {
    team.run([&](int index) {
      std::byte* mine = data + static_cast<std::size_t>(index) * each;
      for (double i = 0; i < repeats; ++i) sink += work(mine, each);
    });
  });
}

/// Main memory as the experiments meet it: the same threads on the same processors, arrays of the same size, medians.
/// The quick probe behind `--device local` keeps its best pass, on threads that may move: on a machine with other work
/// that can be twice as much.
Result<int> measure_main_memory(LabMachine& machine, WorkerTeam& team, const Clock& clock) {
  const std::size_t bytes = machine.beyond_caches();
  const Memory memory(bytes);
  if (memory.data() == nullptr) return fail("the system gives no memory for the bandwidth", "lab");
  const Kernels& kernels = best_kernels();
  const std::size_t each = bytes / static_cast<std::size_t>(team.size()) / block_bytes * block_bytes;
  team.run([&](int index) {
    kernels.write(memory.data() + static_cast<std::size_t>(index) * each, each, 1, Store::cached);
  });
  const auto read = time_over(team, clock, memory.data(), each,
                              [&](std::byte* mine, std::size_t size) { return kernels.read(mine, size, 0); });
  if (!read) return tl::unexpected(read.error());
  const auto update = time_over(team, clock, memory.data(), each, [&](std::byte* mine, std::size_t size) {
    kernels.copy(mine, mine, size, Store::cached);
    return std::uint64_t{1};
  });
  if (!update) return tl::unexpected(update.error());
  const Bytes moved{static_cast<double>(each) * team.size()};
  machine.ladder.back().bandwidth = moved / read->median;
  machine.update = 2 * moved / update->median;
  return 0;
}

/// Multiply-adds in registers on all threads, a median too.
Result<int> measure_arithmetic(LabMachine& machine, WorkerTeam& team, const Clock& clock) {
  const PeakKernel& kernel = best_kernels().f32;
  constexpr std::size_t rounds = 20000;
  EstimatorSettings settings;
  settings.budget = Seconds{level_budget_s};
  std::atomic<int> sink{0};
  const auto samples = time_passes(settings, clock, [&](double repeats) {
    team.run([&](int) { sink += kernel.run(static_cast<std::size_t>(repeats) * rounds) > 0 ? 1 : 0; });
  });
  if (!samples) return tl::unexpected(samples.error());
  machine.fp32 = units::Flops{kernel.flop_per_round * static_cast<double>(rounds) * team.size()} / samples->median;
  return 0;
}

}  // namespace

Result<LabMachine> look_for_lab(const Assets& assets, const Clock& clock, int threads, Bytes most_memory) {
  Result<LabMachine> machine = look(assets);
  if (!machine) return machine;
  machine->most_memory = most_memory;
  const int usable = std::max(1, machine->facts.usable_cpus);
  WorkerTeam team(threads > 0 ? std::min(threads, usable) : usable, allowed_processors());
  machine->threads = team.size();
  for (const auto part : {measure_main_memory, measure_arithmetic, measure_levels}) {
    if (Result<int> ok = part(*machine, team, clock); !ok) return tl::unexpected(ok.error());
  }
  const Result<Samples> dispatch = measure_dispatch(team, clock, Seconds{0.1});
  if (!dispatch) return tl::unexpected(dispatch.error());
  machine->dispatch = dispatch->median;
  const Result<units::Hertz> hertz = measure_clock(clock);
  if (!hertz) return tl::unexpected(hertz.error());
  machine->clock = *hertz;
  return machine;
}

}  // namespace corridor::measure
