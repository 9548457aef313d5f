// SPDX-License-Identifier: Apache-2.0
// Operands of instructions: registers, constants, addresses, vectors, pairs, lists, labels.
#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/syntax/body_reader.h"
#include "corridor/ptx/syntax/special_registers.h"

namespace corridor::ptx {
namespace {

constexpr int deepest_operand = 8;

Operand::Kind operand_kind(Constant::Kind kind) {
  if (kind == Constant::Kind::f32) return Operand::Kind::f32_bits;
  return kind == Constant::Kind::f64 ? Operand::Kind::f64_bits : Operand::Kind::integer;
}

/// Element of a vector register: ".x" and ".r" are the first; 4: none.
std::uint32_t component_of(std::string_view word) {
  if (word.size() != 1) return 4;
  const std::size_t xyzw = std::string_view("xyzw").find(word[0]);
  if (xyzw != std::string_view::npos) return static_cast<std::uint32_t>(xyzw);
  const std::size_t rgba = std::string_view("rgba").find(word[0]);
  return rgba != std::string_view::npos ? static_cast<std::uint32_t>(rgba) : 4;
}

bool is_part_selector(std::string_view word) {
  return word == "b0" || word == "b1" || word == "b2" || word == "b3" || word == "h0" || word == "h1";
}

bool starts_offset(const Token& token) {
  return token.is('+') || token.is('-');
}

}  // namespace

bool BodyReader::operand(Operand& out, Place place, int depth) {
  if (depth > deepest_operand) return reader_.error("operands are nested too deeply", "flatten them");
  if (!simple_operand(out, place, depth)) return false;
  if (!reader_.token().is('|')) return true;
  reader_.advance();
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.parts.resize(2);
  pair.parts[0] = std::move(out);
  if (!simple_operand(pair.parts[1], Place{}, depth + 1)) return false;
  out = std::move(pair);
  return true;
}

bool BodyReader::simple_operand(Operand& out, Place place, int depth) {
  const Token& token = reader_.token();
  if (token.kind == Token::Kind::word && token.text != "WARP_SZ") return named(out, place);
  if (token.kind != Token::Kind::mark) return constant(out);
  if (token.is('{')) {
    out.kind = Operand::Kind::vector;
    return parts(out, '}', Place{}, depth);
  }
  if (token.is('[')) return address(out, depth);
  if (token.is('(') && is_call_ && depth == 0) {  // a list holds no lists: open names of one are found by two indices
    out.kind = Operand::Kind::list;
    return parts(out, ')', place, depth);
  }
  const bool negates = token.is('!') && reader_.second().kind == Token::Kind::word;
  if (!negates) return constant(out);
  reader_.advance();
  if (!named(out, Place{})) return false;
  out.negated = true;
  return out.kind == Operand::Kind::reg || reader_.error("'!' stands before no register", "negate a predicate");
}

/// After an opening bracket, which is the next token: "a, b, …" and the closing one.
bool BodyReader::parts(Operand& out, char closing, Place place, int depth) {
  reader_.advance();
  if (reader_.take(closing)) return true;
  place.where = OpenName::Where::part;
  if (closing == '}') out.parts.reserve(4);
  do {
    place.part = static_cast<std::uint32_t>(out.parts.size());
    if (!operand(out.parts.emplace_back(), place, depth + 1)) return false;
  } while (reader_.take(','));
  return reader_.expect(closing);
}

bool BodyReader::constant(Operand& out) {
  Constant value;
  if (!reader_.constant(value)) return false;
  out.kind = operand_kind(value.kind);
  out.bits = value.bits;
  return true;
}

/// "[base + offset]", "[texture, sampler, {x, y}]".
bool BodyReader::address(Operand& out, int depth) {
  out.kind = Operand::Kind::address;
  reader_.advance();
  if (!address_base(out)) return false;
  while (reader_.take(',')) {
    if (!operand(out.parts.emplace_back(), Place{}, depth + 1)) return false;
  }
  return reader_.expect(']');
}

bool BodyReader::address_base(Operand& out) {
  std::uint64_t offset = 0;
  if (reader_.token().kind != Token::Kind::word) {
    if (!reader_.integer(offset, "an address")) return false;
    out.offset = static_cast<std::int64_t>(offset);
    return true;
  }
  const std::uint32_t line = reader_.token().line;
  const std::string_view name = reader_.token().text;
  const NameEntry entry = names_.find(name);
  reader_.advance();
  if (entry.kind == NameEntry::Kind::reg && entry.vector == 1) {
    out.base = Operand::Base::reg;
    out.index = entry.index;
  } else if (entry.kind == NameEntry::Kind::variable || (entry.kind == NameEntry::Kind::none && is_symbol(name))) {
    out.base = Operand::Base::symbol;
    out.index = entry.index;
    out.name = name;
  } else {
    return unknown_name(name, line);
  }
  if (!starts_offset(reader_.token())) return true;
  if (!reader_.integer(offset, "an offset")) return false;
  out.offset = static_cast<std::int64_t>(offset);
  return true;
}

bool BodyReader::named(Operand& out, Place place) {
  const std::uint32_t line = reader_.token().line;
  const std::string_view name = reader_.token().text;
  reader_.advance();
  if (name == "_") return true;
  const NameEntry entry = names_.find(name);
  if (entry.kind == NameEntry::Kind::reg) return register_operand(out, entry);
  out.name = name;
  if (entry.kind == NameEntry::Kind::none && is_special_register(name)) {
    out.kind = Operand::Kind::special;
    const Token& token = reader_.token();
    if (token.kind != Token::Kind::dot) return true;
    const std::size_t length = static_cast<std::size_t>(token.text.data() - name.data()) + token.text.size();
    if (component_of(token.text) == 4 || length != name.size() + 2) return reader_.expected(".x, .y or .z");
    out.name = std::string_view(name.data(), length);
    reader_.advance();
    return true;
  }
  out.kind = Operand::Kind::symbol;
  const bool known =
      entry.kind == NameEntry::Kind::variable || (entry.kind == NameEntry::Kind::none && is_symbol(name));
  if (known) {
    out.index = entry.index;
    std::uint64_t offset = 0;
    if (starts_offset(reader_.token()) && !reader_.integer(offset, "an offset")) return false;
    out.offset = static_cast<std::int64_t>(offset);
    if (entry.kind == NameEntry::Kind::variable) return true;
  }
  if (!place.can_wait) return known || unknown_name(name, line);
  // A label further down, also one that hides a symbol or a label of a scope around this one.
  OpenName use;
  use.name = name;
  use.where = place.where;
  use.owner = static_cast<std::uint32_t>(function_.body.size());
  use.operand = place.operand;
  use.part = place.part;
  use.line = line;
  names_.leave_open(use);
  return true;
}

bool BodyReader::register_operand(Operand& out, const NameEntry& entry) {
  out.kind = Operand::Kind::reg;
  out.index = entry.index;
  const Token& token = reader_.token();
  const bool has_dot = token.kind == Token::Kind::dot;
  if (entry.vector == 1) {
    if (!has_dot) return true;
    if (!is_part_selector(token.text)) return reader_.expected("',' or ';'");
    out.name = token.text;
    reader_.advance();
    return true;
  }
  if (has_dot) {
    const std::uint32_t component = component_of(token.text);
    if (component >= entry.vector) return reader_.expected("an element of a vector register");
    out.index = entry.index + component;
    reader_.advance();
    return true;
  }
  out.kind = Operand::Kind::vector;
  out.index = no_index;
  for (std::uint32_t i = 0; i < entry.vector; ++i) {
    Operand& part = out.parts.emplace_back();
    part.kind = Operand::Kind::reg;
    part.index = entry.index + i;
  }
  return true;
}

}  // namespace corridor::ptx
