// SPDX-License-Identifier: Apache-2.0
// Roofs by hand, and the range of time against kernels measured on an H200 and an H100 PCIe.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "corridor/ptx/timing/placement.h"

namespace corridor::ptx {
namespace {

constexpr std::size_t at(Pipe pipe) {
  return static_cast<std::size_t>(pipe);
}
constexpr std::size_t at(Type type) {
  return static_cast<std::size_t>(type);
}

/// An H200 as its datasheet, gpu-benches and AI_kernels give it.
Machine h200() {
  Machine m;
  m.name = "H200";
  m.sm_count = 132;
  m.clock_hz = 1.98e9;
  m.lanes_per_clock[at(Pipe::fma)] = 128;
  m.lanes_per_clock[at(Pipe::alu)] = 64;
  m.lanes_per_clock[at(Pipe::fp64)] = 64;
  m.lanes_per_clock[at(Pipe::xu)] = 16;
  m.lanes_per_clock[at(Pipe::lsu)] = 32;
  m.tensor_f16_flop_per_clock_sm = 4096;
  m.l1_bytes_per_clock_sm = 126;
  m.l2_bytes_per_s = 9.7e12;
  m.dram_bytes_per_s = 4.255e12;
  m.l1_latency_clocks = 40;
  m.shared_latency_clocks = 29;
  m.l2_latency_clocks = 281;
  m.dram_latency_clocks = 690;
  m.launch_s = 1.9e-6;
  m.block_start_clocks = 450;
  m.blocks_per_clock = 0.84;
  return m;
}

Machine h100_pcie() {
  Machine m = h200();
  m.name = "H100 PCIe";
  m.sm_count = 114;
  m.clock_hz = 1.755e9;
  m.l2_bytes_per_s = 7e12;
  m.dram_bytes_per_s = 1.942e12;
  m.l1_latency_clocks = 34;
  m.l2_latency_clocks = 265;
  m.dram_latency_clocks = 655;
  return m;
}

/// a[i] = b[i] × 1.2 and its like on doubles: one element a thread, `loads` arrays read, `stores` written.
struct Stream {
  std::uint64_t elements = 0;
  std::uint32_t threads = 0, loads = 1, stores = 1;
  bool in_l2 = false;

  [[nodiscard]] Counters counters() const {
    Counters c;
    c.blocks = elements / threads + 1;
    c.warps = c.blocks * std::max(1U, threads / 32);
    c.warp_instructions = c.warps * (10 + 3 * (loads + stores));  // index, bounds, addresses, exit
    c.issue_slots = static_cast<double>(c.warp_instructions);
    const auto moved = [&](std::uint32_t arrays, AccessCounters& access) {
      access.requests = arrays * c.warps;
      access.bytes = 8 * arrays * elements;
      access.sectors = access.bytes / sector_bytes;
      access.wavefronts = access.ideal_wavefronts = 2 * access.requests;
    };
    moved(loads, c.global_load);
    moved(stores, c.global_store);
    c.by_pipe[at(Pipe::lsu)] = c.global_load.requests + c.global_store.requests;
    c.ffma[at(Type::f64)] = elements;
    c.cache.l1_sectors = c.cache.l2_read_sectors = c.global_load.sectors;
    c.cache.l2_write_sectors = c.global_store.sectors;
    if (in_l2) {
      c.cache.l2_read_hits = c.cache.l2_read_sectors;
    } else {
      c.cache.dram_read_sectors = c.global_load.sectors;
      c.cache.dram_write_sectors = c.global_store.sectors;
    }
    return c;
  }
};

Occupancy resident(std::uint32_t blocks, std::uint32_t threads) {
  Occupancy out;
  out.blocks = blocks;
  out.warps = blocks * std::max(1U, threads / 32);
  out.share = out.warps / 64.0;
  return out;
}

struct Measured {
  std::uint32_t threads;
  double gb_per_s;
};

/// How far the geometric middle of the range is from what was measured, as a share of it.
double error_of_middle(const Placement& placed, double measured_s) {
  return std::sqrt(placed.low_s * placed.high_s) / measured_s - 1;
}

/// Bandwidth of gpu-stream (two blocks an SM, 1 GiB arrays of doubles) has to lie in the range, a little widened.
/// Returns the error of the middle.
double expect_in_range(const Machine& machine, const Stream& kernel, double gb_per_s, double tolerance) {
  const Placement placed =
      place(kernel.counters(), {kernel.threads, 16, 0}, resident(2, kernel.threads), machine, kernel.loads);
  const double bytes = 8.0 * (kernel.loads + kernel.stores) * static_cast<double>(kernel.elements);
  const double measured = bytes / (gb_per_s * 1e9);
  EXPECT_GE(measured, placed.low_s * (1 - tolerance)) << kernel.threads << " threads, bound: " << placed.bound;
  EXPECT_LE(measured, placed.high_s * (1 + tolerance)) << kernel.threads << " threads, bound: " << placed.bound;
  return std::abs(error_of_middle(placed, measured));
}

constexpr std::uint64_t stream_elements = 128ULL * 1024 * 1024 + 2;

TEST(Placement, OccupancyAgainstBandwidthH200) {
  // te42kyfo/gpu-benches gpu-stream/h200.txt @fd7091f; columns read, scale and triad.
  constexpr Measured read[] = {{32, 123}, {128, 485}, {256, 935}, {512, 1707}, {768, 2297}, {1024, 2756}};
  constexpr Measured scale[] = {{32, 240}, {128, 852}, {256, 1395}, {512, 2263}, {896, 3042}, {1024, 3165}};
  constexpr Measured triad[] = {{32, 334}, {128, 1129}, {256, 1905}, {512, 2919}, {768, 3333}, {1024, 3534}};
  constexpr double tolerance = 0.06;
  double sum = 0;
  for (std::size_t i = 0; i < std::size(scale); ++i) {
    sum += expect_in_range(h200(), {stream_elements, read[i].threads, 1, 0}, read[i].gb_per_s, tolerance);
    sum += expect_in_range(h200(), {stream_elements, scale[i].threads, 1, 1}, scale[i].gb_per_s, tolerance);
    sum += expect_in_range(h200(), {stream_elements, triad[i].threads, 2, 1}, triad[i].gb_per_s, tolerance);
  }
  EXPECT_LT(sum / (3 * std::size(scale)), 0.15);
}

TEST(Placement, OccupancyAgainstBandwidthH100Pcie) {
  // te42kyfo/gpu-benches gpu-stream/h100_pcie.txt @1c36d50, column scale.
  constexpr Measured scale[] = {{32, 183}, {256, 1037}, {512, 1583}, {1024, 1704}};
  for (const Measured& one : scale) {
    expect_in_range(h100_pcie(), {stream_elements, one.threads, 1, 1}, one.gb_per_s, 0.06);
  }
}

TEST(Placement, SmallKernelsH200) {
  // te42kyfo/gpu-benches gpu-small-kernels/h200_graph.txt @11f5daa: scale in a CUDA graph, blocks of 256 threads; what
  // fits twice into L2 stays there from launch to launch.
  struct Small {
    std::uint64_t elements;
    double gb_per_s;
  };
  constexpr Small kernels[] = {{4096, 29},      {16350, 113},    {65320, 438},     {261002, 1474},
                               {1042953, 3304}, {2084864, 4285}, {33291376, 3343}, {265933520, 3405}};
  for (const Small& one : kernels) {
    const Stream kernel{one.elements, 256, 1, 1, one.elements < 2'500'000};
    const Placement placed = place(kernel.counters(), {256, 16, 0}, resident(8, 256), h200(), 1);
    const double measured = 16.0 * static_cast<double>(one.elements) / (one.gb_per_s * 1e9);
    EXPECT_GE(measured, 0.85 * placed.low_s) << one.elements << " " << placed.bound;
    EXPECT_LE(measured, 1.15 * placed.high_s) << one.elements << " " << placed.bound;
    EXPECT_LT(std::abs(error_of_middle(placed, measured)), 0.35) << one.elements;
  }
}

TEST(Placement, BlocksThatAreTooSmallStartTooSlowly) {
  // The same file, 265,933,520 elements: 426 GB/s with blocks of 16 threads and 852 with 32, whatever the bandwidth.
  for (const auto& [threads, gb_per_s] : {std::pair{16U, 426.0}, std::pair{32U, 852.0}}) {
    const Stream kernel{265933520, threads, 1, 1};
    const Placement placed = place(kernel.counters(), {threads, 16, 0}, resident(32, threads), h200(), 1);
    EXPECT_EQ(placed.bound, "block launch");
    EXPECT_NEAR(16.0 * 265933520 / placed.low_s / 1e9, gb_per_s, 0.05 * gb_per_s);
  }
}

/// 132 blocks of 1,024 threads that do nothing but `ffma` fused multiply-adds a thread.
Counters arithmetic(std::uint64_t blocks, std::uint64_t ffma) {
  Counters c;
  c.blocks = blocks;
  c.warps = 32 * blocks;
  c.warp_instructions = c.warps * ffma;
  c.issue_slots = static_cast<double>(c.warp_instructions);
  c.by_pipe[at(Pipe::fma)] = c.warp_instructions;
  c.ffma[at(Type::f32)] = 32 * c.warp_instructions;
  return c;
}

TEST(Placement, ArithmeticByHand) {
  const Placement placed = place(arithmetic(132 * 8, 10000), {1024, 32, 0}, resident(2, 1024), h200());
  // 8 blocks an SM × 32 warps × 10,000 instructions ÷ 4 a clock.
  EXPECT_NEAR(placed.roofs.front().time_s, 8 * 32 * 10000 / 4.0 / 1.98e9, 1e-12);
  EXPECT_THAT(placed.bound, testing::AnyOf("issue slots", "FP32 pipe"));
  EXPECT_EQ(placed.waves, 4U);
  EXPECT_EQ(placed.last_wave_share, 1);
  EXPECT_NEAR(placed.flop_per_s, 132 * 128 * 2 * 1.98e9 * placed.fraction_of_roof, 1e9);
  EXPECT_GT(placed.fraction_of_roof, 0.98);
}

TEST(Placement, OneBlockMoreTakesAnotherRound) {
  const Placement full = place(arithmetic(132, 10000), {1024, 32, 0}, resident(1, 1024), h200());
  const Placement more = place(arithmetic(133, 10000), {1024, 32, 0}, resident(1, 1024), h200());
  EXPECT_NEAR((more.low_s - more.launch_s) / (full.low_s - full.launch_s), 2, 0.01);
  EXPECT_EQ(more.waves, 2U);
  EXPECT_NEAR(more.last_wave_share, 1 / 132.0, 1e-12);
}

TEST(Placement, FewWarpsAreBoundByLatency) {
  // One warp on each SM, every load from DRAM and alone: no roof but waiting.
  Counters c;
  c.blocks = c.warps = 132;
  c.warp_instructions = 132 * 200;
  c.issue_slots = 132 * 200;
  c.global_load.requests = 132 * 100;
  c.global_load.sectors = c.cache.l1_sectors = c.cache.l2_read_sectors = c.cache.dram_read_sectors = 132 * 400;
  const Placement placed = place(c, {32, 16, 0}, resident(1, 32), h200(), 1);
  EXPECT_EQ(placed.bound, "latency");
  EXPECT_NEAR(placed.low_s - placed.launch_s, (450 + 200 + 100 * 690) / 1.98e9, 1e-12);
  // Four loads under way at a time: a quarter of the waiting.
  const Placement ahead = place(c, {32, 16, 0}, resident(1, 32), h200(), 4);
  EXPECT_NEAR(ahead.low_s - ahead.launch_s, (450 + 200 + 25 * 690) / 1.98e9, 1e-12);
}

TEST(Placement, TinyKernelIsBoundByItsLaunch) {
  const Placement placed = place(arithmetic(1, 1), {1024, 32, 0}, resident(2, 1024), h200());
  EXPECT_EQ(placed.bound, "launch");
  EXPECT_LT(placed.fraction_of_roof, 0.5);
  const Placement nothing = place({}, {}, {}, {});
  EXPECT_EQ(nothing.bound, "launch");
  EXPECT_TRUE(std::isfinite(nothing.high_s));
}

TEST(Placement, TensorPipeByType) {
  Counters c = arithmetic(1320, 1);
  c.tensor_flops[at(Type::bf16)] = 1e12;
  const double bf16 = place(c, {}, resident(2, 1024), h200()).roofs.front().time_s;
  EXPECT_NEAR(bf16, 1e12 / (132 * 4096 * 1.98e9), 1e-9);
  std::swap(c.tensor_flops[at(Type::bf16)], c.tensor_flops[at(Type::tf32)]);
  EXPECT_NEAR(place(c, {}, resident(2, 1024), h200()).roofs.front().time_s, 2 * bf16, 1e-9);
}

RC_GTEST_PROP(Placement, MoreWorkOrLessMachineIsNeverFaster, ()) {
  const Stream kernel{*rc::gen::inRange<std::uint64_t>(1, 100'000'000), 32 * *rc::gen::inRange(1U, 33U),
                      *rc::gen::inRange(0U, 5U), 1};
  const Occupancy occupancy = resident(*rc::gen::inRange(1U, 3U), kernel.threads);
  const Placement base = place(kernel.counters(), {}, occupancy, h200());
  RC_ASSERT(base.low_s > 0 && base.low_s <= base.high_s);
  RC_ASSERT(base.launch_s <= base.low_s);
  RC_ASSERT(base.fraction_of_roof >= 0 && base.fraction_of_roof <= 1);
  for (std::size_t i = 1; i < base.roofs.size(); ++i) RC_ASSERT(base.roofs[i].time_s <= base.roofs[i - 1].time_s);
  Stream longer = kernel;
  longer.elements *= 2;
  RC_ASSERT(place(longer.counters(), {}, occupancy, h200()).low_s >= base.low_s);
  Machine slower = h200();
  slower.dram_bytes_per_s /= 2;
  slower.dram_latency_clocks *= 1.5;
  const Placement on_slower = place(kernel.counters(), {}, occupancy, slower);
  RC_ASSERT(on_slower.low_s >= base.low_s && on_slower.high_s >= base.high_s);
  Occupancy fuller = occupancy;
  fuller.blocks *= 2;
  RC_ASSERT(place(kernel.counters(), {}, fuller, h200()).low_s <= base.low_s);
}

}  // namespace
}  // namespace corridor::ptx
