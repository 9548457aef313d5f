// SPDX-License-Identifier: Apache-2.0
// A processor as a Device, from the facts of this machine and from what was measured on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/hardware/device.h"
#include "corridor/measure/machine_facts.h"
#include "corridor/measure/quick_probe.h"

namespace corridor::measure {

/// What the probes found, and when.
struct Measured {
  std::optional<ReadBandwidth> bandwidth;
  std::optional<FmaPeak> fma;
  std::string date;
  std::string source = "read by corridor on this machine";  ///< of every fact
};

/// A device from facts alone: cores, caches as ladder, memory, measured bandwidth and FP32 peak.
[[nodiscard]] hardware::Device cpu_from_facts(const MachineFacts& facts, const Measured& measured);

/// A catalogue processor on this machine: measured bandwidth instead of the datasheet's, this machine's memory, and
/// peaks for the cores that are here (a virtual machine has fewer, two sockets have more). Appends what it changed.
[[nodiscard]] hardware::Device cpu_from_catalogue(hardware::Device device, const MachineFacts& facts,
                                                  const Measured& measured, std::vector<std::string>& notes);

}  // namespace corridor::measure
