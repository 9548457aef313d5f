// SPDX-License-Identifier: Apache-2.0
// Kernels of data/ptx whose memory traffic and operations have a closed form: counters equal it, results equal a loop
// on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "corridor/app/ptx_case_arguments.h"
#include "corridor/app/ptx_kernel_run_test.h"

namespace corridor::app {
namespace {

using ptx::Counters;
using ptx::Dim3;
using ptx::Type;

constexpr std::uint64_t f32 = static_cast<std::uint64_t>(Type::f32);

TEST(PtxKernel, SaxpyMovesThreeValuesForTwoOperations) {
  constexpr int n = 1 << 14;
  KernelRun run("saxpy.ptx", "saxpy");
  const auto x = random_floats(n, 1), y = random_floats(n, 2);
  const Address at_x = run.buffer(x), at_y = run.buffer(y);
  const Counters c = run(Dim3{n / 256}, Dim3{256}, n, 1.7F, at_x, at_y).counters;
  EXPECT_EQ(c.flops(), 2.0 * n);
  EXPECT_EQ(c.ffma[f32], n);
  EXPECT_EQ(c.global_load.requests, 2 * n / 32);
  EXPECT_EQ(c.global_load.sectors, 2 * n / 8);
  EXPECT_EQ(c.global_store.requests, n / 32);
  EXPECT_EQ(c.global_store.sectors, n / 8);
  EXPECT_EQ(c.global_load.bytes, 8 * n);
  EXPECT_EQ(c.cache.dram_read_sectors, 2 * n / 8);
  EXPECT_EQ(c.cache.dram_write_sectors, n / 8);
  EXPECT_EQ(c.warps, n / 32);
  EXPECT_EQ(c.active_lanes[32], c.warp_instructions);
  const auto out = run.values<float>(at_y, n);
  for (int i = 0; i < n; ++i) ASSERT_EQ(out[i], std::fma(x[i], 1.7F, y[i])) << i;
}

TEST(PtxKernel, LanesBeyondTheEndDoNothing) {
  constexpr int n = 1000;  // 4 blocks of 256: the last warp that has values has 8
  KernelRun run("saxpy.ptx", "saxpy");
  const Address x = run.buffer(random_floats(n, 1)), y = run.buffer(random_floats(n, 2));
  const auto result = run(Dim3{4}, Dim3{256}, n, 2.0F, x, y);
  EXPECT_EQ(result.counters.flops(), 2.0 * n);
  EXPECT_EQ(result.counters.global_load.bytes, 8 * n);
  EXPECT_EQ(result.counters.global_load.requests, 2 * 32);  // 31 full warps and one of 8 lanes
  EXPECT_EQ(result.counters.global_load.sectors, 2 * n / 8);
  EXPECT_EQ(result.counters.divergent_branches, 1);
}

TEST(PtxKernel, ScaleByOneAndByFourValues) {
  constexpr int n = 1 << 13;
  const auto x = random_floats(n, 3);
  for (const int width : {1, 4}) {
    KernelRun run("scale.ptx", width == 1 ? "scale" : "scale4");
    const Address at_x = run.buffer(x), at_y = run.unwritten<float>(n);
    const std::uint64_t threads = n / static_cast<std::uint64_t>(width);
    const Counters c =
        run(Dim3{static_cast<std::uint32_t>(threads / 128)}, Dim3{128}, n / width, 3.3F, at_x, at_y).counters;
    EXPECT_EQ(c.flops(), n);
    EXPECT_EQ(c.global_load.requests, threads / 32);
    EXPECT_EQ(c.global_load.sectors + c.global_store.sectors, 2 * n / 8);
    EXPECT_EQ(c.global_load.wavefronts, n / 32);  // 128 bytes each
    const auto y = run.values<float>(at_y, n);
    for (int i = 0; i < n; ++i) ASSERT_EQ(y[i], 3.3F * x[i]);
  }
}

TEST(PtxKernel, ReductionAddsShufflesAndAtomics) {
  constexpr std::uint64_t n = 1 << 14, blocks = 16, warps = blocks * 256 / 32;
  KernelRun run("reduce.ptx", "reduce_sum");
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 7 % 64);  // sums stay exact in any order
  const Address at_x = run.buffer(x), at_sum = run.buffer(std::vector<float>{0});
  const Counters c = run(Dim3{blocks}, Dim3{256}, static_cast<int>(n), at_x, at_sum).counters;
  EXPECT_EQ(c.fadd[f32], n + 160 * warps + 160 * blocks);
  EXPECT_EQ(c.shuffles, 5 * warps + 5 * blocks);
  EXPECT_EQ(c.global_atomic.requests, blocks);
  EXPECT_EQ(c.global_load.sectors, n / 8);
  EXPECT_EQ(c.barriers, warps);
  EXPECT_EQ(run.values<float>(at_sum, 1)[0], std::accumulate(x.begin(), x.end(), 0.0F));
}

TEST(PtxKernel, SoftmaxReadsThreeTimesAndWritesTwice) {
  constexpr std::uint64_t rows = 6, columns = 512, n = rows * columns, threads = 128, log2_threads = 7;
  KernelRun run("softmax.ptx", "softmax_row");
  const auto x = random_floats(n, 5, -4, 4);
  const Address at_x = run.buffer(x), at_y = run.unwritten<float>(n);
  run.shared_bytes = 4 * threads;
  const auto result = run(Dim3{rows}, Dim3{threads}, static_cast<int>(columns), at_x, at_y);
  EXPECT_EQ(result.counters.global_load.sectors, 3 * n / 8);
  EXPECT_EQ(result.counters.global_store.sectors, 2 * n / 8);
  EXPECT_EQ(result.counters.barriers, rows * threads / 32 * (2 * log2_threads + 4));
  EXPECT_EQ(run.lines_with(result, "ex2.approx").thread_instructions_on, n);
  const auto y = run.values<float>(at_y, n);
  for (std::size_t row = 0; row < rows; ++row) {
    const float* from = x.data() + row * columns;
    const double largest = *std::max_element(from, from + columns);
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += std::exp(from[i] - largest);
    for (std::size_t i = 0; i < columns; ++i) {
      const double expected = std::exp(from[i] - largest) / sum;
      ASSERT_NEAR(y[row * columns + i], expected, 2e-6 * expected);  // ex2.approx: 2 ulp of 2^-22, argument rounded
    }
  }
}

TEST(PtxKernel, RmsnormReadsItsRowTwice) {
  constexpr std::uint64_t rows = 5, columns = 1024, n = rows * columns;
  KernelRun run("rmsnorm.ptx", "rmsnorm");
  const auto x = random_floats(n, 6, -1, 1), weight = random_floats(columns, 7);
  const Address at_x = run.buffer(x), at_weight = run.buffer(weight), at_y = run.unwritten<float>(n);
  const Counters c = run(Dim3{rows}, Dim3{256}, static_cast<int>(columns), 1e-5F, at_x, at_weight, at_y).counters;
  EXPECT_EQ(c.global_load.sectors, 3 * n / 8);
  EXPECT_EQ(c.global_store.sectors, n / 8);
  EXPECT_EQ(c.shuffles, 10 * rows * 256 / 32);
  EXPECT_EQ(c.cache.dram_read_sectors, (n + columns) / 8);  // each value comes from DRAM once
  const auto y = run.values<float>(at_y, n);
  for (std::size_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += static_cast<double>(x[row * columns + i]) * x[row * columns + i];
    const double factor = 1 / std::sqrt(sum / columns + 1e-5);
    for (std::size_t i = 0; i < columns; ++i) {
      ASSERT_NEAR(y[row * columns + i], x[row * columns + i] * factor * weight[i], 2e-6);
    }
  }
}

TEST(PtxKernel, GemvReadsEachWeightOnceFromMemory) {
  constexpr std::uint64_t rows = 64, columns = 512;
  KernelRun run("gemv.ptx", "gemv_f16");
  std::vector<std::uint16_t> w(rows * columns), x(columns);
  std::vector<float> w_values(w.size()), x_values(columns);
  const auto fill = [](std::vector<std::uint16_t>& bits, std::vector<float>& numbers, unsigned seed) {
    const auto random = random_floats(bits.size(), seed, -1, 1);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      put_value(Type::f16, random[i], reinterpret_cast<std::byte*>(&bits[i]));
      numbers[i] = static_cast<float>(value_of(Type::f16, reinterpret_cast<const std::byte*>(&bits[i])));
    }
  };
  fill(w, w_values, 8);
  fill(x, x_values, 9);
  const Address at_w = run.buffer(w), at_x = run.buffer(x), at_y = run.unwritten<std::uint16_t>(rows);
  const Counters c =
      run(Dim3{rows / 8}, Dim3{256}, static_cast<int>(rows), static_cast<int>(columns), at_w, at_x, at_y).counters;
  EXPECT_EQ(c.ffma[f32], rows * columns);
  EXPECT_EQ(c.flops(), 2.0 * rows * columns + 160.0 * rows);
  EXPECT_EQ(c.global_load.sectors, 2 * (2 * rows * columns) / 32);  // weights, and x again for each row
  EXPECT_EQ(c.cache.dram_read_sectors, (2 * rows * columns + 2 * columns) / 32);
  EXPECT_EQ(c.cache.dram_write_sectors, 2 * rows / 32);
  const auto y = run.values<std::uint16_t>(at_y, rows);
  for (std::size_t row = 0; row < rows; ++row) {
    std::array<float, 32> sum{};
    for (std::size_t i = 0; i < columns; ++i) {
      float& of_lane = sum[i / 2 % 32];
      of_lane = std::fma(w_values[row * columns + i], x_values[i], of_lane);
    }
    for (std::size_t step = 16; step > 0; step /= 2) {
      const std::array<float, 32> before = sum;
      for (std::size_t lane = 0; lane < 32; ++lane) sum[lane] = before[lane] + before[lane ^ step];
    }
    std::uint16_t expected = 0;
    put_value(Type::f16, sum[0], reinterpret_cast<std::byte*>(&expected));
    ASSERT_EQ(y[row], expected) << row;
  }
}

/// Operands and the host's product, summed in the order of k.
struct Product {
  explicit Product(std::size_t size) : n(size), a(random_floats(size * size, 10)), b(random_floats(size * size, 11)) {}
  [[nodiscard]] float at(std::size_t row, std::size_t column) const {
    float sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum = std::fma(a[row * n + i], b[i * n + column], sum);
    return sum;
  }
  std::size_t n;
  std::vector<float> a, b;
};

TEST(PtxKernel, TiledProductHasItsClosedForm) {
  constexpr std::uint64_t n = 96, cube = n * n * n;
  const Product product(n);
  KernelRun run("matmul.ptx", "matmul_tiled");
  const Address a = run.buffer(product.a), b = run.buffer(product.b), c = run.unwritten<float>(n * n);
  const int size = n;
  const Counters counted = run(Dim3{n / 32, n / 32}, Dim3{32, 32}, size, size, size, a, b, c).counters;
  EXPECT_EQ(counted.flops(), 2.0 * cube);
  EXPECT_EQ(counted.global_load.sectors + counted.global_store.sectors, (2 * cube / 32) / 8 + n * n / 8);
  EXPECT_EQ(counted.shared_load.wavefronts + counted.shared_store.wavefronts, 2 * cube / 32 + 2 * cube / 1024);
  EXPECT_EQ(counted.shared_load.wavefronts, counted.shared_load.ideal_wavefronts);
  EXPECT_EQ(32 * counted.cache.dram_read_sectors, 4 * 2 * n * n);
  EXPECT_EQ(32 * counted.cache.dram_write_sectors, 4 * n * n);
  EXPECT_EQ(counted.barriers, n * n / 32 * (n / 32) * 2);
  const auto out = run.values<float>(c, n * n);
  for (std::size_t i = 0; i < n * n; i += 7) ASSERT_EQ(out[i], product.at(i / n, i % n)) << i;
}

TEST(PtxKernel, NaiveProductAsksForEachOperandAgain) {
  constexpr std::uint64_t n = 64, cube = n * n * n;
  const Product product(n);
  KernelRun run("matmul.ptx", "matmul_naive");
  const Address a = run.buffer(product.a), b = run.buffer(product.b), c = run.unwritten<float>(n * n);
  const int size = n;
  const Counters counted = run(Dim3{n / 32, n / 32}, Dim3{32, 32}, size, size, size, a, b, c).counters;
  EXPECT_EQ(counted.flops(), 2.0 * cube);
  EXPECT_EQ(counted.global_load.sectors, cube / 32 * (1 + 4));  // a value of A for all lanes, 32 of B side by side
  EXPECT_EQ(32 * counted.cache.dram_read_sectors, 4 * 2 * n * n);
  const auto out = run.values<float>(c, n * n);
  for (std::size_t i = 0; i < n * n; i += 5) ASSERT_EQ(out[i], product.at(i / n, i % n)) << i;
}

TEST(PtxKernel, StrideDecidesTheSectors) {
  constexpr std::uint64_t threads = 64;
  const auto x = random_floats(threads * 40, 12);
  for (const int stride : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33}) {
    KernelRun run("stride.ptx", "strided_load");
    const Address at_x = run.buffer(x), at_y = run.unwritten<float>(threads);
    const Counters c = run(Dim3{1}, Dim3{threads}, stride, at_x, at_y).counters;
    EXPECT_EQ(c.global_load.sectors, c.global_load.requests * std::min(4 * stride, 32)) << stride;
    const auto y = run.values<float>(at_y, threads);
    for (std::size_t i = 0; i < threads; ++i) ASSERT_EQ(y[i], x[i * static_cast<std::size_t>(stride)]);
  }
}

TEST(PtxKernel, GatherTouchesTheDistinctSectorsOfEachWarp) {
  constexpr std::size_t n = 2048, table_size = 1 << 16;
  KernelRun run("gather.ptx", "gather");
  const auto random = random_floats(n, 13);
  const auto table = random_floats(table_size, 14);
  std::vector<int> index(n);
  for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<int>(random[i] * (i % 2 == 0 ? table_size : 256));
  const Address at_index = run.buffer(index), at_table = run.buffer(table), at_y = run.unwritten<float>(n);
  const Counters c = run(Dim3{n / 256}, Dim3{256}, static_cast<int>(n), at_index, at_table, at_y).counters;
  std::uint64_t expected = n / 8;  // the indices themselves
  for (std::size_t first = 0; first < n; first += 32) {
    std::set<int> cells;
    for (std::size_t i = first; i < first + 32; ++i) cells.insert(index[i] / 8);
    expected += cells.size();
  }
  EXPECT_EQ(c.global_load.sectors, expected);
  const auto y = run.values<float>(at_y, n);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], table[static_cast<std::size_t>(index[i])]);
}

TEST(PtxKernel, HistogramAtomicsTakeTheLargestMultiplicity) {
  constexpr std::size_t n = 1024;
  KernelRun run("histogram.ptx", "histogram");
  const auto random = random_floats(n, 15);
  std::vector<std::uint8_t> kinds(n);
  std::vector<std::uint32_t> expected(256);
  std::uint64_t wavefronts = 0;
  for (std::size_t i = 0; i < n; ++i) {
    kinds[i] = static_cast<std::uint8_t>(random[i] * (i < n / 2 ? 256 : 20));
    ++expected[kinds[i]];
  }
  for (std::size_t first = 0; first < n; first += 32) {
    std::map<int, std::uint64_t> lanes_of_bank;
    for (std::size_t i = first; i < first + 32; ++i) ++lanes_of_bank[kinds[i] % 32];
    std::uint64_t most = 0;
    for (const auto& [bank, lanes] : lanes_of_bank) most = std::max(most, lanes);
    wavefronts += most;
  }
  const Address at_kinds = run.buffer(kinds), at_counts = run.buffer(std::vector<std::uint32_t>(256));
  const Counters c = run(Dim3{n / 256}, Dim3{256}, static_cast<int>(n), at_kinds, at_counts).counters;
  EXPECT_EQ(c.shared_atomic.requests, n / 32);
  EXPECT_EQ(c.shared_atomic.wavefronts, wavefronts);
  EXPECT_EQ(c.global_atomic.requests, n / 256 * 256 / 32);
  EXPECT_EQ(run.values<std::uint32_t>(at_counts, 256), expected);
}

TEST(PtxKernel, TransposeConflictsWithoutPadding) {
  constexpr std::uint64_t n = 64;
  const auto x = random_floats(n * n, 16);
  for (const bool padded : {false, true}) {
    KernelRun run("transpose.ptx", padded ? "transpose_padded" : "transpose");
    const Address at_x = run.buffer(x), at_y = run.unwritten<float>(n * n);
    const int size = n;
    const Counters c = run(Dim3{n / 32, n / 32}, Dim3{32, 32}, size, at_x, at_y).counters;
    EXPECT_EQ(c.shared_store.wavefronts, n * n / 32);
    EXPECT_EQ(c.shared_load.requests, n * n / 32);
    EXPECT_EQ(c.shared_load.wavefronts, n * n / 32 * (padded ? 1 : 32));
    EXPECT_EQ(c.shared_load.ideal_wavefronts, n * n / 32);
    EXPECT_EQ(c.global_load.sectors, n * n / 8);
    EXPECT_EQ(c.global_store.sectors, n * n / 8);
    const auto y = run.values<float>(at_y, n * n);
    for (std::size_t i = 0; i < n * n; ++i) ASSERT_EQ(y[i], x[i % n * n + i / n]);
  }
}

TEST(PtxKernel, FusionMovesAThirdOfTheBytes) {
  constexpr std::uint64_t n = 4096;
  const int size = n;
  const auto x = random_floats(n, 17, -2, 2);
  const Dim3 grid{n / 256}, block{256};
  std::uint64_t apart = 0;
  std::vector<float> values = x;
  const auto pass = [&](const char* kernel, float number) {
    KernelRun run("fusion.ptx", kernel);
    const Address from = run.buffer(values), to = run.unwritten<float>(n);
    const Counters c = run(grid, block, size, number, from, to).counters;
    EXPECT_EQ(c.global_load.sectors + c.global_store.sectors, 2 * n / 8);
    apart += c.global_load.sectors + c.global_store.sectors;
    values = run.values<float>(to, n);
  };
  pass("pass_scale", 1.3F);
  pass("pass_shift", -0.2F);
  pass("pass_clamp", 0.0F);
  KernelRun run("fusion.ptx", "fused");
  const Address from = run.buffer(x), to = run.unwritten<float>(n);
  const Counters c = run(grid, block, size, 1.3F, -0.2F, 0.0F, from, to).counters;
  EXPECT_EQ(3 * (c.global_load.sectors + c.global_store.sectors), apart);
  EXPECT_EQ(run.values<float>(to, n), values);
}

}  // namespace
}  // namespace corridor::app
