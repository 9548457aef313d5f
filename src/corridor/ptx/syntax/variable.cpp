// SPDX-License-Identifier: Apache-2.0
// Declarations of variables and parameters.
#include "corridor/ptx/syntax/variable.h"

#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/syntax/initializer.h"

namespace corridor::ptx {
namespace {

constexpr std::uint64_t largest_variable = std::uint64_t{1} << 40;  // more than any device has
constexpr std::size_t most_dimensions = 16;

/// "[4][2]", "[]".
bool read_dimensions(TokenReader& reader, Variable& variable) {
  while (reader.take('[')) {
    if (variable.dimensions.size() >= most_dimensions) {
      return reader.error(fmt::format("{} has more than {} dimensions", variable.name, most_dimensions), "flatten it");
    }
    std::uint64_t count = 0;
    if (!reader.token().is(']') && !reader.integer(count, "the length of an array")) return false;
    if (!reader.expect(']')) return false;
    variable.dimensions.push_back(count);
  }
  return true;
}

/// Sets `bytes` from type, vector and dimensions; too large a claim is an error.
bool size_variable(TokenReader& reader, Variable& variable) {
  std::uint64_t bytes = bytes_of(variable.type) * variable.vector;
  for (const std::uint64_t count : variable.dimensions) {
    if (count != 0 && bytes > largest_variable / count) {
      return reader.error(variable.name + " is larger than any device's memory", "make the array smaller",
                          variable.line);
    }
    bytes *= count;
  }
  variable.bytes = bytes;
  return true;
}

Variable declared_variable(const DeclaredType& declared, Space space, std::uint32_t line) {
  Variable variable;
  variable.space = space;
  variable.type = declared.type;
  variable.vector = declared.vector;
  variable.is_pointer = declared.is_pointer;
  variable.line = line;
  variable.align =
      declared.align != 0 ? declared.align : static_cast<std::uint32_t>(bytes_of(declared.type)) * declared.vector;
  return variable;
}

bool read_parameter(TokenReader& reader, std::vector<Variable>& out) {
  const std::uint32_t line = reader.token().line;
  const auto space = reader.token().kind == Token::Kind::dot ? space_from(reader.token().text) : std::nullopt;
  if (space != Space::param && space != Space::reg) return reader.expected(".param or .reg");
  reader.advance();
  DeclaredType declared;
  if (!read_declared_type(reader, declared)) return false;
  Variable variable = declared_variable(declared, *space, line);
  std::string_view name;
  if (!reader.expect_word(name, "the name of a parameter")) return false;
  variable.name = name;
  if (!read_dimensions(reader, variable) || !size_variable(reader, variable)) return false;
  out.push_back(std::move(variable));
  return true;
}

}  // namespace

std::optional<Space> space_from(std::string_view directive) {
  constexpr std::pair<std::string_view, Space> spaces[] = {
      {"reg", Space::reg},        {"sreg", Space::sreg},     {"param", Space::param},
      {"global", Space::global},  {"shared", Space::shared}, {"local", Space::local},
      {"const", Space::constant}, {"tex", Space::tex},       {"surf", Space::tex}};
  for (const auto& [name, space] : spaces) {
    if (name == directive) return space;
  }
  return std::nullopt;
}

bool read_declared_type(TokenReader& reader, DeclaredType& out) {
  while (reader.token().kind == Token::Kind::dot) {
    const std::string_view word = reader.token().text;
    if (word == "v2" || word == "v4" || word == "v8") {
      out.vector = static_cast<std::uint32_t>(word[1] - '0');
    } else if (word == "ptr") {
      out.is_pointer = true;
    } else if (const auto type = type_from(word)) {
      out.type = *type;
    } else if (word == "align") {
      reader.advance();
      if (!reader.expect_count(out.align, "an alignment")) return false;
      if (out.align == 0 || (out.align & (out.align - 1)) != 0) {
        return reader.error(fmt::format("an alignment of {}", out.align), "use a power of two");
      }
      continue;
    } else if (word == "attribute") {
      reader.advance();
      if (!skip_attribute(reader)) return false;
      continue;
    } else if (!space_from(word)) {
      return reader.expected("a type");
    }
    reader.advance();
  }
  if (out.type == Type::none) return reader.expected("a type");
  return true;
}

bool skip_attribute(TokenReader& reader) {
  if (!reader.expect('(')) return false;
  std::uint32_t open = 1;
  while (open > 0) {
    if (reader.token().kind == Token::Kind::end || reader.token().kind == Token::Kind::bad)
      return reader.expected("')'");
    if (reader.token().is('(')) ++open;
    if (reader.token().is(')')) --open;
    reader.advance();
  }
  return true;
}

bool read_variables(TokenReader& reader, Space space, bool is_extern, std::vector<Variable>& out,
                    std::vector<std::string_view>& names) {
  DeclaredType declared;
  if (!read_declared_type(reader, declared)) return false;
  do {
    Variable variable = declared_variable(declared, space, reader.token().line);
    variable.is_extern = is_extern;
    std::string_view name;
    if (!reader.expect_word(name, "the name of a variable")) return false;
    variable.name = name;
    if (reader.take('<')) return reader.error("only registers are declared in a range", "declare each variable");
    if (!read_dimensions(reader, variable) || !size_variable(reader, variable)) return false;
    if (reader.take('=') && (!read_initializer(reader, variable) || !size_variable(reader, variable))) return false;
    out.push_back(std::move(variable));
    names.push_back(name);
  } while (reader.take(','));
  return reader.expect(';');
}

bool read_parameters(TokenReader& reader, std::vector<Variable>& out) {
  if (reader.take(')')) return true;
  do {
    if (!read_parameter(reader, out)) return false;
  } while (reader.take(','));
  return reader.expect(')');
}

}  // namespace corridor::ptx
