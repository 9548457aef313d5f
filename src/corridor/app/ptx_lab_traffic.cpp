// SPDX-License-Identifier: Apache-2.0
// Experiments on the simulated GPU about traffic: fusion, tiles, attention, and the start of a kernel.
#include <fmt/format.h>

#include "corridor/app/ptx_lab_bench.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using measure::LabUnit;
using ptx::Dim3;

constexpr double rounding = 0.02;

}  // namespace

Result<int> lab_fusion(PtxLabBench& bench) {
  constexpr std::uint32_t n = 1U << 18U;
  const std::string size = std::to_string(n), buffers[] = {"buf:f32:" + size + ":rand=4", "buf:f32:" + size + ":none"};
  const Dim3 grid{n / 256}, block{256};
  double apart = 0;
  for (const char* pass : {"pass_scale", "pass_shift", "pass_clamp"}) {
    const auto a = bench.run("fusion.ptx", pass, grid, block, {size, "2.0", buffers[0], buffers[1]});
    if (!a) return tl::unexpected(a.error());
    apart += dram_bytes(*a);
  }
  const auto a = bench.run("fusion.ptx", "fused", grid, block, {size, "2.0", "-3.0", "0.0", buffers[0], buffers[1]});
  if (!a) return tl::unexpected(a.error());
  bench.expect("bytes of one pass ÷ (8 B a value)", 1, dram_bytes(*a) / (8.0 * n), rounding);
  bench.expect("bytes of three passes ÷ one", 3, apart / dram_bytes(*a), rounding);
  bench.result.formulas = {fmt::format("3 × (4 + 4) B × {} against (4 + 4) B × {}", n, n)};
  bench.result.tolerance = "2 %: sectors at the ends";
  return 0;
}

Result<int> lab_tiling(PtxLabBench& bench) {
  constexpr double n = 128;
  const std::string operand = "buf:f32:16384:rand", result = "buf:f32:16384:none";
  const std::vector<std::string> arguments{"128", "128", "128", operand, operand, result};
  const auto naive = bench.run("matmul.ptx", "matmul_naive", Dim3{4, 4}, Dim3{32, 32}, arguments);
  if (!naive) return tl::unexpected(naive.error());
  const auto tiled = bench.run("matmul.ptx", "matmul_tiled", Dim3{4, 4}, Dim3{32, 32}, arguments);
  if (!tiled) return tl::unexpected(tiled.error());
  const double stores = n * n / 8;
  bench.expect("naive: sectors of L1 ÷ product", 5.0 / 32, (global_sectors(*naive) - stores) / (n * n * n));
  bench.expect("tiles of 32: sectors of L1 ÷ product", 2.0 / 256, (global_sectors(*tiled) - stores) / (n * n * n));
  bench.expect("tiles: bytes of DRAM ÷ (4 B × 3 n²)", 1, dram_bytes(*tiled) / (12 * n * n), rounding);
  bench.expect("FLOPs of both ÷ 2 n³", 2,
               (naive->run.counters.flops() + tiled->run.counters.flops()) / (2 * n * n * n));
  bench.result.formulas = {"naive: a warp reads 1 sector of A and 4 of B for 32 multiply-adds",
                           "tiles of 32: each value read from memory is used 32 times: 2 n³ ÷ 32 values, 8 a sector"};
  bench.result.tolerance = "none: these are counts; 2 % for DRAM";
  return 0;
}

Result<int> lab_attention(PtxLabBench& bench) {
  constexpr double tokens = 256, width = 64;
  const std::string in = "buf:f32:16384:rand", out = "buf:f32:16384:none", scores = "buf:f32:65536:rand";
  const auto first =
      bench.run("attention.ptx", "attention_scores", Dim3{4, 256}, Dim3{64}, {"256", in, in, "buf:f32:65536:none"});
  if (!first) return tl::unexpected(first.error());
  const auto second = bench.run("attention.ptx", "attention_softmax", Dim3{256}, Dim3{32}, {"256", scores});
  if (!second) return tl::unexpected(second.error());
  const auto third = bench.run("attention.ptx", "attention_values", Dim3{256}, Dim3{64}, {"256", scores, in, out});
  if (!third) return tl::unexpected(third.error());
  const auto flash = bench.run("attention.ptx", "attention_flash", Dim3{4}, Dim3{64}, {"256", in, in, in, out});
  if (!flash) return tl::unexpected(flash.error());
  const double naive = dram_bytes(*first) + dram_bytes(*second) + dram_bytes(*third);
  const double operands = 4 * 4 * tokens * width, square = 4 * tokens * tokens;
  bench.expect("flash: bytes of DRAM ÷ q, k, v and the result", 1, dram_bytes(*flash) / operands, rounding);
  bench.expect("naive: bytes of DRAM ÷ flash", (operands + 4 * square) / operands, naive / dram_bytes(*flash),
               rounding);
  bench.result.formulas = {fmt::format("naive: {} of operands and 4 trips of the {} score matrix; flash: the operands",
                                       units::print(units::Bytes{operands}), units::print(units::Bytes{square}))};
  bench.result.tolerance = "2 %: sectors at the ends. Each kernel begins with cold caches";
  return 0;
}

Result<int> lab_dispatch(PtxLabBench& bench) {
  const double start = bench.machine.machine.launch_s;
  const auto nothing = bench.run("lanes.ptx", "nothing", Dim3{1}, Dim3{32}, {});
  if (!nothing) return tl::unexpected(nothing.error());
  constexpr double start_off = 0.1, small_off = 0.5;
  const auto small =
      bench.run("saxpy.ptx", "saxpy", Dim3{4}, Dim3{256}, {"1024", "2.0", "buf:f32:1024:ramp", "buf:f32:1024:ramp"});
  if (!small) return tl::unexpected(small.error());
  const ptx::Machine& m = bench.machine.machine;
  bench.expect("an empty kernel ÷ saxpy of 1024 values", start / (start + m.dram_latency_clocks / m.clock_hz),
               nothing->placement.low_s / small->placement.low_s, start_off);
  for (const std::uint32_t n : {1024U, 16384U, 262144U, 4194304U}) {
    const std::string size = std::to_string(n);
    const auto a = bench.run("saxpy.ptx", "saxpy", Dim3{n / 256}, Dim3{256},
                             {size, "2.0", "buf:f32:" + size + ":ramp", "buf:f32:" + size + ":ramp"});
    if (!a) return tl::unexpected(a.error());
    bench.expect_at("saxpy", n, fmt::format("saxpy of {} values", n),
                    start + 12.0 * n / bench.machine.machine.dram_bytes_per_s, a->placement.low_s, small_off,
                    LabUnit::seconds);
  }
  bench.result.x_label = "values";
  bench.result.y_label = "s";
  bench.result.formulas = {fmt::format("time = start {} + 12 B × values ÷ {}", units::print(units::Seconds{start}),
                                       units::print(units::BytesPerSecond{bench.machine.machine.dram_bytes_per_s})),
                           "an empty kernel ÷ a small one = start ÷ (start + one wait for DRAM)"};
  bench.result.tolerance =
      "half for saxpy: what does not overlap is a model; 10 % for the empty kernel, whose warp starts too";
  return 0;
}

}  // namespace corridor::app
