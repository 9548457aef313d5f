// SPDX-License-Identifier: Apache-2.0
// Which register, variable or label a name stands for, scope by scope; a private part of the parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// What a name stands for.
struct NameEntry {
  enum class Kind : std::uint8_t { none, reg, variable, label };
  Kind kind = Kind::none;
  Type type = Type::none;          ///< of registers
  std::uint32_t vector = 1;        ///< of registers: .v2 and .v4 have several
  std::uint32_t index = no_index;  ///< first register, variable or label
};

/// A use of a name that was not declared when it was read: a label further down, or a function.
struct OpenName {
  enum class Where : std::uint8_t { operand, part, table };
  std::string_view name;
  Where where = Where::operand;
  std::uint32_t owner = 0;    ///< instruction, or label of the table
  std::uint32_t operand = 0;  ///< of the instruction, or entry of the table
  std::uint32_t part = 0;
  std::uint32_t line = 0;
};

class Names {
 public:
  explicit Names(Function& function) : function_(function) {}

  void open_scope() { scopes_.emplace_back(); }
  /// Ends the innermost scope: open names that are labels of it are settled, the others pass to the scope around it,
  /// or are returned by the outermost.
  std::vector<OpenName> close_scope();
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  /// False: the scope has the name already.
  [[nodiscard]] bool declare_register(std::string_view name, Type type, std::uint32_t vector);
  /// "%r<10>": %r0 to %r9.
  [[nodiscard]] bool declare_range(std::string_view prefix, std::uint64_t count, Type type, std::uint32_t vector);
  [[nodiscard]] bool declare(std::string_view name, NameEntry::Kind kind, std::uint32_t index);
  /// Finds a name from the innermost scope out; a register that is used for the first time gets its entry now.
  [[nodiscard]] NameEntry find(std::string_view name);
  void leave_open(const OpenName& use) { scopes_.back().open.push_back(use); }

 private:
  struct Range {
    std::uint64_t count = 0;
    Type type = Type::none;
    std::uint32_t vector = 1;
  };
  struct Scope {
    std::unordered_map<std::string_view, NameEntry> entries;
    std::unordered_map<std::string_view, Range> ranges;
    std::vector<OpenName> open;
  };
  [[nodiscard]] NameEntry* find_in(Scope& scope, std::string_view name);
  void use_register(NameEntry& entry, std::string_view name);
  void settle(const OpenName& use, std::uint32_t label);
  Function& function_;
  std::vector<Scope> scopes_;
};

}  // namespace corridor::ptx
