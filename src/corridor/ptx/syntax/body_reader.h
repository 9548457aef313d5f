// SPDX-License-Identifier: Apache-2.0
// Reads the body of a function: declarations, labels, instructions, nested scopes; a private part of the parser.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "corridor/ptx/syntax/module.h"
#include "corridor/ptx/syntax/names.h"
#include "corridor/ptx/syntax/token_reader.h"

namespace corridor::ptx {

/// Names of the module's variables and functions seen so far.
using ModuleNames = std::unordered_set<std::string_view>;

class BodyReader {
 public:
  BodyReader(TokenReader& reader, const ModuleNames& module_names, Function& function);
  /// After the opening brace, the closing one included. False: the reader holds the error.
  [[nodiscard]] bool read();

 private:
  bool statement(bool& done);
  bool close(bool& done);
  bool directive();
  bool table_directive(bool& is_one);
  bool location();
  bool registers();
  bool variables(Space space);
  bool label(std::string_view name, std::uint32_t line);
  bool branch_targets();
  bool prototype();
  bool guard(Instruction& instruction);
  bool instruction(Instruction& out, std::string_view opcode);
  bool label_or_instruction();
  bool guarded();

  /// Where an operand stands, so that a label further down can be put in later.
  struct Place {
    bool can_wait = false;  ///< an operand, or a part of a (list)
    OpenName::Where where = OpenName::Where::operand;
    std::uint32_t operand = 0, part = 0;
  };
  bool operand(Operand& out, Place place, int depth);
  bool simple_operand(Operand& out, Place place, int depth);
  bool parts(Operand& out, char closing, Place place, int depth);
  bool address(Operand& out, int depth);
  bool address_base(Operand& out);
  bool named(Operand& out, Place place);
  bool register_operand(Operand& out, const NameEntry& entry);
  bool constant(Operand& out);
  bool unknown_name(std::string_view name, std::uint32_t line);
  [[nodiscard]] bool is_symbol(std::string_view name) const;

  TokenReader& reader_;
  const ModuleNames& module_names_;
  Function& function_;
  Names names_;
  std::unordered_set<std::string_view> parameters_;
  SourceLine source_;
  bool is_call_ = false;  ///< ( begins a list, not a constant
  std::vector<std::string_view> modifiers_;
};

/// ".maxntid 256, 1, 1" and the like between head and body; `is_one` false: the token is no such directive.
[[nodiscard]] bool read_performance_directive(TokenReader& reader, Function& function, bool& is_one);

/// ".loc 1 20 3, function_name $L, inlined_at 1 10 2" after its word; sets the place of the next instructions.
[[nodiscard]] bool read_location(TokenReader& reader, SourceLine& out);

/// ".pragma "a", "b";" after its word.
[[nodiscard]] bool skip_pragma(TokenReader& reader);

}  // namespace corridor::ptx
