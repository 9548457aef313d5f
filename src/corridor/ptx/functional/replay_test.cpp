// SPDX-License-Identifier: Apache-2.0
// The seeds of the run fuzzer, and what it found before, end within their limits.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "corridor/base/file.h"
#include "corridor/ptx/functional/run_helper_test.h"

namespace corridor::ptx::testing {
namespace {

TEST(Replay, EverySeedOfTheRunFuzzerEnds) {
  std::size_t ran = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CORRIDOR_SOURCE_DIR "/fuzz/corpus/ptx_run")) {
    const auto text = read_text_file(entry.path().string());
    ASSERT_TRUE(text) << entry.path();
    auto module = parse_module(*text, entry.path().filename().string());
    if (!module) continue;
    const auto program = Program::compile(std::move(*module));
    ASSERT_TRUE(program) << entry.path();
    for (const Function& kernel : program->module().functions) {
      if (!kernel.is_entry || kernel.is_declaration) continue;
      DeviceMemory memory(1 << 20);
      const auto buffer = memory.allocate(1024, "buffer");
      Texture texture;
      texture.address = *buffer;
      texture.width = texture.height = 16;
      texture.linear = true;
      memory.bind_texture("t", *memory.add_texture(texture));
      Launch launch;
      launch.kernel = kernel.name;
      launch.grid = Dim3{2};
      launch.block = Dim3{48};
      for (const Variable& parameter : kernel.parameters) {
        std::vector<std::byte> bytes(parameter.bytes);
        if (parameter.bytes == 8) std::memcpy(bytes.data(), &*buffer, 8);
        launch.arguments.push_back(std::move(bytes));
      }
      RunOptions options;
      options.limits.max_instructions = 5000;
      const auto result = run(*program, launch, memory, small_device(), options);
      if (result) {
        EXPECT_LT(result->counters.warp_instructions, 20'000U) << entry.path();
      }
      ++ran;
    }
  }
  EXPECT_GE(ran, 10U);
}

}  // namespace
}  // namespace corridor::ptx::testing
