// SPDX-License-Identifier: Apache-2.0
// Reads the body of a function: declarations, labels, instructions, nested scopes.
#include "corridor/ptx/syntax/body_reader.h"

#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/syntax/variable.h"

namespace corridor::ptx {
namespace {

constexpr std::size_t deepest_scope = 64;
constexpr std::uint32_t most_instructions = 1U << 26;

}  // namespace

BodyReader::BodyReader(TokenReader& reader, const ModuleNames& module_names, Function& function)
    : reader_(reader), module_names_(module_names), function_(function), names_(function) {
  names_.open_scope();
  for (std::vector<Variable>* list : {&function.results, &function.parameters}) {
    for (const Variable& variable : *list) {
      if (variable.space == Space::reg) {
        (void)names_.declare_register(variable.name, variable.type, variable.vector);
      } else {
        parameters_.insert(variable.name);
      }
    }
  }
}

bool BodyReader::read() {
  bool done = false;
  while (!done) {
    if (!statement(done)) return false;
  }
  return true;
}

bool BodyReader::statement(bool& done) {
  const Token& token = reader_.token();
  switch (token.kind) {
    case Token::Kind::word:
      return label_or_instruction();
    case Token::Kind::dot:
      return directive();
    case Token::Kind::mark:
      break;
    case Token::Kind::end:
      return reader_.error(fmt::format("the body of {} (line {}) has no closing brace", function_.name, function_.line),
                           "check that the file is whole");
    default:
      return reader_.expected("an instruction");
  }
  if (token.is('@')) return guarded();
  if (token.is('}')) return close(done);
  if (reader_.take(';')) return true;
  if (token.is('#')) {
    reader_.skip_line();
    return true;
  }
  if (!token.is('{')) return reader_.expected("an instruction");
  if (names_.depth() >= deepest_scope) {
    return reader_.error(fmt::format("scopes are nested deeper than {}", deepest_scope), "flatten them");
  }
  reader_.advance();
  names_.open_scope();
  return true;
}

bool BodyReader::close(bool& done) {
  reader_.advance();
  const std::vector<OpenName> left = names_.close_scope();
  done = names_.depth() == 0;
  for (const OpenName& use : left) {
    if (use.where == OpenName::Where::table || !is_symbol(use.name)) return unknown_name(use.name, use.line);
  }
  return true;
}

bool BodyReader::is_symbol(std::string_view name) const {
  return parameters_.count(name) != 0 || module_names_.count(name) != 0;
}

bool BodyReader::unknown_name(std::string_view name, std::uint32_t line) {
  return reader_.error(fmt::format("'{}' is not declared", name.substr(0, 60)),
                       "declare the register, variable, label or function", line);
}

bool BodyReader::directive() {
  const std::string_view word = reader_.token().text;
  if (word == "loc") {
    reader_.advance();
    return read_location(reader_, source_);
  }
  if (word == "pragma") {
    reader_.advance();
    return skip_pragma(reader_);
  }
  const auto space = space_from(word);
  if (!space) return reader_.expected("a declaration or an instruction");
  reader_.advance();
  return *space == Space::reg ? registers() : variables(*space);
}

/// After .reg: "type %a, %r<10>;".
bool BodyReader::registers() {
  DeclaredType declared;
  if (!read_declared_type(reader_, declared)) return false;
  do {
    const std::uint32_t line = reader_.token().line;
    std::string_view name;
    if (!reader_.expect_word(name, "the name of a register")) return false;
    bool fresh = false;
    if (reader_.take('<')) {
      // Not a constant expression: '>' ends it.
      const auto value =
          reader_.token().kind == Token::Kind::number ? literal_from(reader_.token().text) : std::nullopt;
      if (!value || !value->is_integer()) return reader_.expected("the number of registers");
      reader_.advance();
      if (!reader_.expect('>')) return false;
      fresh = names_.declare_range(name, value->bits, declared.type, declared.vector);
    } else {
      fresh = names_.declare_register(name, declared.type, declared.vector);
    }
    if (!fresh) return reader_.error(fmt::format("register {} is declared twice", name), "rename one", line);
  } while (reader_.take(','));
  return reader_.expect(';');
}

bool BodyReader::variables(Space space) {
  const std::uint32_t line = reader_.token().line;
  auto index = static_cast<std::uint32_t>(function_.variables.size());
  std::vector<std::string_view> declared;
  if (!read_variables(reader_, space, false, function_.variables, declared)) return false;
  for (const std::string_view name : declared) {
    if (names_.declare(name, NameEntry::Kind::variable, index++)) continue;
    return reader_.error(fmt::format("'{}' is declared twice in one scope", name.substr(0, 60)), "rename one", line);
  }
  return true;
}

bool BodyReader::label_or_instruction() {
  const std::uint32_t line = reader_.token().line;
  const std::string_view word = reader_.token().text;
  reader_.advance();
  if (reader_.token().is(':')) {
    reader_.advance();
    return label(word, line);
  }
  Instruction out;
  out.line = line;
  return instruction(out, word);
}

bool BodyReader::label(std::string_view name, std::uint32_t line) {
  const auto index = static_cast<std::uint32_t>(function_.labels.size());
  if (!names_.declare(name, NameEntry::Kind::label, index)) {
    return reader_.error(fmt::format("label '{}' stands twice in one scope", name.substr(0, 60)), "rename one", line);
  }
  Label& label = function_.labels.emplace_back();
  label.name = name;
  label.target = static_cast<std::uint32_t>(function_.body.size());
  if (reader_.token().kind != Token::Kind::dot) return true;
  const std::string_view word = reader_.token().text;
  if (word == "branchtargets" || word == "calltargets") {
    reader_.advance();
    return branch_targets();
  }
  if (word == "callprototype") {
    reader_.advance();
    return prototype();
  }
  return true;
}

/// After .branchtargets or .calltargets: "L1, L2;". Functions of the latter have no label and are left aside.
bool BodyReader::branch_targets() {
  const auto owner = static_cast<std::uint32_t>(function_.labels.size() - 1);
  do {
    OpenName use;
    use.where = OpenName::Where::table;
    use.owner = owner;
    use.line = reader_.token().line;
    if (!reader_.expect_word(use.name, "a label")) return false;
    if (module_names_.count(use.name) != 0) continue;
    std::vector<std::uint32_t>& targets = function_.labels[owner].branch_targets;
    use.operand = static_cast<std::uint32_t>(targets.size());
    targets.push_back(no_index);
    names_.leave_open(use);
  } while (reader_.take(','));
  return reader_.expect(';');
}

/// After .callprototype: "(.param .b32 _) _ (.param .b64 _, …) .noreturn;", read and left aside.
bool BodyReader::prototype() {
  std::vector<Variable> ignored;
  if (reader_.take('(') && !read_parameters(reader_, ignored)) return false;
  std::string_view name;
  if (!reader_.expect_word(name, "'_'")) return false;
  if (reader_.take('(') && !read_parameters(reader_, ignored)) return false;
  Function nowhere;
  bool is_one = true;
  while (is_one) {
    if (!read_performance_directive(reader_, nowhere, is_one)) return false;
  }
  return reader_.expect(';');
}

bool BodyReader::guarded() {
  Instruction out;
  out.line = reader_.token().line;
  reader_.advance();
  if (reader_.token().is('@')) {  // @@DWARF of old compilers
    reader_.skip_line();
    return true;
  }
  out.guard_negated = reader_.take('!');
  std::string_view name;
  if (!reader_.expect_word(name, "a predicate")) return false;
  const NameEntry entry = names_.find(name);
  if (entry.kind != NameEntry::Kind::reg) return unknown_name(name, out.line);
  out.guard = entry.index;
  std::string_view opcode;
  if (!reader_.expect_word(opcode, "an instruction")) return false;
  return instruction(out, opcode);
}

bool BodyReader::instruction(Instruction& out, std::string_view opcode) {
  if (function_.body.size() >= most_instructions) return reader_.error("too many instructions", "split the file");
  out.opcode = opcode;
  out.source = source_;
  is_call_ = opcode == "call";
  modifiers_.clear();
  while (reader_.token().kind == Token::Kind::dot) {
    modifiers_.push_back(reader_.token().text);
    reader_.advance();
  }
  out.modifiers.assign(modifiers_.begin(), modifiers_.end());
  if (!reader_.token().is(';')) {
    out.operands.reserve(4);
    do {
      Place place;
      place.can_wait = true;
      place.operand = static_cast<std::uint32_t>(out.operands.size());
      if (!operand(out.operands.emplace_back(), place, 0)) return false;
    } while (reader_.take(','));
  }
  if (!reader_.expect(';')) return false;
  function_.body.push_back(std::move(out));
  return true;
}

}  // namespace corridor::ptx
