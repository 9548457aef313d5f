// SPDX-License-Identifier: Apache-2.0
// A measured processor as a Device that any command takes.
#pragma once

#include <string>

#include "corridor/hardware/device.h"
#include "corridor/measure/machine_facts.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure {

/// Every fact with basis measured, the figure's spread and how it was taken as its note, and `date`.
[[nodiscard]] hardware::Device measured_cpu_device(const MachineFacts& facts, const Measurement& measurement,
                                                   const std::string& date);

/// "2 threads, avx512; spread 1.2 %, 31 passes"
[[nodiscard]] std::string note_of(const Figure& figure);

}  // namespace corridor::measure
