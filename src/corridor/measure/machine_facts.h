// SPDX-License-Identifier: Apache-2.0
// What can be read about this machine without measuring: processor, caches, memory, GPUs.
//
//   const MachineFacts facts = read_machine_facts(*system_reader());
//   facts.cpu_name          // "AMD Ryzen 9 9950X 16-Core Processor"
//   facts.physical_cores    // 16
//
// Everything may be missing (a container without /sys); a missing number is an empty optional, never a guess.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/units/units.h"

namespace corridor::measure {

/// One level of cache that holds data; all cores are taken to be alike.
struct CacheFact {
  int level = 0;               ///< 1, 2, 3 …
  units::Bytes one_instance;   ///< capacity of one cache
  std::optional<int> sharers;  ///< logical processors that share one instance; empty when not known
  double instances = 1;        ///< in the whole machine
  [[nodiscard]] units::Bytes total() const { return one_instance * instances; }
};

struct GpuFact {
  std::string name;    ///< as the driver prints it
  std::string vendor;  ///< "NVIDIA" or "AMD"
  std::optional<units::Bytes> memory;
  std::string driver_version;  ///< empty when not known
};

/// Every GPU found, and why there is none (or why a found one cannot be used from here).
struct GpuSearch {
  std::vector<GpuFact> gpus;
  std::string note;
};

struct MachineFacts {
  std::string cpu_name;    ///< "unknown processor" when nothing names it
  std::string cpu_vendor;  ///< "Intel", "AMD", "ARM", …; empty when not known
  std::string board;       ///< the board's model on single-board computers: "Raspberry Pi 5 Model B Rev 1.0"
  int physical_cores = 0;  ///< 0 when not known
  int logical_cpus = 0;    ///< 0 when not known
  int usable_cpus = 1;     ///< logical processors this process may use (affinity and container quota)
  int sockets = 0;         ///< 0 when not known
  int numa_nodes = 0;      ///< 0 when not known
  std::optional<units::Hertz> max_clock;
  std::vector<std::string> instruction_sets;  ///< in a fixed order: "avx2", "fma", "avx512f", "amx", "neon" …
  std::vector<CacheFact> caches;              ///< nearest the cores first
  std::optional<units::Bytes> memory;         ///< total, or the container's limit when that is lower
  std::optional<units::Bytes> memory_available;
  std::optional<double> load;  ///< processes that wanted to run in the last minute, on average
  GpuSearch gpu_search;

  [[nodiscard]] bool has(std::string_view instruction_set) const;
  /// Sum of all caches of the last level; zero when no cache is known.
  [[nodiscard]] units::Bytes last_level_cache() const;
  /// Cores this process can keep busy: the physical ones, or fewer when it may use fewer processors.
  [[nodiscard]] int usable_cores() const;
};

class MachineReader;
/// Reads all facts. Never fails: what cannot be read stays empty.
[[nodiscard]] MachineFacts read_machine_facts(const MachineReader& reader);

}  // namespace corridor::measure
