// SPDX-License-Identifier: Apache-2.0
// Measured figures and the driver's attributes as facts with basis, source and date.
#include "corridor/measure/cuda/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "corridor/measure/local_device.h"
#include "corridor/units/text.h"

namespace corridor::measure::cuda {
namespace {

using hardware::Basis;
using hardware::ComputeType;
using hardware::Device;
using hardware::Fact;
using hardware::MaybeFact;
using hardware::MemoryLevel;

/// Makes facts that were found on this machine.
class Facts {
 public:
  Facts(const std::string& name, std::string date) : source_("corridor measure on " + name), date_(std::move(date)) {}
  template <class T>
  [[nodiscard]] Fact<T> told(T value) const {
    return {value, Basis::measured, source_, date_, "told by the driver"};
  }
  template <class T>
  [[nodiscard]] Fact<T> measured(const Figure& figure, const std::string& unit = {}) const {
    return {T{figure.value}, Basis::measured, source_, date_,
            fmt::format("{}{}; median of {} passes, spread {:.1f} %", unit.empty() ? "" : unit + ": ", figure.how,
                        figure.passes, 100 * figure.spread)};
  }
  template <class T>
  [[nodiscard]] Fact<T> derived(T value, std::string note) const {
    return {value, Basis::derived, source_, date_, std::move(note)};
  }

 private:
  std::string source_, date_;
};

struct Generation {
  int from, to;  ///< compute capability
  const char *family, *architecture;
};
// The chip's name where the capability names one chip; catalogue entries and kernel constants go by these words.
constexpr Generation generations[] = {
    {70, 70, "Volta", "GV100"},           {75, 75, "Turing", "Turing"},
    {80, 80, "Ampere", "GA100"},          {86, 87, "Ampere", "Ampere"},
    {89, 89, "Ada Lovelace", "Ada"},      {90, 90, "Hopper", "GH100"},
    {100, 100, "Blackwell", "GB100"},     {103, 103, "Blackwell", "Blackwell Ultra"},
    {101, 121, "Blackwell", "Blackwell"},
};

Device unlisted(const GpuFacts& facts) {
  Device device;
  device.family = "NVIDIA";
  device.architecture = fmt::format("cc {}.{}", facts.major, facts.minor);
  for (const Generation& generation : generations) {
    if (facts.capability() < generation.from || facts.capability() > generation.to) continue;
    const bool geforce = facts.name.find("GeForce") != std::string::npos;
    device.family = geforce ? "GeForce" : generation.family;
    device.architecture = fmt::format("{} (cc {}.{})", generation.architecture, facts.major, facts.minor);
    break;
  }
  device.vendor = "NVIDIA";
  device.kind = hardware::DeviceKind::gpu;
  device.default_engine = "vllm";
  device.unified_memory = facts.integrated;
  return device;
}

/// Bus width times twice the memory clock: double data rate.
std::optional<units::BytesPerSecond> bus_rate(const GpuFacts& facts) {
  const double rate = 2.0 * facts.memory_clock.value() * facts.memory_bus_bits / 8;
  return rate > 0 ? std::optional(units::BytesPerSecond{rate}) : std::nullopt;
}

void set_bandwidth(Device& device, const GpuFacts& facts, const Measurement& m, const Facts& fact) {
  if (m.main_memory.read) {
    const Figure* best = &*m.main_memory.read;
    if (m.main_memory.copy && m.main_memory.copy->value > best->value) best = &*m.main_memory.copy;
    device.reachable_bandwidth = fact.measured<units::BytesPerSecond>(*best);
  }
  const auto bus = bus_rate(facts);
  // A bus rate below what was measured is a clock that the driver tells in another way.
  const bool plausible = bus && (!device.reachable_bandwidth || *bus >= device.reachable_bandwidth->value);
  if (device.memory_bandwidth) return;
  if (plausible) {
    device.memory_bandwidth = fact.derived(*bus, fmt::format("{} bit x 2 x {} as the driver tells them",
                                                             facts.memory_bus_bits, units::print(facts.memory_clock)));
  } else {
    device.memory_bandwidth = device.reachable_bandwidth;
  }
}

void set_peaks(Device& device, const Measurement& m, const Facts& fact) {
  std::array<const MeasuredPeak*, hardware::compute_type_count> best{};
  for (const MeasuredPeak& peak : m.peaks) {
    const MeasuredPeak*& place = best[static_cast<std::size_t>(peak.type)];
    if (place == nullptr || peak.flop_per_s.value > place->flop_per_s.value) place = &peak;
  }
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (best[i] == nullptr) continue;
    const auto measured = fact.measured<units::FlopsPerSecond>(best[i]->flop_per_s, best[i]->unit_name);
    if (static_cast<ComputeType>(i) == ComputeType::bf16) device.reachable_bf16 = measured;
    if (!device.peaks[i]) {
      device.peaks[i] = measured;
    } else {
      device.peaks[i]->note += fmt::format("{}measured on {}: {} by {}", device.peaks[i]->note.empty() ? "" : "; ",
                                           measured.date, units::print(measured.value), best[i]->unit_name);
    }
  }
}

void set_sm(Device& device, const GpuFacts& facts, const Facts& fact) {
  hardware::SmLimits& sm = device.sm;
  const auto count = [&](MaybeFact<double>& place, int value) {
    if (value > 0) place = fact.told(static_cast<double>(value));
  };
  const auto bytes = [&](MaybeFact<units::Bytes>& place, units::Bytes value) {
    if (value.value() > 0) place = fact.told(value);
  };
  count(sm.count, facts.sm_count);
  count(sm.warp_size, facts.warp_size);
  count(sm.max_threads, facts.max_threads_per_sm);
  count(sm.max_warps, facts.max_threads_per_sm / std::max(1, facts.warp_size));
  count(sm.max_blocks, facts.max_blocks_per_sm);
  count(sm.max_threads_per_block, facts.max_threads_per_block);
  bytes(sm.registers, facts.registers_per_sm);
  bytes(sm.shared_per_block, facts.shared_per_block);
  bytes(sm.shared_per_sm, facts.shared_per_sm);
}

void set_ladder(Device& device, const Measurement& m, const Facts& fact) {
  device.ladder.clear();
  for (const MeasuredLevel& measured : m.ladder) {
    MemoryLevel level;
    level.name = measured.level;
    level.reach = measured.instances > 1 ? "block (one SM)" : "device";
    if (measured.capacity.value() >= 1) {
      level.capacity = fact.told(measured.capacity);
      const bool reported_only = measured.reported && measured.reported->value() == measured.capacity.value();
      if (!reported_only) level.capacity->note = "from the latency curve";
      if (measured.instances > 1) level.capacity->note += fmt::format("; {:.0f} SMs together", measured.instances);
    }
    if (measured.bandwidth) level.bandwidth = fact.measured<units::BytesPerSecond>(*measured.bandwidth);
    if (measured.latency) level.latency = fact.measured<units::Seconds>(*measured.latency);
    device.ladder.push_back(std::move(level));
  }
}

}  // namespace

Device gpu_device(const Assets& assets, const GpuFacts& facts, const Measurement& measured, const std::string& date) {
  const Facts fact(facts.name, date);
  const auto known = find_gpu(assets, {facts.name, "NVIDIA", facts.memory_total, {}});
  Device device = known ? known->device : unlisted(facts);
  device.id = fmt::format("measured-{}", known ? known->device.id : fmt::format("cuda-{}", facts.ordinal));
  device.name = facts.name;
  device.aliases.clear();
  if (facts.memory_total.value() > 0) device.memory_capacity = fact.told(facts.memory_total);
  if (facts.clock.value() > 0 && !device.clock_boost) device.clock_boost = fact.told(facts.clock);
  set_bandwidth(device, facts, measured, fact);
  set_peaks(device, measured, fact);
  set_sm(device, facts, fact);
  set_ladder(device, measured, fact);
  if (measured.launch_graph) device.launch_floor = fact.measured<units::Seconds>(*measured.launch_graph);
  return device;
}

}  // namespace corridor::measure::cuda
