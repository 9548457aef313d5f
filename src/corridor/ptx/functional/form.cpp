// SPDX-License-Identifier: Apache-2.0
// Sorts the modifiers of an instruction.
#include "corridor/ptx/functional/form.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace corridor::ptx {
namespace {

template <class T, std::size_t n>
bool look_up(const std::array<std::pair<std::string_view, T>, n>& table, std::string_view word, T& out) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.first == word; });
  if (found == table.end()) return false;
  out = found->second;
  return true;
}

constexpr std::array<std::pair<std::string_view, Round>, 9> round_words{{{"rn", Round::rn},
                                                                         {"rz", Round::rz},
                                                                         {"rm", Round::rm},
                                                                         {"rp", Round::rp},
                                                                         {"rna", Round::rna},
                                                                         {"rni", Round::rni},
                                                                         {"rzi", Round::rzi},
                                                                         {"rmi", Round::rmi},
                                                                         {"rpi", Round::rpi}}};
constexpr std::array<std::pair<std::string_view, Compare>, 18> compare_words{{{"eq", Compare::eq},
                                                                              {"ne", Compare::ne},
                                                                              {"lt", Compare::lt},
                                                                              {"le", Compare::le},
                                                                              {"gt", Compare::gt},
                                                                              {"ge", Compare::ge},
                                                                              {"lo", Compare::lt},
                                                                              {"ls", Compare::le},
                                                                              {"hi", Compare::gt},
                                                                              {"hs", Compare::ge},
                                                                              {"equ", Compare::equ},
                                                                              {"neu", Compare::neu},
                                                                              {"ltu", Compare::ltu},
                                                                              {"leu", Compare::leu},
                                                                              {"gtu", Compare::gtu},
                                                                              {"geu", Compare::geu},
                                                                              {"num", Compare::num},
                                                                              {"nan", Compare::nan}}};
constexpr std::array<std::pair<std::string_view, Combine>, 3> combine_words{
    {{"and", Combine::conjunction}, {"or", Combine::disjunction}, {"xor", Combine::exclusive}}};
constexpr std::array<std::pair<std::string_view, bool Form::*>, 16> switch_words{{{"ftz", &Form::ftz},
                                                                                  {"sat", &Form::sat},
                                                                                  {"approx", &Form::approx},
                                                                                  {"full", &Form::full},
                                                                                  {"lo", &Form::low},
                                                                                  {"hi", &Form::high},
                                                                                  {"wide", &Form::wide},
                                                                                  {"cc", &Form::carry},
                                                                                  {"NaN", &Form::nan},
                                                                                  {"xorsign", &Form::xorsign},
                                                                                  {"relu", &Form::relu},
                                                                                  {"satfinite", &Form::satfinite},
                                                                                  {"clamp", &Form::clamp},
                                                                                  {"wrap", &Form::wrap},
                                                                                  {"shiftamt", &Form::shiftamt},
                                                                                  {"abs", &Form::xorsign}}};

}  // namespace

bool Form::has(std::string_view modifier) const {
  const auto& all = instruction->modifiers;
  return std::find(all.begin(), all.end(), modifier) != all.end();
}

Form form_of(const Instruction& instruction) {
  Form form;
  form.op = instruction.opcode;
  form.instruction = &instruction;
  const bool compares = form.is("setp") || form.is("set");
  for (const std::string_view word : instruction.modifiers) {
    bool Form::*flag = nullptr;
    if (compares && form.compare == Compare::none && look_up(compare_words, word, form.compare)) continue;
    if (compares && look_up(combine_words, word, form.combine)) continue;
    if (look_up(round_words, word, form.round)) continue;
    if (look_up(switch_words, word, flag)) form.*flag = true;
    const std::optional<Type> type = type_from(word);
    if (type && form.type_count < form.types.size()) form.types[form.type_count++] = *type;
  }
  return form;
}

Width width_of(Type type) {
  if (type == Type::pred) return Width::pred;
  const std::size_t bytes = bytes_of(type);
  if (bytes == 0 || bytes > 8) return Width::none;
  return bytes == 8 ? Width::row64 : Width::row32;
}

}  // namespace corridor::ptx
