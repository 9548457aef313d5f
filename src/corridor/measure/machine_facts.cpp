// SPDX-License-Identifier: Apache-2.0
// Puts the facts together from /proc, /sys, the C library and the GPU search; each source may be missing.
#include "corridor/measure/machine_facts.h"

#include <algorithm>
#include <cmath>

#include "corridor/measure/cpu_info.h"
#include "corridor/measure/gpu_search.h"
#include "corridor/measure/machine_reader.h"
#include "corridor/measure/text_scan.h"

namespace corridor::measure {
namespace {

using units::Bytes;

std::string text_of(const MachineReader& reader, const std::string& path) {
  return reader.read_file(path).value_or(std::string());
}

int count_numbered(const MachineReader& reader, const std::string& folder, std::string_view stem) {
  const std::vector<std::string> names = reader.list_folder(folder);
  return static_cast<int>(
      std::count_if(names.begin(), names.end(), [&](const std::string& name) { return is_numbered(name, stem); }));
}

/// Caches of processor 0 as /sys lists them.
std::vector<CacheFact> caches_from_sys(const MachineReader& reader, int logical_cpus) {
  std::vector<CacheFact> caches;
  constexpr int most_caches = 16;
  for (int i = 0; i < most_caches; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::optional<double> level = whole_number(text_of(reader, folder + "level"));
    if (!level || *level < 1 || *level > 8) continue;
    if (trim(text_of(reader, folder + "type")) == "Instruction") continue;
    const std::optional<Bytes> size = binary_size(text_of(reader, folder + "size"));
    if (!size || size->value() <= 0) continue;
    CacheFact cache;
    cache.level = static_cast<int>(*level);
    cache.one_instance = *size;
    cache.sharers = count_in_list(text_of(reader, folder + "shared_cpu_list"));
    if (cache.sharers) cache.instances = std::max(1.0, std::ceil(static_cast<double>(logical_cpus) / *cache.sharers));
    caches.push_back(cache);
  }
  std::sort(caches.begin(), caches.end(), [](const CacheFact& a, const CacheFact& b) { return a.level < b.level; });
  return caches;
}

/// Without /sys the C library may still know the sizes. The first two levels belong to a core, the third to a socket.
std::vector<CacheFact> caches_from_library(const MachineReader& reader, const MachineFacts& facts) {
  std::vector<CacheFact> caches;
  for (int level = 1; level <= 3; ++level) {
    const std::optional<Bytes> size = reader.cache_size(level);
    if (!size || size->value() <= 0) continue;
    const int owners = level <= 2 ? facts.physical_cores : facts.sockets;
    caches.push_back({level, *size, std::nullopt, static_cast<double>(std::max(1, owners))});
  }
  return caches;
}

/// A line "MemTotal:  24689216 kB" of /proc/meminfo.
std::optional<Bytes> meminfo_size(std::string_view text, std::string_view key) {
  while (const auto line = take_line(text)) {
    const auto pair = key_value(*line);
    if (pair && pair->first == key) return binary_size(pair->second);
  }
  return std::nullopt;
}

/// Memory a container's control group allows (version 2, then 1); empty when it sets no limit.
std::optional<Bytes> container_limit(const MachineReader& reader) {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    if (const std::optional<double> limit = whole_number(text_of(reader, path))) return Bytes{*limit};
  }
  return std::nullopt;
}

/// Processors' worth of time a container's control group allows; empty when it sets no quota.
std::optional<double> container_cpus(const MachineReader& reader) {
  const std::string version_2 = text_of(reader, "/sys/fs/cgroup/cpu.max");
  std::string_view rest = version_2;
  const auto quota_word = take_word(rest);
  const auto period_word = take_word(rest);
  std::optional<double> quota = quota_word ? whole_number(*quota_word) : std::nullopt;
  std::optional<double> period = period_word ? whole_number(*period_word) : std::nullopt;
  if (version_2.empty()) {
    quota = whole_number(text_of(reader, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"));
    period = whole_number(text_of(reader, "/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

void read_processor(const MachineReader& reader, MachineFacts& facts) {
  const CpuInfo cpu = parse_cpuinfo(text_of(reader, "/proc/cpuinfo"));
  facts.cpu_name = cpu.name.empty() ? "unknown processor" : cpu.name;
  facts.cpu_vendor = cpu.vendor;
  facts.instruction_sets = cpu.instruction_sets;
  facts.board = clean_name(text_of(reader, "/proc/device-tree/model"));
  facts.logical_cpus = cpu.logical_cpus;
  if (facts.logical_cpus == 0) facts.logical_cpus = count_numbered(reader, "/sys/devices/system/cpu", "cpu");
  facts.numa_nodes = count_numbered(reader, "/sys/devices/system/node", "node");
  facts.physical_cores = cpu.physical_cores;
  if (facts.physical_cores == 0 && facts.logical_cpus > 0) {
    const auto siblings = count_in_list(text_of(reader, "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list"));
    facts.physical_cores = std::max(1, facts.logical_cpus / std::max(1, siblings.value_or(1)));
  }
  facts.sockets = cpu.sockets;
  facts.usable_cpus = std::max(1, reader.allowed_cpus());
  if (const auto cpus = container_cpus(reader); cpus && *cpus < facts.usable_cpus) {
    facts.usable_cpus = std::max(1, static_cast<int>(std::ceil(*cpus)));
  }
  const auto khz = whole_number(text_of(reader, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"));
  if (khz && *khz > 0 && *khz < 1e8)
    facts.max_clock = units::Hertz{*khz * 1e3};
  else if (cpu.highest_mhz)
    facts.max_clock = units::Hertz{*cpu.highest_mhz * 1e6};
}

void read_memory(const MachineReader& reader, MachineFacts& facts) {
  const std::string meminfo = text_of(reader, "/proc/meminfo");
  facts.memory = meminfo_size(meminfo, "MemTotal");
  facts.memory_available = meminfo_size(meminfo, "MemAvailable");
  if (!facts.memory_available) facts.memory_available = meminfo_size(meminfo, "MemFree");
  const std::optional<Bytes> limit = container_limit(reader);
  if (!limit || (facts.memory && *limit >= *facts.memory)) return;
  facts.memory = *limit;
  const auto used = whole_number(text_of(reader, "/sys/fs/cgroup/memory.current"));
  const Bytes left{std::max(0.0, limit->value() - used.value_or(0))};
  facts.memory_available = facts.memory_available ? std::min(left, *facts.memory_available) : left;
}

}  // namespace

bool MachineFacts::has(std::string_view instruction_set) const {
  return std::find(instruction_sets.begin(), instruction_sets.end(), instruction_set) != instruction_sets.end();
}

Bytes MachineFacts::last_level_cache() const {
  return caches.empty() ? Bytes{} : caches.back().total();
}

int MachineFacts::usable_cores() const {
  return physical_cores > 0 ? std::min(physical_cores, usable_cpus) : usable_cpus;
}

MachineFacts read_machine_facts(const MachineReader& reader) {
  MachineFacts facts;
  read_processor(reader, facts);
  facts.caches = caches_from_sys(reader, facts.logical_cpus);
  if (facts.caches.empty()) facts.caches = caches_from_library(reader, facts);
  read_memory(reader, facts);
  const std::string load = text_of(reader, "/proc/loadavg");
  std::string_view words = load;
  if (const auto first = take_word(words)) facts.load = decimal_number(*first);
  facts.gpu_search = find_gpus(reader);
  return facts;
}

}  // namespace corridor::measure
