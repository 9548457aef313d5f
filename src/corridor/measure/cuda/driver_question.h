// SPDX-License-Identifier: Apache-2.0
// Which GPUs the NVIDIA driver shows to this process, asked without a risk of waiting for ever.
#pragma once

#include <optional>

#include "corridor/measure/machine_facts.h"

namespace corridor::measure {

/// Names and memory sizes of the GPUs this process can use. Empty when libcuda.so.1 is absent. A driver that fails, or
/// does not answer within five seconds, gives a search without GPUs whose note says so.
[[nodiscard]] std::optional<GpuSearch> ask_cuda_driver();

}  // namespace corridor::measure
