// SPDX-License-Identifier: Apache-2.0
// Arithmetic peaks of a GPU: multiply-adds in registers, products of the matrix units by our own kernels (mma.sync, and
// wgmma on Hopper), and products of cuBLASLt where it is found.
//
// Not measured: tcgen05 of Blackwell data-center GPUs (mma.sync does not reach their peak; cuBLASLt does), fp4, fp6.
#pragma once

#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure::cuda {

/// One of our kernels: what one block of 256 threads does in a round.
struct PeakKernel {
  const char* kernel;
  hardware::ComputeType type;
  const char* unit;       ///< "FMA", "mma.sync", "wgmma"
  double flop_per_round;  ///< a multiply-add is two; of 256 threads
  int from, to;           ///< compute capabilities that have it, e.g. 75 … 79
};
[[nodiscard]] const std::vector<PeakKernel>& peak_kernels();

/// Peaks by our own kernels, those of one type next to each other. A kernel that fails is left out with a warning; when
/// all fail, the last failure is the answer.
[[nodiscard]] Result<std::vector<MeasuredPeak>> measure_peaks(Gpu& gpu, const MeasureSettings& settings,
                                                              const Progress& progress,
                                                              std::vector<std::string>& warnings);

}  // namespace corridor::measure::cuda
