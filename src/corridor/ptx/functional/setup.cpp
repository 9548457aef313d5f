// SPDX-License-Identifier: Apache-2.0
// Checks a launch and gives every variable its address.
#include "corridor/ptx/functional/setup.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "corridor/ptx/functional/parameters.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t most_threads = 1024;
constexpr std::uint64_t most_local_bytes = 512U << 10, most_block_bytes = std::uint64_t{1} << 30;

Result<void> check_shape(const Launch& launch, const Function& kernel) {
  const Dim3& b = launch.block;
  const Dim3& g = launch.grid;
  if (b.x == 0 || b.y == 0 || b.z == 0 || g.x == 0 || g.y == 0 || g.z == 0) {
    return fail("the grid and the block need at least one in each direction", launch.kernel, "use 1");
  }
  if (b.x > most_threads || b.y > most_threads || b.z > 64 || b.count() > most_threads) {
    return fail(fmt::format("a block of {} × {} × {} threads is larger than {}", b.x, b.y, b.z, most_threads),
                launch.kernel, "use a smaller block");
  }
  if (g.x > 0x7FFFFFFF || g.y > 65535 || g.z > 65535) {
    return fail(fmt::format("a grid of {} × {} × {} blocks is too large", g.x, g.y, g.z), launch.kernel,
                "y and z go up to 65535");
  }
  const auto threads = static_cast<std::uint32_t>(b.count());
  if (kernel.max_threads && threads > *kernel.max_threads) {
    return fail(fmt::format("{} threads a block are more than the kernel's .maxntid {}", threads, *kernel.max_threads),
                launch.kernel, "use a smaller block");
  }
  if (kernel.required_threads && threads != *kernel.required_threads) {
    return fail(
        fmt::format("the kernel needs {} threads a block (.reqntid), not {}", *kernel.required_threads, threads),
        launch.kernel, "use that block");
  }
  return {};
}

Result<std::vector<std::byte>> join_parameters(const Launch& launch, const Function& kernel) {
  if (launch.arguments.size() != kernel.parameters.size()) {
    return fail(fmt::format("{} arguments for {} parameters", launch.arguments.size(), kernel.parameters.size()),
                launch.kernel, "give one for each parameter");
  }
  std::uint64_t total = 0;
  const auto offsets = parameter_offsets(kernel, total);
  if (total > 32764) return fail(fmt::format("{} bytes of parameters are too many", total), launch.kernel);
  std::vector<std::byte> bytes(total);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const auto& argument = launch.arguments[i];
    if (argument.size() != kernel.parameters[i].bytes) {
      return fail(fmt::format("argument {} has {} bytes, parameter {} has {}", i + 1, argument.size(),
                              kernel.parameters[i].name, kernel.parameters[i].bytes),
                  launch.kernel, "give it in the parameter's own size");
    }
    if (!argument.empty()) std::memcpy(bytes.data() + offsets[i], argument.data(), argument.size());
  }
  return bytes;
}

/// Places .global and .const variables in device memory, once a program and memory.
class Globals {
 public:
  Globals(const Program::State& program, DeviceMemory::State& memory) : program_(program), memory_(memory) {
    for (const Variable& v : program.module.variables) by_name_[v.name] = &v;
  }

  Result<std::uint64_t> address_of(const Variable& variable, const std::string& scope) {
    const std::pair<std::uint64_t, std::string> key{program_.id, scope + variable.name};
    const auto found = memory_.module_variables.find(key);
    if (found != memory_.module_variables.end()) return found->second;
    auto allocation = memory_.allocate(std::max<std::uint64_t>(variable.bytes, 1), variable.name);
    if (!allocation) return tl::unexpected(allocation.error());
    Allocation& a = **allocation;
    const std::uint64_t address = a.address;
    memory_.module_variables[key] = address;
    a.written.reset();  // what has no initial value is zero
    a.read_only = variable.space == Space::constant;
    std::uint8_t* const data = a.data.get();
    if (!variable.initial.empty()) {
      std::memcpy(data, variable.initial.data(), std::min<std::uint64_t>(variable.initial.size(), variable.bytes));
    }
    for (const Variable::Relocation& r : variable.relocations) {
      std::uint64_t value = 0;
      if (const auto other = by_name_.find(r.name); other != by_name_.end()) {
        if (other->second->space != Space::global && other->second->space != Space::constant) continue;
        auto there = address_of(*other->second, {});
        if (!there) return there;
        value = *there;
      } else if (const std::uint32_t function = program_.function_index(r.name); function != no_index) {
        value = function_window + function;
      }
      value += static_cast<std::uint64_t>(r.addend);
      const std::uint64_t width = std::min<std::uint64_t>(r.bytes, 8);
      if (r.offset <= variable.bytes && width <= variable.bytes - r.offset) std::memcpy(data + r.offset, &value, width);
    }
    return address;
  }

 private:
  const Program::State& program_;
  DeviceMemory::State& memory_;
  std::unordered_map<std::string_view, const Variable*> by_name_;
};

/// The kernel and all functions that it may call.
std::vector<std::uint32_t> reachable(const Program::State& program, std::uint32_t kernel) {
  std::vector<std::uint32_t> list{kernel};
  std::set<std::uint32_t> seen{kernel};
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (const std::uint32_t callee : program.codes[list[i]].callees) {
      if (seen.insert(callee).second) list.push_back(callee);
    }
    if (!program.codes[list[i]].calls_indirectly) continue;
    for (std::uint32_t any = 0; any < program.codes.size(); ++any) {
      if (!program.codes[any].function->is_entry && seen.insert(any).second) list.push_back(any);
    }
  }
  return list;
}

Result<void> place_variables(LaunchState& state, DeviceMemory::State& memory) {
  const Program::State& program = *state.program;
  Globals globals(program, memory);
  std::vector<const Variable*> dynamic;
  std::uint64_t shared = 0;
  for (const std::uint32_t index : reachable(program, state.kernel)) {
    const Code& code = program.codes[index];
    if (code.frame_bytes >= most_frame_bytes) {
      return fail("the function has too many registers and constants to be run", code.function->name);
    }
    for (const FrameConstant& c : code.constants) {
      if (c.kind != FrameConstant::Kind::variable || state.addresses.contains(c.variable)) continue;
      const Variable& v = *c.variable;
      if (v.type == Type::texref || v.space == Space::tex) {
        const auto bound = memory.texture_of_name.find(v.name);
        if (bound == memory.texture_of_name.end()) {
          return fail("no texture is bound to it", v.name,
                      fmt::format("give one: --arg {}=tex2d:f32:64x64:ramp", v.name));
        }
        state.addresses[&v] = bound->second;
        continue;
      }
      if (v.space == Space::shared) {
        const std::uint64_t align = std::clamp<std::uint64_t>(v.align, 1, 1024);
        if (v.is_extern || v.bytes == 0) {
          dynamic.push_back(&v);
          continue;
        }
        shared = (shared + align - 1) / align * align;
        state.addresses[&v] = shared;
        shared += v.bytes;
        if (shared > 16U << 20) return fail(fmt::format("{} bytes of shared memory are too many", shared), v.name);
      } else if (v.space == Space::global || v.space == Space::constant) {
        const bool of_module = &v >= program.module.variables.data() &&
                               &v < program.module.variables.data() + program.module.variables.size();
        auto address = globals.address_of(v, of_module ? std::string() : code.function->name + "/");
        if (!address) return tl::unexpected(address.error());
        state.addresses[&v] = *address;
      }
    }
  }
  std::uint64_t total = 0;
  const Function& kernel = *program.codes[state.kernel].function;
  const auto offsets = parameter_offsets(kernel, total);
  for (std::size_t i = 0; i < offsets.size(); ++i) state.addresses[&kernel.parameters[i]] = offsets[i];
  state.static_shared_bytes = static_cast<std::uint32_t>(shared);
  if (!dynamic.empty()) {
    std::uint64_t align = 16;
    for (const Variable* v : dynamic) align = std::max(align, std::clamp<std::uint64_t>(v->align, 1, 1024));
    shared = (shared + align - 1) / align * align;
    for (const Variable* v : dynamic) state.addresses[v] = shared;
  }
  if (state.launch->dynamic_shared_bytes > state.device->shared_bytes_per_block ||
      shared + state.launch->dynamic_shared_bytes > state.device->shared_bytes_per_block) {
    return fail(fmt::format("{} bytes of shared memory are more than the {} a block of this device can have",
                            shared + state.launch->dynamic_shared_bytes, state.device->shared_bytes_per_block),
                state.launch->kernel, "use less shared memory");
  }
  state.shared_bytes = static_cast<std::uint32_t>(shared + state.launch->dynamic_shared_bytes);
  return {};
}

}  // namespace

std::uint64_t bytes_of_block(const LaunchState& launch) {
  const Code& code = launch.program->codes[launch.kernel];
  const std::uint64_t local = std::uint64_t{code.local_bytes} * 32 * 2;
  return launch.warps * (code.frame_bytes + local + 1024) + std::uint64_t{launch.shared_bytes} * 4 + 4096;
}

Result<LaunchState> set_up(const Program& program, const Launch& launch, DeviceMemory& memory, const RunDevice& device,
                           const RunOptions& options) {
  LaunchState state;
  state.program = &program.state();
  state.launch = &launch;
  state.device = &device;
  state.options = &options;
  state.memory = &memory.state();
  state.kernel = state.program->function_index(launch.kernel);
  const Function* const kernel = program.module().find(launch.kernel);
  if (kernel == nullptr || !kernel->is_entry || kernel->is_declaration) {
    std::string names;
    for (const Function& f : program.module().functions) {
      if (f.is_entry && names.size() < 200) names += (names.empty() ? "" : ", ") + f.name;
    }
    return fail(fmt::format("there is no kernel {}", launch.kernel), program.module().name,
                names.empty() ? "the file has no kernels" : "it has " + names);
  }
  if (auto ok = check_shape(launch, *kernel); !ok) return tl::unexpected(ok.error());
  auto parameters = join_parameters(launch, *kernel);
  if (!parameters) return tl::unexpected(parameters.error());
  state.parameters = std::move(*parameters);
  state.warps = static_cast<std::uint32_t>((launch.block.count() + 31) / 32);
  const Code& code = state.program->codes[state.kernel];
  if (code.local_bytes > most_local_bytes) {
    return fail(fmt::format("{} bytes of local memory a thread are more than {}", code.local_bytes, most_local_bytes),
                launch.kernel, "use smaller local arrays");
  }
  if (auto ok = place_variables(state, memory.state()); !ok) return tl::unexpected(ok.error());
  if (bytes_of_block(state) > most_block_bytes) {
    return fail(fmt::format("one block would take {} bytes of this machine", bytes_of_block(state)), launch.kernel,
                "use fewer threads, registers or local variables");
  }
  state.parallel = !code.ordered;
  return state;
}

}  // namespace corridor::ptx
