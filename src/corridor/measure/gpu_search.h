// SPDX-License-Identifier: Apache-2.0
// Which GPUs this machine has: NVIDIA through its driver, else through /proc; AMD through /sys. None is an answer.
#pragma once

#include "corridor/measure/machine_facts.h"

namespace corridor::measure {

/// NVIDIA first, then AMD, in the drivers' own order.
[[nodiscard]] GpuSearch find_gpus(const MachineReader& reader);

}  // namespace corridor::measure
