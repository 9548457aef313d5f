// SPDX-License-Identifier: Apache-2.0
// How many registers the assembler is likely to give a kernel, from those that are live.
#pragma once

#include <cstdint>
#include <vector>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// Registers that hold only parameters, constants, block numbers and integers made of them: the assembler keeps those
/// in constant memory or in uniform registers. One flag a register.
[[nodiscard]] std::vector<bool> held_elsewhere(const Function& function);

/// An estimate in steps of 8, from 16 to 255, held down by .maxnreg and by .maxntid with .minnctapersm.
[[nodiscard]] std::uint32_t estimated_registers(std::uint32_t live, const Function& function);

}  // namespace corridor::ptx
