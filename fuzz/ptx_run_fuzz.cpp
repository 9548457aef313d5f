// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any text as PTX, its first kernel run under tight limits. Nothing may crash, hang or take memory.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "corridor/ptx/functional/launch.h"
#include "corridor/ptx/syntax/parse.h"

namespace {

constexpr std::uint64_t most_parameter_bytes = 4096;

void run_kernel(const corridor::ptx::Program& program, const corridor::ptx::Function& kernel) {
  using namespace corridor::ptx;
  DeviceMemory memory(1 << 20);
  const auto buffer = memory.allocate(1024, "buffer");
  Texture texture;
  texture.address = *buffer;
  texture.width = texture.height = 16;
  texture.linear = true;
  memory.bind_texture("t", *memory.add_texture(texture));
  Launch launch;
  launch.kernel = kernel.name;
  launch.grid = {2};
  launch.block = {48};
  for (const Variable& parameter : kernel.parameters) {
    if (parameter.bytes > most_parameter_bytes) return;
    std::vector<std::byte> bytes(parameter.bytes);
    if (parameter.bytes == 8) std::memcpy(bytes.data(), &*buffer, 8);
    if (parameter.bytes == 4) bytes[0] = std::byte{4};
    launch.arguments.push_back(std::move(bytes));
  }
  RunDevice device;
  device.memory = {.sm_count = 2, .l1_bytes = 16384, .l2_bytes = 65536};
  RunOptions options;
  options.limits.max_instructions = 5000;
  options.trace_blocks = 1;
  const auto result = run(program, launch, memory, device, options);
  if (result) (void)named(result->counters);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto module = corridor::ptx::parse_module(std::string(reinterpret_cast<const char*>(data), size), "fuzz.ptx");
  if (!module) return 0;
  const auto program = corridor::ptx::Program::compile(std::move(*module));
  if (!program) return 0;
  for (const auto& function : program->module().functions) {
    if (!function.is_entry || function.is_declaration) continue;
    run_kernel(*program, function);
    break;
  }
  return 0;
}
