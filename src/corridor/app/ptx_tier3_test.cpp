// SPDX-License-Identifier: Apache-2.0
// Kernels of data/ptx that use wmma, barrier objects and textures: counters and results have a closed form.
#include <gtest/gtest.h>

#include <cmath>

#include "corridor/app/ptx_case_arguments.h"
#include "corridor/app/ptx_kernel_run_test.h"

namespace corridor::app {
namespace {

using ptx::Counters;
using ptx::Dim3;
using ptx::Type;

constexpr std::uint64_t m = 64, n = 32, k = 96;

TEST(PtxKernel, WmmaReadsEachFragmentOnce) {
  KernelRun run("wmma.ptx", "wmma_f16");
  std::vector<std::uint16_t> a(m * k), b(k * n);
  std::vector<int> whole_a(a.size()), whole_b(b.size());
  const auto fill = [](std::vector<std::uint16_t>& bits, std::vector<int>& whole, std::size_t step) {
    for (std::size_t i = 0; i < bits.size(); ++i) {
      whole[i] = static_cast<int>(i * step % 11) - 5;
      put_value(Type::f16, whole[i], reinterpret_cast<std::byte*>(&bits[i]));
    }
  };
  fill(a, whole_a, 7);
  fill(b, whole_b, 3);
  const Address at_a = run.buffer(a), at_b = run.buffer(b), at_c = run.unwritten<float>(m * n);
  const Counters c =
      run(Dim3{1, m / 16}, Dim3{32, n / 16}, static_cast<int>(n), static_cast<int>(k), at_a, at_b, at_c).counters;
  constexpr std::uint64_t tiles = m / 16 * (n / 16), steps = tiles * (k / 16);
  EXPECT_EQ(c.tensor_flops[static_cast<std::size_t>(Type::f16)], 2 * m * n * k);
  EXPECT_EQ(c.global_load.requests, 8 * steps);  // 4 registers of A and 4 of B that differ
  EXPECT_EQ(c.global_load.sectors, 32 * steps);  // 16 rows of 32 bytes each
  EXPECT_EQ(c.global_load.bytes, 1024 * steps);
  EXPECT_EQ(c.global_store.requests, 8 * tiles);
  EXPECT_EQ(c.global_store.sectors, 4 * m * n / 32);
  EXPECT_EQ(c.cache.dram_read_sectors, 2 * (m * k + k * n) / 32);
  EXPECT_EQ(c.cache.dram_write_sectors, 4 * m * n / 32);
  const auto out = run.values<float>(at_c, m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      int sum = 0;
      for (std::size_t l = 0; l < k; ++l) sum += whole_a[i * k + l] * whole_b[l * n + j];
      ASSERT_EQ(out[i * n + j], static_cast<float>(sum)) << i << " " << j;
    }
  }
}

TEST(PtxKernel, APipelineNeedsNoBarrierOfTheBlock) {
  KernelRun run("pipeline.ptx", "matmul_pipelined");
  const auto a = random_floats(m * k, 1, -1, 1), b = random_floats(k * n, 2, -1, 1);
  const Address at_a = run.buffer(a), at_b = run.buffer(b), at_c = run.unwritten<float>(m * n);
  const auto result =
      run(Dim3{n / 16, m / 16}, Dim3{16, 16}, static_cast<int>(n), static_cast<int>(k), at_a, at_b, at_c);
  const Counters& c = result.counters;
  constexpr std::uint64_t copies = 2 * m * n * k / 16;  // each tile of A and B comes once a block
  EXPECT_EQ(c.ffma[static_cast<std::size_t>(Type::f32)], m * n * k);
  EXPECT_EQ(c.flops(), 2.0 * m * n * k);
  EXPECT_EQ(c.global_load.requests, copies / 32);
  EXPECT_EQ(c.global_load.sectors, copies / 8);
  EXPECT_EQ(c.global_load.bytes, 4 * copies);
  EXPECT_EQ(c.shared_store.bytes, 4 * copies);
  EXPECT_EQ(c.shared_store.wavefronts, copies / 32);
  EXPECT_EQ(run.lines_with(result, "ld.shared.f32").wavefronts, 2 * m * n * k / 32);
  EXPECT_EQ(c.barriers, m * n / 32);  // one __syncthreads after the barrier objects are made
  EXPECT_EQ(run.lines_with(result, "mbarrier.arrive.shared").warp_instructions, m * n * k / 16 / 32);
  EXPECT_EQ(c.cache.dram_read_sectors, 4 * (m * k + k * n) / 32);
  EXPECT_EQ(c.cache.dram_write_sectors, 4 * m * n / 32);
  const auto out = run.values<float>(at_c, m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::size_t l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
      ASSERT_EQ(out[i * n + j], sum) << i << " " << j;
    }
  }
}

TEST(PtxKernel, ATextureWeighsFourTexels) {
  constexpr std::uint32_t width = 48, height = 40, out_width = 128, out_height = 30;
  constexpr std::uint64_t values = std::uint64_t{out_width} * out_height;
  std::vector<float> image(std::size_t{width} * height);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % width * 2 + i / width * 256);
  for (const bool linear : {true, false}) {
    KernelRun run("texture.ptx", "resample");
    ptx::Texture shape;
    shape.width = width;
    shape.height = height;
    shape.linear = linear;
    const Address texels = run.buffer(image), object = run.texture(texels, shape), out = run.unwritten<float>(values);
    const float step_x = 0.25F, step_y = 0.5F;
    const Counters c =
        run(Dim3{2, out_height}, Dim3{64}, object, static_cast<int>(out_width), step_x, step_y, out).counters;
    EXPECT_EQ(c.flops(), 4.0 * values);
    EXPECT_EQ(c.global_load.requests, (linear ? 4 : 1) * values / 32);
    EXPECT_EQ(c.global_load.bytes, (linear ? 16 : 4) * values);
    EXPECT_EQ(c.global_store.sectors, values / 8);
    const auto got = run.values<float>(out, values);
    for (std::uint32_t y = 0; y < out_height; ++y) {
      for (std::uint32_t x = 0; x < out_width; ++x) {
        const float u = (static_cast<float>(x) + 0.5F) * step_x, v = (static_cast<float>(y) + 0.5F) * step_y;
        // Linear in both directions: between texel centres the plane itself, outside them the edge.
        const float column = std::max(u - 0.5F, 0.0F), row = std::max(v - 0.5F, 0.0F);
        const float expected = linear ? 2 * column + 256 * row : 2 * std::floor(u) + 256 * std::floor(v);
        ASSERT_EQ(got[std::size_t{y} * out_width + x], expected) << x << " " << y;
      }
    }
  }
}

}  // namespace
}  // namespace corridor::app
