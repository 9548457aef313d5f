// SPDX-License-Identifier: Apache-2.0
// Initial values of variables: numbers, strings, addresses, nested braces; a private part of the parser.
#pragma once

#include "corridor/ptx/syntax/module.h"
#include "corridor/ptx/syntax/token_reader.h"

namespace corridor::ptx {

/// After '=': fills `initial` and `relocations` of a variable whose type and dimensions are known. A first dimension of
/// 0 takes the number of values. Gaps that braces leave are bounded by the text, not by the claimed size.
[[nodiscard]] bool read_initializer(TokenReader& reader, Variable& variable);

}  // namespace corridor::ptx
