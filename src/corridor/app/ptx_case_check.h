// SPDX-License-Identifier: Apache-2.0
// Buffers after a simulated run: the first values, dumps to files, and comparison with a file.
#pragma once

#include <string>

#include "corridor/app/ptx_case.h"

namespace corridor::app {

/// Reads the first values.
[[nodiscard]] Result<int> look_at(PtxBuffer& buffer, const ptx::DeviceMemory& memory);

/// Writes a buffer's bytes to a file.
[[nodiscard]] Result<int> dump_buffer(const PtxBuffer& buffer, const std::string& file,
                                      const ptx::DeviceMemory& memory);

/// Compares a buffer with a file: numbers as text when its name ends in .txt, .csv or .json, else raw values of the
/// buffer's type. Equal bits are equal whatever the tolerance; NaN equals NaN. Fails when the file has another number
/// of values.
[[nodiscard]] Result<PtxCheck> compare_buffer(const PtxBuffer& buffer, const std::string& file, double tolerance,
                                              const ptx::DeviceMemory& memory);

}  // namespace corridor::app
