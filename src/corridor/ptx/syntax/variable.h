// SPDX-License-Identifier: Apache-2.0
// Declarations of variables and parameters with their initial values; a private part of the parser.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "corridor/ptx/syntax/module.h"
#include "corridor/ptx/syntax/token_reader.h"

namespace corridor::ptx {

/// The state space a directive names (".shared"); nothing for other directives. `.tex` and `.surf` are `tex`.
[[nodiscard]] std::optional<Space> space_from(std::string_view directive);

/// What stands between a space and the first name: ".align 16 .v4 .f32", ".u64 .ptr .global .align 1".
struct DeclaredType {
  Type type = Type::none;
  std::uint32_t vector = 1;
  std::uint32_t align = 0;
  bool is_pointer = false;
};
[[nodiscard]] bool read_declared_type(TokenReader& reader, DeclaredType& out);

/// ".attribute(.managed, .unified(1, 2))" after its word, read and left aside.
[[nodiscard]] bool skip_attribute(TokenReader& reader);

[[nodiscard]] bool read_variables(TokenReader& reader, Space space, bool is_extern, std::vector<Variable>& out,
                                  std::vector<std::string_view>& names);

/// "(.param .u64 a, .reg .b32 %r)" after its bracket, the closing one included.
[[nodiscard]] bool read_parameters(TokenReader& reader, std::vector<Variable>& out);

}  // namespace corridor::ptx
