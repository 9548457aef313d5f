// SPDX-License-Identifier: Apache-2.0
// Kernels of data/ptx about lanes, branches, waits and formats, and those that are wrong on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "corridor/app/ptx_case.h"
#include "corridor/app/ptx_case_arguments.h"
#include "corridor/app/ptx_case_manifest.h"
#include "corridor/app/ptx_kernel_run_test.h"

namespace corridor::app {
namespace {

using ptx::Counters;
using ptx::Dim3;
using ptx::Fault;
using ptx::Type;
using testing::HasSubstr;

TEST(PtxKernel, TheLastWarpOf250ThreadsHas26Lanes) {
  KernelRun run("lanes.ptx", "lanes");
  const Address at_lane = run.unwritten<std::uint32_t>(250), at_live = run.unwritten<std::uint32_t>(250);
  const Counters c = run(Dim3{1}, Dim3{250}, at_lane, at_live).counters;
  EXPECT_EQ(c.warps, 8);
  EXPECT_EQ(c.active_lanes[32], 7 * c.active_lanes[26]);
  EXPECT_EQ(c.active_lanes[26] + c.active_lanes[32], c.warp_instructions);
  const auto lane = run.values<std::uint32_t>(at_lane, 250), live = run.values<std::uint32_t>(at_live, 250);
  for (std::uint32_t i = 0; i < 250; ++i) {
    ASSERT_EQ(lane[i], i % 32);
    ASSERT_EQ(live[i], i < 224 ? 32 : 26);
  }
}

TEST(PtxKernel, BranchesInsideAWarpShareItsTime) {
  constexpr std::uint64_t threads = 1024;
  constexpr int steps = 20;
  for (const std::uint32_t k : {1U, 2U, 4U, 32U}) {
    for (const bool inside : {true, false}) {
      KernelRun run("divergence.ptx", inside ? "diverge_lanes" : "diverge_warps");
      const Address v = run.buffer(std::vector<float>(threads, 1.0F));
      const auto result = run(Dim3{threads / 256}, Dim3{256}, k, steps, v);
      const ptx::LineCounters body = run.lines_with(result, "fma.rn.f32");
      const std::uint64_t paths = inside ? k : 1;
      EXPECT_EQ(body.thread_instructions_on, steps * threads);
      EXPECT_EQ(body.warp_instructions, paths * steps * threads / 32) << k << inside;  // lane efficiency 1 ÷ paths
      EXPECT_EQ(result.counters.flops(), 2.0 * steps * threads);
      EXPECT_EQ(result.counters.divergent_branches, inside && k > 1 ? k * threads / 32 : 0);
      float expected = 1;
      for (int i = 0; i < steps; ++i) expected = std::fma(expected, 0.5F, 1.0F);
      for (const float x : run.values<float>(v, threads)) ASSERT_EQ(x, expected);
    }
  }
}

TEST(PtxKernel, AChaseMissesEachSectorOnce) {
  constexpr std::uint32_t places = 4096, steps = 2 * places;
  KernelRun run("chase.ptx", "chase");
  std::vector<std::uint32_t> next(places);
  for (std::uint32_t i = 0; i < places; ++i) next[i] = (i + 1001) % places;  // odd: one cycle
  const Address at_next = run.buffer(next), at_last = run.unwritten<std::uint32_t>(1);
  const Counters c = run(Dim3{1}, Dim3{1}, static_cast<int>(steps), at_next, at_last).counters;
  EXPECT_EQ(c.global_load.requests, steps);
  EXPECT_EQ(c.global_load.sectors, steps);
  EXPECT_EQ(c.cache.l1_hits, steps - places / 8);
  EXPECT_EQ(c.cache.dram_read_sectors, places / 8);
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i < steps; ++i) at = next[at];
  EXPECT_EQ(run.values<std::uint32_t>(at_last, 1)[0], at);
}

/// Attention of one head in double.
std::vector<double> attention(std::size_t tokens, const std::vector<float>& q, const std::vector<float>& k,
                              const std::vector<float>& v) {
  std::vector<double> out(tokens * 64), weight(tokens);
  for (std::size_t row = 0; row < tokens; ++row) {
    double sum = 0;
    for (std::size_t t = 0; t < tokens; ++t) {
      double score = 0;
      for (std::size_t i = 0; i < 64; ++i) score += static_cast<double>(q[row * 64 + i]) * k[t * 64 + i];
      sum += weight[t] = std::exp(score / 8);
    }
    for (std::size_t t = 0; t < tokens; ++t) {
      for (std::size_t i = 0; i < 64; ++i) out[row * 64 + i] += weight[t] / sum * v[t * 64 + i];
    }
  }
  return out;
}

TEST(PtxKernel, FlashAttentionNeverWritesTheScores) {
  constexpr std::size_t tokens = 128, n = tokens * 64;
  const int count = tokens;
  const auto q = random_floats(n, 20, -1, 1), k = random_floats(n, 21, -1, 1), v = random_floats(n, 22, -1, 1);
  const std::vector<double> expected = attention(tokens, q, k, v);
  KernelRun scores("attention.ptx", "attention_scores"), softmax("attention.ptx", "attention_softmax"),
      values("attention.ptx", "attention_values"), flash("attention.ptx", "attention_flash");
  const Address s = scores.unwritten<float>(tokens * tokens);
  const Counters first =
      scores(Dim3{tokens / 64, tokens}, Dim3{64}, count, scores.buffer(q), scores.buffer(k), s).counters;
  const Address p = softmax.buffer(scores.values<float>(s, tokens * tokens));
  const Counters second = softmax(Dim3{tokens}, Dim3{32}, count, p).counters;
  const Address naive_out = values.unwritten<float>(n);
  const Counters third = values(Dim3{tokens}, Dim3{64}, count, values.buffer(softmax.values<float>(p, tokens * tokens)),
                                values.buffer(v), naive_out)
                             .counters;
  const Address flash_out = flash.unwritten<float>(n);
  const Counters all =
      flash(Dim3{tokens / 64}, Dim3{64}, count, flash.buffer(q), flash.buffer(k), flash.buffer(v), flash_out).counters;
  constexpr std::uint64_t square = tokens * tokens;
  EXPECT_EQ(first.global_store.sectors, square / 8);
  EXPECT_EQ(second.global_load.sectors, 3 * square / 8);
  EXPECT_EQ(second.global_store.sectors, 2 * square / 8);
  EXPECT_EQ(first.flops() + third.flops(), 4.0 * square * 64 + square);  // two products, and the scale of each score
  EXPECT_EQ(32 * (first.cache.dram_write_sectors + second.cache.dram_write_sectors), 2 * 4 * square);
  EXPECT_EQ(32 * all.cache.dram_read_sectors, 3 * 4 * n);  // q, k, v once: the rest stays on the chip
  EXPECT_EQ(32 * all.cache.dram_write_sectors, 4 * n);
  const auto a = values.values<float>(naive_out, n), b = flash.values<float>(flash_out, n);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_NEAR(a[i], expected[i], 2e-6) << i;
    ASSERT_NEAR(b[i], expected[i], 2e-6) << i;
  }
}

TEST(PtxKernel, TensorProductIsExactOnSmallWholeNumbers) {
  constexpr std::size_t m = 32, n = 16, k = 64;
  KernelRun run("mma.ptx", "mma_bf16");
  std::vector<std::uint16_t> a(m * k), b(n * k);
  std::vector<int> whole_a(a.size()), whole_b(b.size());
  const auto fill = [](std::vector<std::uint16_t>& bits, std::vector<int>& whole, int seed) {
    for (std::size_t i = 0; i < bits.size(); ++i) {
      whole[i] = static_cast<int>(i * 31 + i / 7) % seed - 5;
      put_value(Type::bf16, whole[i], reinterpret_cast<std::byte*>(&bits[i]));
    }
  };
  fill(a, whole_a, 13);
  fill(b, whole_b, 11);
  const Address at_a = run.buffer(a), at_b = run.buffer(b), at_c = run.unwritten<float>(m * n);
  const Counters c =
      run(Dim3{n / 8, m / 16}, Dim3{32}, static_cast<int>(n), static_cast<int>(k), at_a, at_b, at_c).counters;
  EXPECT_EQ(c.tensor_flops[static_cast<std::size_t>(Type::bf16)], 2 * m * n * k);
  EXPECT_EQ(c.flops(), 2.0 * m * n * k);
  const auto out = run.values<float>(at_c, m * n);
  for (std::size_t i = 0; i < m * n; ++i) {
    int expected = 0;
    for (std::size_t j = 0; j < k; ++j) expected += whole_a[i / n * k + j] * whole_b[i % n * k + j];
    ASSERT_EQ(out[i], static_cast<float>(expected)) << i;
  }
}

TEST(PtxKernel, PackedHalvesRoundOnce) {
  constexpr std::size_t n = 2048;
  KernelRun run("half2.ptx", "axpy_half2");
  std::vector<std::uint16_t> x(n), y(n);
  const auto random_x = random_floats(n, 23, -4, 4), random_y = random_floats(n, 24, -1, 1);
  const auto bits_of = [](double value) {
    std::uint16_t bits = 0;
    put_value(Type::f16, value, reinterpret_cast<std::byte*>(&bits));
    return bits;
  };
  const auto value_of_bits = [](std::uint16_t bits) {
    return value_of(Type::f16, reinterpret_cast<std::byte*>(&bits));
  };
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = bits_of(random_x[i]);
    y[i] = bits_of(random_y[i]);
  }
  const std::uint32_t a = 0x3E00'4100;  // 1.5 and 2.5
  const Address at_x = run.buffer(x), at_y = run.buffer(y);
  const Counters c = run(Dim3{n / 2 / 256}, Dim3{256}, static_cast<int>(n / 2), a, at_x, at_y).counters;
  EXPECT_EQ(c.flops(), 2.0 * n);
  EXPECT_EQ(c.global_load.sectors, 2 * (2 * n) / 32);
  const auto out = run.values<std::uint16_t>(at_y, n);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(out[i], bits_of((i % 2 == 0 ? 2.5 : 1.5) * value_of_bits(x[i]) + value_of_bits(y[i]))) << i;
  }
}

std::uint32_t integer_mix(std::uint32_t a, std::uint32_t b) {
  std::int32_t dot = 7;
  for (int i = 0; i < 4; ++i) dot += static_cast<std::int8_t>(a >> 8 * i) * static_cast<std::int8_t>(b >> 8 * i);
  auto v = static_cast<std::uint32_t>(dot) ^ ((a & 0xFFFFU) | b << 16U);
  v += static_cast<std::uint32_t>(std::popcount(a) + 32 * std::countl_zero(b));
  v += a == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(a)) + 1;
  const std::uint32_t field = b >> 5U & 0x7FFU;
  v = v >> 19U | field << 13U;
  std::uint32_t reversed = 0;
  for (unsigned i = 0; i < 32; ++i) reversed |= (a >> i & 1U) << (31 - i);
  return v ^ (reversed + static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32U));
}

TEST(PtxKernel, WholeNumberInstructionsEqualTheHost) {
  constexpr std::size_t n = 512;
  KernelRun run("integer.ptx", "integer_mix");
  std::vector<std::uint32_t> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = i == 0 ? 0 : static_cast<std::uint32_t>(i * 2654435761U);
    y[i] = i < 2 ? 0 : static_cast<std::uint32_t>((i * 40503U) ^ (i << 20U));
  }
  const Address at_x = run.buffer(x), at_y = run.buffer(y), at_out = run.unwritten<std::uint32_t>(n);
  run(Dim3{2}, Dim3{256}, static_cast<int>(n), at_x, at_y, at_out);
  const auto out = run.values<std::uint32_t>(at_out, n);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], integer_mix(x[i], y[i])) << i;
}

TEST(PtxKernel, ArithmeticChainEqualsTheHost) {
  constexpr std::uint32_t threads = 128;
  constexpr int steps = 37;
  KernelRun run("chain.ptx", "alu_chain");
  const Address out = run.unwritten<std::uint32_t>(threads);
  EXPECT_EQ(run(Dim3{1}, Dim3{threads}, steps, out).counters.flops(), 2.0 * steps * threads);
  const auto got = run.values<std::uint32_t>(out, threads);
  for (std::uint32_t i = 0; i < threads; ++i) {
    std::uint32_t v = i;
    auto f = static_cast<float>(i);
    for (int s = 0; s < steps; ++s) {
      v ^= v << 3U;
      v += 0x9e3779b9U;
      v ^= v >> 5U;
      f = std::fma(f, 0.999F, 1.0F);
    }
    ASSERT_EQ(got[i], v ^ std::bit_cast<std::uint32_t>(f)) << i;
  }
}

TEST(PtxKernel, PrintsAndAsserts) {
  KernelRun good("print.ptx", "print_lanes");
  EXPECT_EQ(good(Dim3{1}, Dim3{32}, 32).printed, "block 0 thread 0: 0.00\nblock 0 thread 16: 8.00\n");
  KernelRun bad("print.ptx", "print_lanes");
  const auto result = bad.faulty(Dim3{1}, Dim3{32}, 30);
  ASSERT_FALSE(result.faults.empty());
  EXPECT_EQ(result.faults.front().kind, Fault::Kind::trap);
  EXPECT_THAT(result.faults.front().message, HasSubstr("limit"));
}

Fault first_fault(KernelRun& run, const ptx::RunResult& result) {
  (void)run;
  return result.faults.empty() ? Fault{Fault::Kind::unsupported, "no fault", {}, 0, {}, {}, {}, 0, {}, 0}
                               : result.faults.front();
}

TEST(PtxFault, EachMistakeIsNamed) {
  {
    KernelRun run("faults.ptx", "fault_out_of_bounds");
    const Fault f = first_fault(run, run.faulty(Dim3{2}, Dim3{160}, 256, run.unwritten<float>(256)));
    EXPECT_EQ(f.kind, Fault::Kind::out_of_bounds);
    EXPECT_EQ(f.block.x, 1);
    EXPECT_EQ(f.thread.x, 96);
    EXPECT_EQ(f.source.line, 5);
    EXPECT_EQ(f.allocation, "b0");
  }
  {
    KernelRun run("faults.ptx", "fault_missing_barrier");
    const Address x = run.buffer(random_floats(256, 1)), y = run.unwritten<float>(256);
    const auto result = run.faulty(Dim3{1}, Dim3{256}, x, y);
    ASSERT_FALSE(result.faults.empty());
    EXPECT_TRUE(std::any_of(result.faults.begin(), result.faults.end(), [](const Fault& f) {
      return f.kind == Fault::Kind::race || f.kind == Fault::Kind::uninitialised;
    }));
  }
  {
    KernelRun run("faults.ptx", "fault_race");
    EXPECT_EQ(first_fault(run, run.faulty(Dim3{1}, Dim3{128}, run.unwritten<std::uint32_t>(1))).kind,
              Fault::Kind::race);
  }
  {
    KernelRun run("faults.ptx", "fault_uninitialised");
    const Fault f = first_fault(run, run.faulty(Dim3{1}, Dim3{64}, run.unwritten<float>(64)));
    EXPECT_EQ(f.kind, Fault::Kind::uninitialised);
    EXPECT_EQ(f.thread.x, 32);
  }
  {
    KernelRun run("faults.ptx", "fault_misaligned");
    const Address x = run.buffer(std::vector<std::uint8_t>(256)), y = run.unwritten<float>(32);
    EXPECT_EQ(first_fault(run, run.faulty(Dim3{1}, Dim3{32}, x, y)).kind, Fault::Kind::misaligned);
  }
  {
    KernelRun run("faults.ptx", "fault_divergent_barrier");
    EXPECT_EQ(first_fault(run, run.faulty(Dim3{1}, Dim3{32}, run.unwritten<float>(32))).kind,
              Fault::Kind::divergent_barrier);
  }
  {
    KernelRun run("faults.ptx", "fault_endless");
    run.options.limits.max_instructions = 10'000;
    const auto result = run.faulty(Dim3{1}, Dim3{32}, run.buffer(std::vector<float>{0}));
    EXPECT_EQ(first_fault(run, result).kind, Fault::Kind::limit);
    EXPECT_FALSE(result.completed);
  }
}

TEST(PtxLaunches, EveryShippedLaunchRunsCleanOrFailsOnPurpose) {
  const Assets assets = *Assets::open();
  const auto launches = shipped_launches(assets);
  ASSERT_TRUE(launches) << launches.error().line();
  for (const PtxLaunchFile& launch : *launches) {
    SCOPED_TRACE(launch.name);
    EXPECT_FALSE(launch.about.empty());
    PtxRequest request;
    request.file = launch.name;
    request.caches = false;
    const Result<PtxAnswer> answer = run_ptx(assets, request);
    ASSERT_TRUE(answer) << answer.error().line();
    EXPECT_EQ(answer->clean(), !launch.name.starts_with("fault-"))
        << (answer->run.faults.empty() ? "" : answer->run.faults.front().message);
  }
}

}  // namespace
}  // namespace corridor::app
