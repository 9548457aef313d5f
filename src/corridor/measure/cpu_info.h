// SPDX-License-Identifier: Apache-2.0
// The text of /proc/cpuinfo as facts, for x86, ARM, RISC-V and POWER spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::measure {

struct CpuInfo {
  std::string name;        ///< empty when nothing names the processor
  std::string vendor;      ///< "Intel", "AMD", "ARM" …; empty when not known
  int logical_cpus = 0;    ///< entries in the file
  int physical_cores = 0;  ///< 0 when the file does not tell
  int sockets = 0;         ///< 0 when the file does not tell
  std::optional<double> highest_mhz;
  std::vector<std::string> instruction_sets;  ///< the ones of interest here, in a fixed order
};

/// Any text is accepted; what is not understood is skipped.
[[nodiscard]] CpuInfo parse_cpuinfo(std::string_view text);

}  // namespace corridor::measure
