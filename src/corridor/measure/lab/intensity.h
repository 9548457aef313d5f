// SPDX-License-Identifier: Apache-2.0
// The law of the roofline, the same for a processor and a GPU: what is claimed and what the ladder predicts.
#pragma once

#include <cstddef>

#include "corridor/measure/lab/experiment.h"

namespace corridor::measure {

/// Multiply-adds on a value after it was read.
inline constexpr std::size_t intensity_steps[] = {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

/// FLOP a value: a multiply-add is two, and the sum is one.
[[nodiscard]] double intensity_operations(std::size_t steps);

/// Labels, formula and tolerance, without readings.
[[nodiscard]] LabResult intensity_claim(const LabMachine& machine);

/// FLOP/s at so many multiply-adds a value, not yet measured.
[[nodiscard]] LabReading intensity_reading(const LabMachine& machine, std::size_t steps);

}  // namespace corridor::measure
