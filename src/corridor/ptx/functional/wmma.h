// SPDX-License-Identifier: Apache-2.0
// How a matrix of wmma lies in registers and in memory; a private part of functional.
#pragma once

#include <cstdint>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

struct WmmaMatrix {
  Type type = Type::none;
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t registers = 0, values = 1;  ///< of a lane; of a register
  std::uint32_t value_bytes = 4;
  bool wide = false;       ///< registers of 64 bits
  bool by_column = false;  ///< in memory: column after column
  Space space = Space::generic;
  /// Which value of the matrix, row after row, is value i of register r of a lane.
  [[nodiscard]] std::uint32_t number(std::uint32_t r, std::uint32_t lane, std::uint32_t i) const {
    return ((r * 32 + lane) * values + i) % (rows * columns);
  }
};

}  // namespace corridor::ptx
