// SPDX-License-Identifier: Apache-2.0
// Facts and measurements become facts of a Device, each with its basis, its source and the date.
#include "corridor/measure/cpu_device.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

using hardware::Basis;
using hardware::ComputeType;
using hardware::Device;
using hardware::Fact;
using hardware::MemoryLevel;

/// Facts of one look at the machine.
class Facts {
 public:
  explicit Facts(const Measured& measured) : source_(measured.source), date_(measured.date) {}
  template <class T>
  [[nodiscard]] Fact<T> operator()(T value, std::string note = {}) const {
    return {value, Basis::measured, source_, date_, std::move(note)};
  }

 private:
  std::string source_, date_;
};

std::string bandwidth_note(const ReadBandwidth& b) {
  return fmt::format("{} threads read {}, best of {} passes{}", b.threads, units::print(b.buffer), b.passes,
                     b.near_cache ? "; the buffer is less than twice the last-level cache" : "");
}

std::string fma_note(const FmaPeak& f) {
  return fmt::format("multiply-adds in registers, {} threads, {}, best of {} passes", f.threads, f.vectors, f.passes);
}

std::string cache_name(const CacheFact& cache) {
  return cache.level == 1 ? "L1 data" : fmt::format("L{}", cache.level);
}

MemoryLevel main_memory(const MachineFacts& facts, const Measured& measured, const Facts& fact) {
  MemoryLevel level;
  level.name = "main memory";
  level.reach = "device";
  if (facts.memory) level.capacity = fact(*facts.memory);
  if (measured.bandwidth) level.bandwidth = fact(measured.bandwidth->best, bandwidth_note(*measured.bandwidth));
  return level;
}

std::vector<MemoryLevel> ladder_from(const MachineFacts& facts, const Measured& measured, const Facts& fact) {
  std::vector<MemoryLevel> ladder;
  for (const CacheFact& cache : facts.caches) {
    MemoryLevel level;
    level.name = cache_name(cache);
    level.reach = cache.level <= 2 ? "core" : "device";
    level.capacity = fact(cache.total(), fmt::format("{:.0f} × {}", cache.instances, units::print(cache.one_instance)));
    ladder.push_back(std::move(level));
  }
  ladder.push_back(main_memory(facts, measured, fact));
  return ladder;
}

void scale_peaks(Device& device, double ratio, const std::string& why) {
  for (auto& peak : device.peaks) {
    if (!peak) continue;
    peak->value *= ratio;
    peak->basis = Basis::derived;
    peak->note += (peak->note.empty() ? "" : "; ") + why;
  }
  if (device.reachable_bf16) device.reachable_bf16->value *= ratio;
}

/// Peaks of the datasheet hold for its number of cores; this machine may have others.
void fit_cores(Device& device, int cores, const Facts& fact, std::vector<std::string>& notes) {
  if (!device.sm.count || !(device.sm.count->value > 0) || cores <= 0) return;
  const double listed = device.sm.count->value;
  if (std::abs(listed - cores) < 0.5) return;
  const std::string why = fmt::format("{} cores are usable here, the catalogue's {} has {:.0f}: its peaks are scaled",
                                      cores, device.id, listed);
  scale_peaks(device, cores / listed, why);
  device.sm.count = fact(static_cast<double>(cores));
  notes.push_back(why);
}

/// "ARM Neoverse V2; NEON, SVE2" or "AVX, AVX2, FMA": kernel constants are chosen by these words.
std::string architecture_of(const MachineFacts& facts) {
  std::string sets;
  for (const std::string& set : facts.instruction_sets) {
    if (!sets.empty()) sets += ", ";
    for (const char c : set) sets += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return facts.has("neon") ? facts.cpu_name + "; " + sets : sets;
}

}  // namespace

Device cpu_from_facts(const MachineFacts& facts, const Measured& measured) {
  const Facts fact(measured);
  Device device;
  device.id = "this-machine";
  device.name = facts.cpu_name;
  device.vendor = facts.cpu_vendor;
  device.form_factor = "CPU";
  device.kind = hardware::DeviceKind::cpu;
  device.default_engine = "llama.cpp";
  device.memory_type = "main memory";
  device.architecture = architecture_of(facts);
  if (facts.max_clock) device.clock_boost = fact(*facts.max_clock, "highest clock the system names");
  if (facts.memory) device.memory_capacity = fact(*facts.memory);
  if (measured.bandwidth) {
    device.memory_bandwidth = fact(measured.bandwidth->best, bandwidth_note(*measured.bandwidth));
  }
  if (measured.fma) {
    device.peaks[static_cast<std::size_t>(ComputeType::fp32)] = fact(measured.fma->best, fma_note(*measured.fma));
  }
  device.sm.count = fact(static_cast<double>(facts.usable_cores()), "cores this process can use");
  device.sm.warp_size = fact(1.0);
  device.ladder = ladder_from(facts, measured, fact);
  return device;
}

Device cpu_from_catalogue(Device device, const MachineFacts& facts, const Measured& measured,
                          std::vector<std::string>& notes) {
  const Facts fact(measured);
  fit_cores(device, facts.usable_cores(), fact, notes);
  if (facts.memory) device.memory_capacity = fact(*facts.memory);
  if (measured.bandwidth) {
    if (device.memory_bandwidth) {
      notes.push_back(fmt::format("Memory bandwidth measured now, {}, takes the place of the datasheet's {}",
                                  units::print(measured.bandwidth->best),
                                  units::print(device.memory_bandwidth->value)));
    }
    device.memory_bandwidth = fact(measured.bandwidth->best, bandwidth_note(*measured.bandwidth));
    device.reachable_bandwidth.reset();  // it was a share of the datasheet's value
  }
  auto& fp32 = device.peaks[static_cast<std::size_t>(ComputeType::fp32)];
  if (measured.fma && (!fp32 || measured.fma->best > fp32->value)) {
    fp32 = fact(measured.fma->best, fma_note(*measured.fma));
  }
  if (!facts.caches.empty()) {
    device.ladder = ladder_from(facts, measured, fact);
  } else if (!device.ladder.empty()) {
    device.ladder.back() = main_memory(facts, measured, fact);  // the file's own last level is main memory
  }
  return device;
}

}  // namespace corridor::measure
