// SPDX-License-Identifier: Apache-2.0
// The names and sizes of PTX types and state spaces, and finding a function.
#include "corridor/ptx/syntax/module.h"

#include <array>

namespace corridor::ptx {
namespace {

struct TypeFact {
  std::string_view name;
  std::size_t bytes;
};

/// In the order of Type.
constexpr std::array<TypeFact, 32> type_facts = {
    {{"", 0},       {"pred", 0},   {"b8", 1},         {"b16", 2},    {"b32", 4},   {"b64", 8},  {"b128", 16},
     {"u8", 1},     {"u16", 2},    {"u32", 4},        {"u64", 8},    {"s8", 1},    {"s16", 2},  {"s32", 4},
     {"s64", 8},    {"u16x2", 4},  {"s16x2", 4},      {"f16", 2},    {"f16x2", 4}, {"bf16", 2}, {"bf16x2", 4},
     {"tf32", 4},   {"f32", 4},    {"f32x2", 8},      {"f64", 8},    {"e4m3", 1},  {"e5m2", 1}, {"e4m3x2", 2},
     {"e5m2x2", 2}, {"texref", 0}, {"samplerref", 0}, {"surfref", 0}}};
static_assert(type_facts.size() == static_cast<std::size_t>(Type::surfref) + 1);

constexpr std::array<std::string_view, 9> space_names = {"generic", "reg",   "sreg",  "param", "global",
                                                         "shared",  "local", "const", "tex"};
static_assert(space_names.size() == static_cast<std::size_t>(Space::tex) + 1);

}  // namespace

std::size_t bytes_of(Type type) {
  return type_facts[static_cast<std::size_t>(type)].bytes;
}

std::string_view name_of(Type type) {
  return type_facts[static_cast<std::size_t>(type)].name;
}

std::optional<Type> type_from(std::string_view word) {
  if (word.empty()) return std::nullopt;
  for (std::size_t i = 1; i < type_facts.size(); ++i) {
    if (type_facts[i].name == word) return static_cast<Type>(i);
  }
  return std::nullopt;
}

std::string_view name_of(Space space) {
  return space_names[static_cast<std::size_t>(space)];
}

const Function* Module::find(std::string_view function) const {
  const auto alias = aliases.find(std::string(function));
  const std::string_view wanted = alias == aliases.end() ? function : std::string_view(alias->second);
  for (const Function& candidate : functions) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}

}  // namespace corridor::ptx
