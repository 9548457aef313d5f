// SPDX-License-Identifier: Apache-2.0
// A stored weight matrix with made-up values, written by the threads that will read it.
#pragma once

#include <memory>

#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/measure/worker_team.h"

namespace corridor::measure {

/// Owns the bytes of one matrix. `matrix.codes` is null when the system gave no memory.
struct StoredWeights {
  LabWeights format = LabWeights::bf16;
  LabMatrix matrix;
  std::unique_ptr<Memory> codes, scales;
  [[nodiscard]] double bytes() const { return static_cast<double>(matrix.rows * matrix.depth) * bits_of(format) / 8; }
};

/// `depth` is a multiple of 64. Values lie within ±0.04, so that sums stay small; they depend on the place alone.
[[nodiscard]] StoredWeights make_weights(WorkerTeam& team, LabWeights format, std::size_t rows, std::size_t depth);

/// Writes made-up bf16 numbers of that size.
void fill_bf16(std::uint16_t* data, std::size_t begin, std::size_t end);

}  // namespace corridor::measure
