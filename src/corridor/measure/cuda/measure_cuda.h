// SPDX-License-Identifier: Apache-2.0
// `corridor measure --on cuda:N`: one NVIDIA GPU measured with kernels that are compiled on this machine, now.
//
//   const auto libraries = cuda::find_cuda_libraries();       // fails: libcuda.so.1 was not found; looked in …
//   const auto m = measure_cuda(0, {}, *libraries, {});
//   m->ladder[1].level                  // "L2"
//   m->main_memory.read->value          // 3.05e12, bytes/s
//
// What is measured: read, write, copy and triad rates over a ladder of sizes (by the SMs: copy engines are not a memory
// roof), latency by pointer chase, shared memory, multiply-adds and matrix products in registers, cuBLASLt where it is
// found, launch cost eager and from a graph, and an all-reduce where there are several GPUs.
#pragma once

#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/libraries.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure {

/// Names of the GPUs this process can use, in the driver's order. Fails when the driver answers with an error.
[[nodiscard]] Result<std::vector<std::string>> cuda_device_names(const cuda::CudaLibraries& libraries);

/// Measures GPU `ordinal`. Fails when it is not there, when no compiler (NVRTC) was found, when a kernel does not
/// compile, and when the driver refuses a call that everything depends on. What only some GPUs can do and what needs an
/// optional library is left out with a line in `warnings`.
[[nodiscard]] Result<Measurement> measure_cuda(int ordinal, const MeasureSettings& settings,
                                               const cuda::CudaLibraries& libraries, const Progress& progress);

}  // namespace corridor::measure
