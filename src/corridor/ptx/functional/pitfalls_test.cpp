// SPDX-License-Identifier: Apache-2.0
// What is easy to get wrong in PTX: rounding, flushing, saturation, shifts, warps that part, barriers, shuffles.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "corridor/ptx/functional/run_helper_test.h"

namespace corridor::ptx::testing {
namespace {

std::uint64_t f(float v) {
  return std::bit_cast<std::uint32_t>(v);
}
std::uint64_t d(double v) {
  return std::bit_cast<std::uint64_t>(v);
}
/// What one thread with these inputs leaves in %d.
std::uint64_t one(const std::string& body, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  const Ran ran = run_body(body, {a, b, c}, 32);
  EXPECT_EQ(faults_of(ran), "") << body;
  return ran.out.empty() ? ~std::uint64_t{0} : ran.out[0];
}
std::uint64_t word(const std::string& operation, std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  return one("  " + operation + ";\n  cvt.u64.u32 %d, %r1;\n", a, b, c);
}

TEST(Pitfalls, FlushingKeepsTheSignAndActsOnBothSides) {
  EXPECT_EQ(word("add.ftz.f32 %r1, %ra, %rb", 0x80000001, 0x80000000), 0x80000000U);
  EXPECT_EQ(word("mul.ftz.f32 %r1, %ra, %rb", f(0x1p-100F), f(-0x1p-40F)), 0x80000000U);
  EXPECT_EQ(word("mul.f32 %r1, %ra, %rb", f(0x1p-100F), f(0x1p-40F)), f(0x1p-140F));
}

TEST(Pitfalls, NanIsCanonicalAndMinMaxPreferNumbers) {
  EXPECT_EQ(word("add.f32 %r1, %ra, %rb", 0xFFC12345, f(1)), 0x7FFFFFFFU);
  EXPECT_EQ(word("min.f32 %r1, %ra, %rb", 0x7FC00000, f(1)), f(1));
  EXPECT_EQ(word("max.f32 %r1, %ra, %rb", f(2), 0x7FC00000), f(2));
  EXPECT_EQ(word("min.NaN.f32 %r1, %ra, %rb", 0x7FC00000, f(1)), 0x7FFFFFFFU);
  EXPECT_EQ(word("min.f32 %r1, %ra, %rb", f(0.0F), f(-0.0F)), f(-0.0F));
  EXPECT_EQ(word("add.sat.f32 %r1, %ra, %rb", 0x7FC00000, f(1)), 0U);
  EXPECT_EQ(word("add.sat.f32 %r1, %ra, %rb", f(3), f(1)), f(1));
}

TEST(Pitfalls, DirectedRoundingIsDone) {
  const std::uint64_t a = f(1.0F), b = f(0x1p-30F);
  EXPECT_EQ(word("add.rn.f32 %r1, %ra, %rb", a, b), f(1.0F));
  EXPECT_EQ(word("add.rp.f32 %r1, %ra, %rb", a, b), f(1.0F) + 1);
  EXPECT_EQ(word("add.rm.f32 %r1, %ra, %rb", a, f(-0x1p-30F)), f(1.0F) - 1);
  EXPECT_EQ(word("add.rz.f32 %r1, %ra, %rb", a, f(-0x1p-30F)), f(1.0F) - 1);
  EXPECT_EQ(word("fma.rp.f32 %r1, %ra, %rb, %rc", b, b, a), f(1.0F) + 1);
  EXPECT_EQ(word("div.rm.f32 %r1, %ra, %rb", f(1), f(3)), 0x3EAAAAAAU);
  EXPECT_EQ(word("div.rp.f32 %r1, %ra, %rb", f(1), f(3)), 0x3EAAAAABU);
  EXPECT_EQ(one("add.rp.f64 %d, %a, %b;", d(1), d(0x1p-80)), d(1) + 1);
  EXPECT_EQ(word("cvt.rm.f32.s32 %r1, %ra", 16777217), f(16777216.0F));
  EXPECT_EQ(word("cvt.rp.f32.s32 %r1, %ra", 16777217), f(16777218.0F));
  EXPECT_EQ(word("cvt.rz.f32.f64 %r1, %a", d(1.0 + 0x1p-24 + 0x1p-30)), f(1.0F));
}

TEST(Pitfalls, FusedMultiplyAddRoundsOnceAndSeparateOnesTwice) {
  const float a = 1.0F + 0x1p-12F;
  EXPECT_EQ(word("fma.rn.f32 %r1, %ra, %rb, %rc", f(a), f(a), f(-1.0F)), f(std::fma(a, a, -1.0F)));
  EXPECT_EQ(word("mul.rn.f32 %r2, %ra, %rb;\n  add.rn.f32 %r1, %r2, %rc", f(a), f(a), f(-1.0F)), f(0x1p-11F));
}

TEST(Pitfalls, ConversionsSaturate) {
  EXPECT_EQ(word("cvt.rzi.s32.f32 %r1, %ra", f(3e9F)), 0x7FFFFFFFU);
  EXPECT_EQ(word("cvt.rzi.u32.f32 %r1, %ra", f(-5.0F)), 0U);
  EXPECT_EQ(word("cvt.rzi.s32.f32 %r1, %ra", 0x7FC00000), 0U);
  EXPECT_EQ(one("cvt.rzi.s64.f64 %d, %a;", 0x7FF8000000000000), 0x8000000000000000U);
  EXPECT_EQ(word("cvt.rni.s32.f32 %r1, %ra", f(2.5F)), 2U);
  EXPECT_EQ(word("cvt.rmi.s32.f32 %r1, %ra", f(-2.5F)), static_cast<std::uint32_t>(-3));
  EXPECT_EQ(word("cvt.sat.s8.s32 %r1, %ra", 300), 127U);
  EXPECT_EQ(word("cvt.sat.u8.s32 %r1, %ra", static_cast<std::uint32_t>(-3)), 0U);
  EXPECT_EQ(word("cvt.s32.s8 %r1, %ra", 0x80), 0xFFFFFF80U);
  EXPECT_EQ(word("cvt.rna.tf32.f32 %r1, %ra", 0x3F801000), 0x3F802000U);
  EXPECT_EQ(word("cvt.rn.f16x2.f32 %r1, %ra, %rb", f(1), f(2)), 0x3C004000U);
}

TEST(Pitfalls, NarrowValuesInWideRegisters) {
  EXPECT_EQ(one("ld.global.s8 %r1, [%in];\n ld.global.u8 %r2, [%in];\n mov.b64 %d, {%r1, %r2};", 0x80), 0x80FFFFFF80U);
  EXPECT_EQ(one("add.u16 %h1, %ha, %hb;\n mov.b32 %r1, {%h1, %ha};\n cvt.u64.u32 %d, %r1;", 0xFFFF, 2), 0xFFFF0001U);
  EXPECT_EQ(word("shl.b32 %r1, %ra, %rb", 1, 32), 0U);
  EXPECT_EQ(word("shr.s32 %r1, %ra, %rb", 0x80000000, 40), 0xFFFFFFFFU);
  EXPECT_EQ(word("shf.l.wrap.b32 %r1, %ra, %rb, %rc", 0x80000000, 1, 33), 3U);
  EXPECT_EQ(word("popc.b32 %r1, %ra", 0), 0U);
  EXPECT_EQ(word("clz.b32 %r1, %ra", 0), 32U);
  EXPECT_EQ(word("bfind.u32 %r1, %ra", 0), 0xFFFFFFFFU);
  EXPECT_EQ(word("bfe.s32 %r1, %ra, 4, 8", 0xFF0), 0xFFFFFFFFU);
  EXPECT_EQ(word("bfi.b32 %r1, %ra, %rb, 8, 4", 0xF, 0), 0xF00U);
  EXPECT_EQ(word("prmt.b32 %r1, %ra, %rb, 0x7531", 0x33221100, 0x77665544), 0x77553311U);
  EXPECT_EQ(word("prmt.b32 %r1, %ra, %rb, 0x888B", 0x80000000, 0), 0x000000FFU);
  EXPECT_EQ(word("dp4a.s32.s32 %r1, %ra, %rb, %rc", 0xFF01FF01, 0x02020202, 10), 10U);
  EXPECT_EQ(word("lop3.b32 %r1, %ra, %rb, %rc, 0xE8", 0b1100, 0b1010, 0b0110), 0b1110U);
  EXPECT_EQ(word("add.cc.u32 %r2, %ra, %rb;\n  addc.u32 %r1, %rc, 0", 0xFFFFFFFF, 1, 7), 8U);
  EXPECT_EQ(word("mul.hi.s32 %r1, %ra, %rb", 0xFFFFFFFF, 2), 0xFFFFFFFFU);
  EXPECT_EQ(word("sub.cc.u32 %r2, %ra, %rb;\n  subc.u32 %r1, %rc, 0", 0, 1, 7), 6U);
}

TEST(Pitfalls, GuardsAndPredicatePairs) {
  EXPECT_EQ(
      word("mov.u32 %r1, 5;\n  setp.lt.s32 %p1|%p2, %ra, %rb;\n  @%p1 mov.u32 %r1, 1;\n  @!%p2 add.u32 %r1, %r1, 10", 1,
           2),
      11U);
  EXPECT_EQ(
      word("setp.ne.u32 %p1, %rc, 0;\n  setp.eq.and.u32 %p2, %ra, %rb, !%p1;\n  selp.u32 %r1, 3, 4, %p2", 1, 1, 0), 3U);
  EXPECT_EQ(word("setp.ltu.f32 %p1, %ra, %rb;\n  selp.u32 %r1, 1, 0, %p1", 0x7FC00000, f(1)), 1U);
  EXPECT_EQ(word("setp.ne.f32 %p1, %ra, %rb;\n  selp.u32 %r1, 1, 0, %p1", 0x7FC00000, f(1)), 0U);
  // Lanes that are off still count as an issued instruction.
  const Ran ran = run_body("setp.eq.u32 %p1, %ra, 99;\n  @%p1 add.u32 %r1, %ra, 1;\n", {0, 0, 0}, 32);
  EXPECT_EQ(ran.result.counters.thread_instructions - ran.result.counters.thread_instructions_on, 32U);
}

TEST(Pitfalls, LanesMeetAgainAfterABranch) {
  // 1/k of the lanes are active inside a switch over lane mod k, all of them after it.
  const Ran ran = run_body(R"(  and.b32 %r1, %r62, 1;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra EVEN;
  mov.u32 %r2, 10;
  bra DONE;
EVEN:
  mov.u32 %r2, 20;
DONE:
  activemask.b32 %r3;
  mov.b64 %d, {%r2, %r3};
)",
                           {0, 0, 0}, 32);
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(ran.out[lane], 0xFFFFFFFF00000000U | (lane % 2 == 0 ? 20 : 10));
  EXPECT_EQ(ran.result.counters.divergent_branches, 1U);
  EXPECT_EQ(ran.result.counters.active_lanes[16], 3U);
}

TEST(Pitfalls, ALaneMaySpinOnAnotherOfItsWarp) {
  // A lock that each lane takes and gives back: lanes that wait for the lock wait for lanes of the same warp.
  const Ran ran = run_body(R"(  mov.u32 %r1, lock;
  mov.u32 %r2, counter;
  setp.ne.u32 %p1, %r62, 0;
  @%p1 bra READY;
  st.volatile.shared.u32 [%r1], 0;
  st.volatile.shared.u32 [%r2], 0;
READY:
  bar.sync 0;
TRY:
  atom.shared.cas.b32 %r3, [%r1], 0, 1;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra TRY;
  ld.volatile.shared.u32 %r4, [%r2];
  add.u32 %r4, %r4, 1;
  st.volatile.shared.u32 [%r2], %r4;
  atom.shared.exch.b32 %r5, [%r1], 0;
  bar.sync 0;
  ld.volatile.shared.u32 %r6, [%r2];
  cvt.u64.u32 %d, %r6;
)",
                           {0, 0, 0}, 64, {}, ".shared .u32 lock;\n.shared .u32 counter;");
  ASSERT_EQ(faults_of(ran), "");
  EXPECT_EQ(ran.out[0], 64U);
  EXPECT_EQ(ran.out[63], 64U);
}

TEST(Pitfalls, ShufflesStayInTheirSegment) {
  const Ran ran = run_body(R"(  shfl.sync.down.b32 %r1|%p1, %r62, 4, 0x181f, 0xffffffff;
  selp.u32 %r2, 1, 0, %p1;
  mov.b64 %d, {%r1, %r2};
)",
                           {0, 0, 0}, 32);
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    const bool inside = lane % 8 < 4;
    EXPECT_EQ(ran.out[lane], (inside ? std::uint64_t{1} << 32 : 0) | (inside ? lane + 4 : lane)) << lane;
  }
}

TEST(Pitfalls, VotesMatchAndRedux) {
  const Ran ran = run_body(R"(  and.b32 %r1, %r62, 3;
  setp.eq.u32 %p1, %r1, 1;
  vote.sync.ballot.b32 %r2, %p1, 0xffffffff;
  match.any.sync.b32 %r3, %r1, 0xffffffff;
  redux.sync.add.u32 %r4, %r62, 0xffffffff;
  xor.b32 %r3, %r3, %r4;
  mov.b64 %d, {%r2, %r3};
)",
                           {0, 0, 0}, 32);
  ASSERT_EQ(faults_of(ran), "");
  EXPECT_EQ(ran.out[5] & 0xFFFFFFFF, 0x22222222U);
  EXPECT_EQ(ran.out[5] >> 32, 0x22222222U ^ 496U);
}

TEST(Pitfalls, BarriersCountThreadsAndReduce) {
  const Ran ran = run_body(R"(  setp.lt.u32 %p1, %r62, 40;
  bar.red.popc.u32 %r1, 0, %p1;
  bar.red.and.pred %p2, 1, 64, %p1;
  selp.u32 %r2, 1, 0, %p2;
  mov.b64 %d, {%r1, %r2};
)",
                           {0, 0, 0}, 64);
  ASSERT_EQ(faults_of(ran), "");
  EXPECT_EQ(ran.out[63], 40U);
}

TEST(Pitfalls, AtomicsRunInTheOrderOfLanes) {
  const Ran ran = run_body(R"(  mov.u32 %r1, cell;
  setp.ne.u32 %p1, %r62, 0;
  @!%p1 st.shared.u32 [%r1], 0;
  bar.sync 0;
  atom.shared.add.u32 %r2, [%r1], 2;
  atom.shared.inc.u32 %r3, [%r1], 1000000;
  mov.b64 %d, {%r2, %r3};
)",
                           {0, 0, 0}, 32, {}, ".shared .u32 cell;");
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint64_t lane = 0; lane < 32; ++lane) EXPECT_EQ(ran.out[lane], (2 * lane) | ((64 + lane) << 32));
}

TEST(Pitfalls, FunctionsRecurseWithTheirOwnRegisters) {
  const Ran ran = run_body(R"(  and.b32 %r1, %r62, 7;
  {
  .param .b32 param0;
  st.param.b32 [param0], %r1;
  .param .b32 retval0;
  call.uni (retval0), sum_to, (param0);
  ld.param.b32 %r2, [retval0];
  }
  cvt.u64.u32 %d, %r2;
)",
                           {0, 0, 0}, 32, {}, R"(
.func (.param .b32 result) sum_to(.param .b32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  ld.param.b32 %r1, [n];
  mov.u32 %r2, 0;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra END;
  sub.u32 %r3, %r1, 1;
  {
  .param .b32 param0;
  st.param.b32 [param0], %r3;
  .param .b32 retval0;
  call.uni (retval0), sum_to, (param0);
  ld.param.b32 %r4, [retval0];
  }
  add.u32 %r2, %r4, %r1;
END:
  st.param.b32 [result], %r2;
  ret;
})");
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint64_t lane = 0; lane < 32; ++lane) EXPECT_EQ(ran.out[lane], (lane & 7) * ((lane & 7) + 1) / 2);
}

TEST(Pitfalls, CountersDoNotDependOnTheCaches) {
  const std::string rows = "  mul.wide.u32 %q3, %r62, 16;\n  sub.u64 %in, %in, %q3;\n";  // 8 bytes from lane to lane
  RunOptions without;
  without.caches = false;
  for (const std::string& text :
       {rows + "  ld.global.u64 %q1, [%in];\n", std::string("  ld.global.u64 %q1, [%in];\n")}) {
    const Ran a = run_body(text, std::vector<std::uint64_t>(192), 64),
              b = run_body(text, std::vector<std::uint64_t>(192), 64, without);
    ASSERT_EQ(faults_of(a), "");
    EXPECT_EQ(a.result.counters.global_load.sectors, b.result.counters.global_load.sectors);
    EXPECT_EQ(a.result.counters.global_load.wavefronts, b.result.counters.global_load.wavefronts);
    EXPECT_EQ(b.result.counters.cache.l1_sectors, 0U);
    EXPECT_EQ(a.result.counters.cache.l1_sectors, a.result.counters.global_load.sectors);
  }
}

TEST(Pitfalls, CopiesShowOnlyAfterTheWait) {
  const Ran ran = run_body(R"(  shl.b32 %r1, %r62, 3;
  mov.u32 %r2, tile;
  add.u32 %r1, %r1, %r2;
  st.shared.u64 [%r1], 7;
  cp.async.ca.shared.global [%r1], [%in], 8;
  cp.async.commit_group;
  ld.shared.u64 %q1, [%r1];
  cp.async.wait_group 0;
  ld.shared.u64 %q2, [%r1];
  shl.b64 %q1, %q1, 32;
  or.b64 %d, %q1, %q2;
)",
                           {5, 0, 0, 6, 0, 0}, 32, {}, ".shared .align 16 .b8 tile[512];");
  ASSERT_EQ(faults_of(ran), "");
  EXPECT_EQ(ran.out[0], (std::uint64_t{7} << 32) | 5);
  EXPECT_EQ(ran.out[1], (std::uint64_t{7} << 32) | 6);
}

}  // namespace
}  // namespace corridor::ptx::testing
