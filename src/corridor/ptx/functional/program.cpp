// SPDX-License-Identifier: Apache-2.0
// Program: a module compiled once.
#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/functional/program_state.h"

namespace corridor::ptx {
namespace {

constexpr std::size_t most_instructions = 16'000'000;

/// A function runs its blocks in order when it, or one that it calls, does.
void spread_order(std::vector<Code>& codes) {
  for (bool changed = true; changed;) {
    changed = false;
    for (Code& code : codes) {
      if (code.ordered) continue;
      const bool calls_ordered = std::any_of(code.callees.begin(), code.callees.end(),
                                             [&](std::uint32_t callee) { return codes[callee].ordered; });
      if (!calls_ordered && !code.calls_indirectly) continue;
      code.ordered = changed = true;
    }
  }
}

}  // namespace

Program::Program() : state_(std::make_unique<State>()) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;
const Module& Program::module() const {
  return state_->module;
}
const Program::State& Program::state() const {
  return *state_;
}

std::uint32_t Program::State::function_index(std::string_view name) const {
  const Function* const function = module.find(name);
  if (function == nullptr) return no_index;
  return static_cast<std::uint32_t>(function - module.functions.data());
}

Result<Program> Program::compile(Module module) {
  static std::atomic<std::uint64_t> programs{0};
  Program program;
  State& state = *program.state_;
  state.id = ++programs;
  state.module = std::move(module);
  const std::vector<Function>& functions = state.module.functions;
  std::size_t total = functions.size();
  for (const Function& function : functions) total += function.body.size();
  if (total > most_instructions) {
    return fail(fmt::format("{} instructions are more than {}", total, most_instructions), state.module.name,
                "split the module");
  }
  state.codes.resize(functions.size());
  state.ops.reserve(total);
  state.statics.reserve(total);
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    Decoder(state, i).decode();
  }
  spread_order(state.codes);
  return program;
}

}  // namespace corridor::ptx
