// SPDX-License-Identifier: Apache-2.0
// Experiments on the simulated GPU about lanes: warps, branches, sectors, waits, residency.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/app/ptx_lab_bench.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using measure::LabUnit;
using ptx::Dim3;

double number(std::uint64_t x) {
  return static_cast<double>(x);
}

}  // namespace

Result<int> lab_warps(PtxLabBench& bench) {
  constexpr std::uint32_t lanes = 32;
  for (const std::uint32_t threads : {32U, 33U, 250U, 256U, 1000U}) {
    const std::string size = std::to_string(threads);
    const auto a = bench.run("lanes.ptx", "lanes", Dim3{1}, Dim3{threads},
                             {"buf:u32:" + size + ":none", "buf:u32:" + size + ":none"});
    if (!a) return tl::unexpected(a.error());
    const ptx::Counters& c = a->run.counters;
    bench.expect(fmt::format("{} threads: warps", threads), std::ceil(threads / 32.0), number(c.warps));
    const std::uint32_t last = threads % lanes == 0 ? lanes : threads % lanes;
    std::uint32_t fewest = lanes;
    for (std::uint32_t n = lanes; n > 0; --n) {
      if (c.active_lanes[n] > 0) fewest = n;
    }
    bench.expect(fmt::format("{} threads: live lanes of the last warp", threads), last, fewest);
  }
  bench.result.formulas = {"warps = threads ÷ 32, rounded up; live lanes of the last = the rest: 250 = 7 × 32 + 26"};
  bench.result.tolerance = "none: these are counts";
  return 0;
}

Result<int> lab_divergence(PtxLabBench& bench) {
  const auto instructions = [&](const char* kernel, int k) -> Result<double> {
    const auto a =
        bench.run("divergence.ptx", kernel, Dim3{1}, Dim3{1024}, {std::to_string(k), "256", "buf:f32:1024:ramp"});
    if (!a) return tl::unexpected(a.error());
    return number(a->run.counters.warp_instructions);
  };
  constexpr double search = 0.05;
  for (const char* kernel : {"diverge_lanes", "diverge_warps"}) {
    const bool inside = std::string_view(kernel) == "diverge_lanes";
    const Result<double> one = instructions(kernel, 1);
    if (!one) return tl::unexpected(one.error());
    for (const int k : {2, 4, 32}) {
      const Result<double> many = instructions(kernel, k);
      if (!many) return tl::unexpected(many.error());
      // A loop over the paths finds the own one: 6 instructions a path against 1024 of the body.
      const double off = inside ? search : search + 6.0 * k / 1024;
      bench.expect_at(inside ? "inside a warp" : "", k,
                      fmt::format("{} branches {}: instructions issued ÷ one branch", k,
                                  inside ? "inside each warp" : "between warps"),
                      inside ? k : 1, *many / *one, off);
    }
  }
  bench.result.x_label = "branches inside a warp";
  bench.result.y_label = "instructions issued ÷ one branch";
  bench.result.formulas = {"issued = sum of the branches that any lane takes; lanes that take another one wait"};
  bench.result.tolerance = "5 %, and what the loop over the branches itself issues (6 of 1024 instructions each)";
  return 0;
}

Result<int> lab_coalescing(PtxLabBench& bench) {
  constexpr double sector_words = 8, warp = 32;
  for (const int stride : {1, 2, 4, 8, 16, 32}) {
    const auto a =
        bench.run("stride.ptx", "strided_load", Dim3{16}, Dim3{256},
                  {std::to_string(stride), fmt::format("buf:f32:{}:ramp", 4096 * stride), "buf:f32:4096:none"});
    if (!a) return tl::unexpected(a.error());
    const auto& loads = a->run.counters.global_load;
    bench.expect_at("stride", stride, fmt::format("stride {}: sectors a request", stride), std::min(4.0 * stride, warp),
                    number(loads.sectors) / number(loads.requests));
  }
  constexpr double table = 1 << 20;
  const auto a = bench.run(
      "gather.ptx", "gather", Dim3{16}, Dim3{256},
      {"4096", fmt::format("buf:i32:4096:rand={}", table), fmt::format("buf:f32:{}:zero", table), "buf:f32:4096:none"});
  if (!a) return tl::unexpected(a.error());
  const auto& loads = a->run.counters.global_load;
  const double requests = number(loads.requests) / 2;  // the other half reads the indices, 4 sectors each
  const double cells = table / sector_words;
  const double expected = cells * (1 - std::pow(1 - 1 / cells, warp));
  constexpr double chance = 0.01;
  bench.expect("scattered: sectors a request", expected, number(loads.sectors) / requests - 4, chance);
  bench.result.x_label = "values from lane to lane";
  bench.result.y_label = "sectors a request";
  bench.result.formulas = {"stride s: min(4 s, 32) sectors of 32 B for 32 values of 4 B",
                           "scattered over c sectors: c (1 − (1 − 1/c)^32)"};
  bench.result.tolerance = "none for strides; 1 % for chance where places are random";
  return 0;
}

Result<int> lab_chase(PtxLabBench& bench) {
  const ptx::Machine& m = bench.machine.machine;
  struct Rung {
    const char* name;
    std::uint64_t places;
    int steps;
    double clocks;
  };
  // Small tables are gone through often enough that their first misses do not count; the large one is read once.
  const Rung rungs[] = {{"L1", 2048, 200'000, m.l1_latency_clocks},
                        {"L2", 262'144, 1'500'000, m.l2_latency_clocks},
                        {"DRAM", 4'194'304, 20'000, m.dram_latency_clocks}};
  constexpr double off = 0.25;
  for (const Rung& r : rungs) {
    const auto a = bench.run("chase.ptx", "chase", Dim3{1}, Dim3{1},
                             {std::to_string(r.steps), fmt::format("buf:u32:{}:cycle", r.places), "buf:u32:1:none"});
    if (!a) return tl::unexpected(a.error());
    const double bytes = 4.0 * number(r.places);
    bench.expect_at("wait", bytes, fmt::format("{}: a table of {}", r.name, units::print(units::Bytes{bytes})),
                    r.clocks, (a->placement.low_s - a->placement.launch_s) / r.steps * m.clock_hz, off,
                    LabUnit::cycles);
  }
  bench.result.x_label = "bytes of the table";
  bench.result.y_label = "clocks a step";
  bench.result.formulas = {
      fmt::format("clocks a step = latency of the level that has the value: L1 {:.0f}, L2 {:.0f}, DRAM {:.0f}",
                  m.l1_latency_clocks, m.l2_latency_clocks, m.dram_latency_clocks)};
  bench.result.tolerance = "25 %: first misses, and the start of the kernel";
  return 0;
}

Result<int> lab_occupancy(PtxLabBench& bench) {
  const ptx::Machine& m = bench.machine.machine;
  constexpr double warp_bytes = 128, half = 0.5;
  const double per_warp = warp_bytes * m.sm_count / (m.dram_latency_clocks / m.clock_hz);
  const std::uint32_t blocks_wanted[] = {1, 2, 4, 8};
  for (const std::uint32_t blocks : blocks_wanted) {
    const std::uint64_t share = m.shared_bytes_per_sm / blocks / 1024 * 1024;
    const std::uint64_t shared =
        std::min<std::uint64_t>(share - 1024 - m.shared_reserved_per_block, m.shared_bytes_per_block);
    const auto a = bench.run("occupancy.ptx", "held_back", Dim3{8192}, Dim3{256},
                             {"2097152", "2.0", "buf:f32:2097152:ramp", "buf:f32:2097152:none"}, shared);
    if (!a) return tl::unexpected(a.error());
    const double warps = a->occupancy.warps;
    const double predicted = std::min(m.dram_bytes_per_s, 2 * warps * per_warp);  // a read waits while a write leaves
    bench.expect_at("bandwidth", warps, fmt::format("{} warps an SM", warps), predicted,
                    dram_bytes(*a) / (a->placement.low_s - a->placement.launch_s), half, LabUnit::bytes_per_second);
  }
  bench.result.x_label = "resident warps an SM";
  bench.result.y_label = "B/s";
  bench.result.formulas = {
      fmt::format("bandwidth = warps × 128 B × {} SMs ÷ {} (one read each under way), twice that "
                  "with the write behind it, at most {}",
                  m.sm_count, units::print(units::Seconds{m.dram_latency_clocks / m.clock_hz}),
                  units::print(units::BytesPerSecond{m.dram_bytes_per_s}))};
  bench.result.tolerance = "half: a warp also starts, computes and leaves, which the formula leaves out";
  return 0;
}

}  // namespace corridor::app
