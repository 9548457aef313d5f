// SPDX-License-Identifier: Apache-2.0
// How types, roundings and shapes change what the opcode table says; a private part of op_info.
#pragma once

#include "corridor/ptx/isa/op_table.h"

namespace corridor::ptx {

/// Fills work, pipe and slots of `info` from the modifiers, and withdraws the tier of variants that are not executed.
void adjust_variant(const Instruction& instruction, const OpRow& row, OpInfo& info);

}  // namespace corridor::ptx
