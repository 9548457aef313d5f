// SPDX-License-Identifier: Apache-2.0
// One row for each opcode of PTX; a private part of op_info.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "corridor/ptx/isa/op_info.h"

namespace corridor::ptx {

/// Which operands an opcode writes.
enum class Writes : std::uint8_t {
  nothing,
  first,
  list_first,      ///< call: (results)
  unless_address,  ///< mbarrier.arrive: a state, or nothing
  bar,             ///< only .red
  load,            ///< .load, .mma and .ld, not .store
  wgmma,           ///< only .mma_async
  query,           ///< only .query_cancel
  multimem         ///< only .ld_reduce
};

/// How work and pipe follow from the modifiers.
enum class Family : std::uint8_t {
  fixed,       ///< as the row says
  add,         ///< add, sub: one addition of its type
  mul,         ///< one product
  fma,         ///< fma, mad: two operations
  compare,     ///< setp, min, max, abs …: the type chooses the pipe
  divide,      ///< div, rem
  reciprocal,  ///< rcp, sqrt, rsqrt
  special,     ///< ex2, lg2, sin, cos, tanh
  convert,     ///< cvt
  memory,      ///< ld, st, atom, red: slots by width
  matrix       ///< mma, wmma, wgmma
};

struct OpRow {
  std::string_view opcode;
  std::uint8_t tier = 0;
  Pipe pipe = Pipe::none;
  Family family = Family::fixed;
  double slots = 1;
  Writes writes = Writes::first;
  std::string_view why_not;
};

/// Sorted by opcode.
[[nodiscard]] std::span<const OpRow> op_table();
/// Null when there is no such opcode.
[[nodiscard]] const OpRow* op_row(std::string_view opcode);

}  // namespace corridor::ptx
