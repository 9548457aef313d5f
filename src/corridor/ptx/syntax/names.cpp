// SPDX-License-Identifier: Apache-2.0
// Which register, variable or label a name stands for, scope by scope.
#include "corridor/ptx/syntax/names.h"

#include <array>
#include <string>
#include <utility>

namespace corridor::ptx {
namespace {

constexpr std::size_t longest_number = 10;  // digits of a register of a range

/// The number that ends a name of a range: "17" of "%r17"; no leading zeros.
bool number_below(std::string_view digits, std::uint64_t count) {
  if (digits.size() > 1 && digits[0] == '0') return false;
  std::uint64_t value = 0;
  for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  return value < count;
}

}  // namespace

std::vector<OpenName> Names::close_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  std::vector<OpenName> left;
  for (const OpenName& use : scope.open) {
    const auto found = scope.entries.find(use.name);
    if (found != scope.entries.end() && found->second.kind == NameEntry::Kind::label) {
      settle(use, found->second.index);
    } else if (scopes_.empty()) {
      left.push_back(use);
    } else {
      scopes_.back().open.push_back(use);
    }
  }
  return left;
}

void Names::settle(const OpenName& use, std::uint32_t label) {
  if (use.where == OpenName::Where::table) {
    function_.labels[use.owner].branch_targets[use.operand] = label;
    return;
  }
  Operand* operand = &function_.body[use.owner].operands[use.operand];
  if (use.where == OpenName::Where::part) operand = &operand->parts[use.part];
  operand->kind = Operand::Kind::label;
  operand->index = label;
}

bool Names::declare_register(std::string_view name, Type type, std::uint32_t vector) {
  return scopes_.back().entries.try_emplace(name, NameEntry{NameEntry::Kind::reg, type, vector, no_index}).second;
}

bool Names::declare_range(std::string_view prefix, std::uint64_t count, Type type, std::uint32_t vector) {
  return scopes_.back().ranges.try_emplace(prefix, Range{count, type, vector}).second;
}

bool Names::declare(std::string_view name, NameEntry::Kind kind, std::uint32_t index) {
  return scopes_.back().entries.try_emplace(name, NameEntry{kind, Type::none, 1, index}).second;
}

NameEntry* Names::find_in(Scope& scope, std::string_view name) {
  const auto found = scope.entries.find(name);
  if (found != scope.entries.end()) return &found->second;
  if (scope.ranges.empty()) return nullptr;
  for (std::size_t digits = 1; digits <= longest_number && digits < name.size(); ++digits) {
    const std::size_t first = name.size() - digits;
    if (name[first] < '0' || name[first] > '9') break;
    const auto range = scope.ranges.find(name.substr(0, first));
    if (range == scope.ranges.end() || !number_below(name.substr(first), range->second.count)) continue;
    const NameEntry entry{NameEntry::Kind::reg, range->second.type, range->second.vector, no_index};
    return &scope.entries.emplace(name, entry).first->second;
  }
  return nullptr;
}

void Names::use_register(NameEntry& entry, std::string_view name) {
  constexpr std::array<std::string_view, 8> components = {".x", ".y", ".z", ".w", ".4", ".5", ".6", ".7"};
  entry.index = static_cast<std::uint32_t>(function_.registers.size());
  for (std::uint32_t i = 0; i < entry.vector; ++i) {
    std::string full(name);
    if (entry.vector > 1) full += components[i % components.size()];
    function_.registers.push_back({std::move(full), entry.type});
  }
}

NameEntry Names::find(std::string_view name) {
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    NameEntry* entry = find_in(scopes_[i], name);
    if (entry == nullptr) continue;
    if (entry->kind == NameEntry::Kind::reg && entry->index == no_index) use_register(*entry, name);
    return *entry;
  }
  return {};
}

}  // namespace corridor::ptx
