// SPDX-License-Identifier: Apache-2.0
// What else the machine was doing while it was measured, and what stands between the program and the processor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/measure/machine_facts.h"
#include "corridor/measure/machine_reader.h"

namespace corridor::measure {

/// Counters at one moment; what the system does not tell is empty.
struct Surroundings {
  bool virtual_machine = false;
  std::optional<double> busy_s;        ///< processor time of everybody since the start of the machine
  std::optional<double> stolen_s;      ///< time the hypervisor gave to others
  std::optional<double> own_s;         ///< processor time of this process
  std::optional<double> throttled;     ///< periods in which the container's quota was spent
  std::optional<double> pushed_aside;  ///< times this process lost a processor although it wanted to go on
  std::string governor;                ///< of processor 0: "performance", "schedutil" …
};

[[nodiscard]] Surroundings look_around(const MachineReader& reader);

/// Times of /proc/stat's first line in seconds (user, nice, system, irq, softirq → busy; steal); empty when it is not
/// one.
struct StatTimes {
  double busy_s = 0, stolen_s = 0;
};
[[nodiscard]] std::optional<StatTimes> parse_stat(std::string_view text, double ticks_per_s);

/// Sentences about a measurement that lasted `seconds` on `threads` threads between two looks.
[[nodiscard]] std::vector<std::string> surroundings_warnings(const MachineFacts& facts, const Surroundings& before,
                                                             const Surroundings& after, double seconds, int threads);

}  // namespace corridor::measure
