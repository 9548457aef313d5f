// SPDX-License-Identifier: Apache-2.0
// What the driver tells about one GPU before any context is made.
#pragma once

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"

namespace corridor::measure::cuda {

/// Fails when the driver does not tell the compute capability, the number of SMs or the limit of threads.
[[nodiscard]] Result<GpuFacts> read_gpu_facts(const DriverApi& api, int ordinal, DeviceHandle device);

}  // namespace corridor::measure::cuda
