// SPDX-License-Identifier: Apache-2.0
// What is known of an instruction without running it: its family, the pipe it uses, its operations and issue slots.
#pragma once

#include <cstdint>
#include <string_view>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// Execution pipes of an SM, as Nsight Compute names them.
enum class Pipe : std::uint8_t {
  alu,
  fma,
  fp16,
  fp64,
  xu,
  lsu,
  tensor,
  adu /* branches, barriers */,
  uniform,
  tex,
  none
};

/// Floating-point work of one lane (of the whole warp for tensor operations).
struct Work {
  enum class Kind : std::uint8_t { none, add, mul, fma, special, tensor };
  Kind kind = Kind::none;
  Type type = Type::none;   ///< f16, bf16, f32, f64, tf32 …
  std::uint32_t flops = 0;  ///< fma 2; f16x2 fma 4; mma.m16n8k16 4096 a warp
};

struct OpInfo {
  std::uint8_t tier = 0;  ///< 1, 2, 3: how common (docs/simulated_gpu.md); 0: parsed, never executed
  Pipe pipe = Pipe::none;
  Work work;
  double issue_slots = 1;    ///< estimated machine instructions on sm_90
  std::string_view why_not;  ///< for tier 0: why it is refused, in a few words
};

/// Never fails: unknown opcodes have tier 0.
[[nodiscard]] OpInfo info_of(const Instruction& instruction);

/// How many of the leading operands an instruction writes: 0 of a store, 1 of most, also for {vectors} and p|q.
[[nodiscard]] std::uint32_t destinations_of(const Instruction& instruction);
/// Whether the destination is also read: the accumulators of wgmma.
[[nodiscard]] bool reads_destination(const Instruction& instruction);

/// Registers of one operand, those of its parts too; the base of an address is read even where data is written to it.
template <class Visit>
void each_register_of(const Operand& operand, bool is_write, Visit&& visit) {
  const bool is_address = operand.kind == Operand::Kind::address;
  const bool has_register = operand.kind == Operand::Kind::reg || (is_address && operand.base == Operand::Base::reg);
  if (has_register && operand.index != no_index) visit(operand.index, is_write && !is_address);
  for (const Operand& part : operand.parts) each_register_of(part, is_write && !is_address, visit);
}

/// Registers an instruction writes and reads, guard included; `visit(register, is_write)`. Reads come first.
template <class Visit>
void each_register(const Instruction& instruction, Visit&& visit) {
  const std::uint32_t destinations = destinations_of(instruction);
  const bool read_first = reads_destination(instruction);
  if (instruction.guard != no_index) visit(instruction.guard, false);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    if (i >= destinations || read_first) each_register_of(instruction.operands[i], false, visit);
  }
  for (std::size_t i = 0; i < instruction.operands.size() && i < destinations; ++i) {
    each_register_of(instruction.operands[i], true, visit);
  }
}

}  // namespace corridor::ptx
