// SPDX-License-Identifier: Apache-2.0
// For tests: one kernel of data/ptx with its own memory, typed buffers, and a device whose caches are stated here.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "corridor/app/ptx_case_source.h"
#include "corridor/ptx/functional/launch.h"

namespace corridor::app {

/// A buffer's address, so that arguments keep their type.
struct Address {
  std::uint64_t value = 0;
};

class KernelRun {
 public:
  KernelRun(const std::string& file, std::string kernel) : kernel_(std::move(kernel)), memory_(1U << 28U) {
    static const Assets assets = *Assets::open();
    const Result<PtxSource> source = ptx_source(assets, file);
    if (!source) ADD_FAILURE() << source.error().line();
    if (source) source_ = *source;
    device.memory.sm_count = 8;
    device.memory.l1_bytes = 128 << 10;
    device.memory.l2_bytes = 32 << 20;
    device.blocks_per_sm = 2;
  }

  ptx::RunDevice device;
  ptx::RunOptions options;

  template <class T>
  Address buffer(const std::vector<T>& values) {
    const Address at = unwritten<T>(values.size());
    const Result<void> ok = memory_.write(at.value, std::as_bytes(std::span(values)));
    EXPECT_TRUE(ok) << (ok ? "" : ok.error().line());
    return at;
  }
  template <class T>
  Address unwritten(std::size_t count) {
    const Result<std::uint64_t> address = memory_.allocate(count * sizeof(T), "b" + std::to_string(buffers_++));
    EXPECT_TRUE(address) << (address ? "" : address.error().line());
    return {address.value_or(0)};
  }
  template <class T>
  std::vector<T> values(Address at, std::size_t count) const {
    std::vector<T> out(count);
    const Result<void> ok = memory_.read(at.value, std::as_writable_bytes(std::span(out)));
    EXPECT_TRUE(ok) << (ok ? "" : ok.error().line());
    return out;
  }

  /// The object of a texture over a buffer.
  Address texture(Address buffer, ptx::Texture shape) {
    shape.address = buffer.value;
    const Result<std::uint64_t> object = memory_.add_texture(shape);
    EXPECT_TRUE(object) << (object ? "" : object.error().line());
    return {object.value_or(0)};
  }

  /// Runs and expects no fault; arguments have the parameters' own types.
  template <class... Arguments>
  ptx::RunResult operator()(ptx::Dim3 grid, ptx::Dim3 block, Arguments... arguments) {
    ptx::RunResult result = faulty(grid, block, arguments...);
    EXPECT_TRUE(result.completed);
    for (const ptx::Fault& fault : result.faults) ADD_FAILURE() << fault.message;
    return result;
  }
  template <class... Arguments>
  ptx::RunResult faulty(ptx::Dim3 grid, ptx::Dim3 block, Arguments... arguments) {
    if (!source_.program) return {};
    ptx::Launch launch;
    launch.kernel = kernel_;
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_shared_bytes = shared_bytes;
    (add(launch, arguments), ...);
    Result<ptx::RunResult> result = ptx::run(*source_.program, launch, memory_, device, options);
    if (!result) ADD_FAILURE() << result.error().line();
    return result ? std::move(*result) : ptx::RunResult{};
  }
  std::uint64_t shared_bytes = 0;

  /// Sums over the PTX lines whose text contains `word`.
  [[nodiscard]] ptx::LineCounters lines_with(const ptx::RunResult& result, std::string_view word) const {
    ptx::LineCounters sum;
    const std::string& text = *source_.program->module().text;
    for (const ptx::LineCounters& each : result.lines) {
      std::size_t at = 0;
      for (std::uint32_t i = 1; i < each.line; ++i) at = text.find('\n', at) + 1;
      if (text.substr(at, text.find('\n', at) - at).find(word) == std::string::npos) continue;
      sum.warp_instructions += each.warp_instructions;
      sum.thread_instructions_on += each.thread_instructions_on;
      sum.sectors += each.sectors;
      sum.wavefronts += each.wavefronts;
      sum.flops += each.flops;
    }
    return sum;
  }

 private:
  static void add(ptx::Launch& launch, Address at) { launch.add_argument(at.value); }
  template <class T>
  static void add(ptx::Launch& launch, T value) {
    launch.add_argument(value);
  }

  std::string kernel_;
  ptx::DeviceMemory memory_;
  PtxSource source_;
  int buffers_ = 0;
};

/// Values between `low` and `high` that depend on the seed alone.
inline std::vector<float> random_floats(std::size_t count, unsigned seed, float low = 0, float high = 1) {
  std::vector<float> out(count);
  std::uint64_t state = seed * 2654435761U + 12345;
  for (float& x : out) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    x = low + (high - low) * static_cast<float>(state >> 40U) * 0x1p-24F;
  }
  return out;
}

}  // namespace corridor::app
