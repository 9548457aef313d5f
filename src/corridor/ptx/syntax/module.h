// SPDX-License-Identifier: Apache-2.0
// What a PTX text says, as plain data: the functions of a module, their registers, variables and instructions.
//
//   Module module = *parse_module(text, "saxpy.ptx");
//   const Function* saxpy = module.find("saxpy");
//   saxpy->body[0].opcode                     // "ld"
//   saxpy->body[0].modifiers                  // {"param", "u64"}
//   saxpy->registers[saxpy->body[0].operands[0].index].name   // "%rd1"
//
// Nested scopes are flattened: a register, variable or label of an inner scope has an entry of its own and operands
// point at entries, so that two scopes may use one name. Nothing here says what an instruction does: that is isa/.
// A range such as %r<1000> is a claim: only the registers that the body uses have entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace corridor::ptx {

inline constexpr std::uint32_t no_index = 0xFFFFFFFF;

/// The fundamental types of PTX; packed ones where an instruction works on both halves.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  u16x2,
  s16x2,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  texref,
  samplerref,
  surfref
};

/// Bytes of one value in memory; 0 for `none`, `pred` and opaque references.
[[nodiscard]] std::size_t bytes_of(Type type);
[[nodiscard]] std::string_view name_of(Type type);                   ///< "f32"
[[nodiscard]] std::optional<Type> type_from(std::string_view word);  ///< "f32" → Type::f32

/// State spaces.
enum class Space : std::uint8_t { generic, reg, sreg, param, global, shared, local, constant, tex };
[[nodiscard]] std::string_view name_of(Space space);

struct Operand {
  enum class Kind : std::uint8_t {
    reg,       ///< index into Function::registers
    special,   ///< a special register; `name` is "%tid.x"
    integer,   ///< `bits` is the value as two's complement
    f32_bits,  ///< 0f3F800000: `bits` holds 32 bits
    f64_bits,  ///< 0d…, or a decimal literal with a point: `bits` holds 64 bits
    symbol,    ///< address of a variable or function, plus `offset`
    address,   ///< [base + offset]: `base` says what the base is
    vector,    ///< {a, b, …}: `parts`
    pair,      ///< p|q: two `parts`
    list,      ///< (a, b): arguments and results of call: `parts`
    label,     ///< index into Function::labels: code, or a table of .branchtargets, .calltargets, .callprototype
    discard    ///< _
  };
  enum class Base : std::uint8_t { none, reg, symbol };
  Kind kind = Kind::discard;
  Base base = Base::none;  ///< of an address; `none` for [immediate]
  bool negated = false;    ///< !p
  /// Register or label (also the base register of an address). Of a symbol, or an address with one: index into
  /// Function::variables when the body declares it, `no_index` when it is a parameter, a module variable or a function.
  std::uint32_t index = no_index;
  std::string_view name;  ///< symbol or special register, as written; of a reg: the part "b0" or "h1" that it selects
  std::uint64_t bits = 0;
  std::int64_t offset = 0;     ///< bytes, of addresses and symbols; the whole of an [immediate]
  std::vector<Operand> parts;  ///< of an address: what follows the base, [tex, sampler, {x, y}] → sampler, {x, y}
};

/// A place in the source the compiler started from (.loc), where the PTX tells.
struct SourceLine {
  std::uint32_t file = 0;  ///< number of a .file; 0: unknown
  std::uint32_t line = 0;
};

struct Instruction {
  std::string_view opcode;                  ///< "fma"
  std::vector<std::string_view> modifiers;  ///< {"rn", "f32"}; "to", "shared::cta" as written
  std::vector<Operand> operands;            ///< in the order written; destinations first
  std::uint32_t guard = no_index;           ///< register of @p
  bool guard_negated = false;               ///< @!p
  std::uint32_t line = 0;                   ///< of the PTX text, from 1
  SourceLine source;
};

struct RegisterDeclaration {
  std::string name;  ///< "%r1"
  Type type = Type::none;
};

/// A variable of memory, at module or function level, or a parameter.
struct Variable {
  std::string name;
  Space space = Space::generic;
  Type type = Type::none;
  std::uint32_t vector = 1;               ///< .v2, .v4: elements a value
  std::vector<std::uint64_t> dimensions;  ///< of arrays; empty: one value; 0: unknown (extern)
  std::uint32_t align = 0;                ///< bytes
  bool is_extern = false;
  bool is_pointer = false;            ///< of a parameter: marked .ptr
  std::uint64_t bytes = 0;            ///< whole size; 0 for extern arrays without one
  std::vector<std::uint8_t> initial;  ///< leading bytes, at most `bytes`; the rest is zero
  /// Addresses of other variables inside the initial value: offset, name, addend.
  struct Relocation {
    std::uint64_t offset = 0;
    std::string name;
    std::int64_t addend = 0;
    std::uint32_t bytes = 8;  ///< width of the address: 4 or 8
    bool generic = false;     ///< generic(name): a generic address
  };
  std::vector<Relocation> relocations;
  std::uint32_t line = 0;
};

struct Label {
  std::string name;
  std::uint32_t target = 0;                   ///< index into Function::body; body.size() at the end
  std::vector<std::uint32_t> branch_targets;  ///< labels of a .branchtargets table of this name
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;  ///< no body: extern, or declared first
  std::vector<Variable> results, parameters;
  std::vector<RegisterDeclaration> registers;
  std::vector<Variable> variables;  ///< .shared, .local, .param and .global of its body
  std::vector<Label> labels;
  std::vector<Instruction> body;
  std::optional<std::uint32_t> max_threads, required_threads, min_blocks_per_sm, max_registers,
      cluster_blocks;  ///< products of x, y, z
  std::uint32_t line = 0;
};

struct Module {
  std::shared_ptr<const std::string> text;  ///< what the views point into
  std::string name;                         ///< of the file
  std::string version, target;              ///< "9.0", "sm_90a"
  std::uint32_t address_bits = 64;
  std::unordered_map<std::uint32_t, std::string> files;  ///< of .file
  std::vector<Variable> variables;                       ///< of module level
  std::vector<Function> functions;                       ///< each name once: a definition takes its declaration's place
  std::unordered_map<std::string, std::string> aliases;  ///< of .alias: name → function
  [[nodiscard]] const Function* find(std::string_view function) const;  ///< follows aliases; null when there is none
};

}  // namespace corridor::ptx
