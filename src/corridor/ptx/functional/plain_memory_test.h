// SPDX-License-Identifier: Apache-2.0
// For tests: the memory of one block as the plain interpreter sees it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx::testing {

/// What the threads of one block see. Places: `in` at base_in, `out` (8 bytes a thread) at base_out, variables of the
/// module at base_module; shared and local memory at 0 of their own spaces, and in generic addresses at their windows.
struct PlainMemory {
  static constexpr std::uint64_t base_in = 1 << 20, base_out = std::uint64_t{1} << 40;
  static constexpr std::uint64_t shared_window = std::uint64_t{1} << 44, local_window = std::uint64_t{1} << 45;
  static constexpr std::uint64_t base_module = std::uint64_t{1} << 46;

  PlainMemory(const Module& module, const Function& kernel, const std::vector<std::uint64_t>& values,
              std::uint32_t threads)
      : in(values.size() * 8), out(std::size_t{8} * threads) {
    if (!in.empty()) std::memcpy(in.data(), values.data(), in.size());
    for (const auto* list : {&module.variables, &kernel.variables}) {
      for (const Variable& v : *list) place(v);
    }
  }
  /// `size` bytes at an address; null outside of everything.
  std::uint8_t* find(std::uint64_t address, std::size_t size, std::vector<std::uint8_t>& local) {
    const auto inside = [&](std::uint64_t base, std::vector<std::uint8_t>& bytes) -> std::uint8_t* {
      const bool fits = address >= base && address - base <= bytes.size() && size <= bytes.size() - (address - base);
      return fits ? bytes.data() + (address - base) : nullptr;
    };
    if (address >= base_module) return inside(base_module, variables);
    if (address >= local_window) return inside(local_window, local);
    if (address >= shared_window) return inside(shared_window, shared);
    return address >= base_out ? inside(base_out, out) : inside(base_in, in);
  }

  std::vector<std::uint8_t> in, out, shared, variables;
  std::map<std::string, std::uint64_t, std::less<>> symbols;

 private:
  void place(const Variable& v) {
    if (v.space != Space::shared && v.space != Space::constant && v.space != Space::global) return;
    std::vector<std::uint8_t>& bytes = v.space == Space::shared ? shared : variables;
    const std::size_t start = (bytes.size() + 15) / 16 * 16;
    bytes.resize(start + v.bytes);
    std::copy(v.initial.begin(), v.initial.end(), bytes.begin() + static_cast<std::ptrdiff_t>(start));
    symbols[v.name] = v.space == Space::shared ? start : base_module + start;
  }
};

}  // namespace corridor::ptx::testing
