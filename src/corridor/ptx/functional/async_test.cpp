// SPDX-License-Identifier: Apache-2.0
// Barrier objects in memory and the copies that arrive at them.
#include <gtest/gtest.h>

#include "corridor/ptx/functional/run_helper_test.h"

namespace corridor::ptx::testing {
namespace {

constexpr const char* memory = ".shared .align 16 .b8 tile[1024];\n.shared .align 8 .b64 gate;\n";

RunOptions short_run(std::uint64_t most = 100000) {
  RunOptions options;
  options.limits.max_instructions = most;
  return options;
}

/// `body` on 64 threads; thread 0 makes a barrier object for `arrivals` first. %r1: gate, %r2: tile, %r3: thread.
Ran with_gate(const std::string& body, int arrivals, RunOptions options = short_run()) {
  const std::string start = fmt::format(R"(  mov.u32 %r1, gate;
  mov.u32 %r2, tile;
  mov.u32 %r3, %tid.x;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 mbarrier.init.shared.b64 [%r1], {};
  bar.sync 0;
)",
                                        arrivals);
  std::vector<std::uint64_t> in(std::size_t{3} * 64);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = 1000 + i;
  return run_body(start + body, in, 64, options, memory);
}

constexpr const char* wait_first_phase = R"(again:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;
  @!%p2 bra again;
)";

TEST(BarrierObject, StatesTellWhoArrivedBefore) {
  const Ran ran = with_gate(std::string(R"(  mbarrier.arrive.shared.b64 %q1, [%r1];
  mbarrier.pending_count.b64 %r10, %q1;
again:
  mbarrier.test_wait.shared.b64 %p2, [%r1], %q1;
  @!%p2 bra again;
  mbarrier.test_wait.parity.shared.b64 %p3, [%r1], 1;
  selp.b32 %r11, 1000, 0, %p3;
  add.u32 %r10, %r10, %r11;
  cvt.u64.u32 %d, %r10;
)"),
                            64);
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(ran.out[i], 64 - i);  // the second phase, of parity 1, is open
}

TEST(BarrierObject, DropsLowerTheCountOfTheNextPhase) {
  // Phase 0: 64 arrivals, of which the 32 of the first warp drop out; phase 1 needs only the others.
  const Ran ran = with_gate(R"(  setp.lt.u32 %p3, %r3, 32;
  @%p3 mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%r1];
  @!%p3 mbarrier.arrive.shared.b64 _, [%r1], 1;
again:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r1], 0, 1000;
  @!%p2 bra again;
  @!%p3 mbarrier.arrive.shared.b64 %q2, [%r1];
more:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 1;
  @!%p2 bra more;
  mbarrier.arrive.noComplete.shared.b64 %q3, [%r1], 0;
  mov.u64 %d, 7;
)",
                            64);
  EXPECT_NE(faults_of(ran).find("has 32 arrivals left in its phase, not 0"), std::string::npos) << faults_of(ran);
  EXPECT_EQ(ran.result.faults[0].kind, Fault::Kind::trap);
}

TEST(BarrierObject, GenericAddressesReachIt) {
  const Ran ran = with_gate(R"(  cvt.u64.u32 %q1, %r1;
  cvta.shared.u64 %q1, %q1;
  mbarrier.arrive.b64 %q2, [%q1];
again:
  mbarrier.try_wait.parity.b64 %p2, [%q1], 0;
  @!%p2 bra again;
  mov.u64 %d, 5;
)",
                            64);
  ASSERT_EQ(faults_of(ran), "");
  EXPECT_EQ(ran.out[63], 5U);
}

TEST(BarrierObject, CopiesArriveWhenThePhaseIsAskedFor) {
  // Each thread copies its 8 bytes; .noinc arrivals are the 64 that the barrier counts. The neighbour's value is read.
  const Ran ran = with_gate(std::string(R"(  mad.lo.u32 %r4, %r3, 8, %r2;
  xor.b32 %r5, %r3, 63;
  mad.lo.u32 %r5, %r5, 8, %r2;
  cp.async.ca.shared.global [%r4], [%in], 8;
  cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];
)") + wait_first_phase + "  ld.shared.u64 %d, [%r5];\n",
                            64);
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(ran.out[i], 1000 + 3 * (63 - i));
  const Ran early = with_gate(R"(  mad.lo.u32 %r4, %r3, 8, %r2;
  st.shared.u64 [%r4], 5;
  cp.async.ca.shared.global [%r4], [%in], 8;
  cp.async.mbarrier.arrive.shared.b64 [%r1];
  ld.shared.u64 %d, [%r4];
)",
                              64);
  ASSERT_EQ(faults_of(early), "");
  EXPECT_EQ(early.out[9], 5U);  // nobody waited
}

TEST(BarrierObject, BulkCopiesBringBytes) {
  const Ran ran = with_gate(std::string(R"(  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 1024;
  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%in], 1008, [%r1];
  add.u32 %r7, %r2, 1008;
  add.u64 %q7, %in, 1008;
  @%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r7], [%q7], 16, [%r1];
)") + wait_first_phase + R"(  mad.lo.u32 %r4, %r3, 16, %r2;
  ld.shared.v2.u64 {%q1, %q2}, [%r4];
  add.u64 %d, %q1, %q2;
  bar.sync 0;
  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [%r2], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  bar.sync 0;
  setp.lt.u32 %p4, %r3, 32;
  mul.wide.u32 %q8, %r3, 8;
  add.u64 %q8, %out, %q8;
  @%p4 ld.global.u64 %d, [%q8];
)",
                            1);
  ASSERT_EQ(faults_of(ran), "");
  for (std::uint64_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], 1000 + i);
  for (std::uint64_t i = 32; i < 64; ++i) EXPECT_EQ(ran.out[i], 2000 + 4 * i + 1);
  EXPECT_EQ(ran.result.counters.shared_store.bytes, 1024U);
}

TEST(BarrierObject, WaitsThatNeverEndAreDeadlocks) {
  const Ran ran = with_gate(std::string("  mbarrier.arrive.shared.b64 _, [%r1];\n") + wait_first_phase, 65);
  EXPECT_NE(faults_of(ran).find("whose phase never completes: 1 of 65 arrivals and 0 bytes are missing"),
            std::string::npos)
      << faults_of(ran);
  ASSERT_EQ(ran.result.faults.size(), 1U);
  EXPECT_EQ(ran.result.faults[0].kind, Fault::Kind::deadlock);
  // A loop that counts its turns changes its registers: the limit of instructions ends it, with the same answer.
  const Ran counting = with_gate(R"(again:
  mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0;
  add.u32 %r20, %r20, 1;
  @!%p2 bra again;
)",
                                 64);
  ASSERT_FALSE(counting.result.faults.empty());
  EXPECT_EQ(counting.result.faults[0].kind, Fault::Kind::deadlock) << faults_of(counting);
  // One lane waits for the object while its warp waits for it; and half a warp each for another one.
  for (const char* lanes : {"setp.ne.u32 %p5, %r62, 0", "and.b32 %r9, %r62, 1;\n  setp.ne.u32 %p5, %r9, 0"}) {
    const bool one = lanes[0] == 's';
    RunOptions options;
    options.limits.max_instructions = 50'000'000;
    const Ran parted = with_gate(
        fmt::format(R"(  {};
  @%p5 bra other;
again:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;
  @!%p2 bra again;
  bra done;
other:
  {}
done:
  bar.warp.sync 0xffffffff;
)",
                    lanes,
                    one ? "mov.u32 %r9, 1;" : "mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;\n@!%p2 bra other;"),
        64, options);
    ASSERT_FALSE(parted.result.faults.empty());
    EXPECT_EQ(parted.result.faults[0].kind, Fault::Kind::deadlock) << faults_of(parted);
    EXPECT_LT(parted.result.counters.warp_instructions, 1'000'000U);
  }
  // One warp at a barrier of the block, the other at an object: nobody can go on.
  const Ran mixed =
      with_gate(std::string("  setp.lt.u32 %p5, %r3, 32;\n  @%p5 bra again;\n  bar.sync 0;\n") + wait_first_phase, 64);
  ASSERT_FALSE(mixed.result.faults.empty());
  EXPECT_EQ(mixed.result.faults[0].kind, Fault::Kind::deadlock) << faults_of(mixed);
}

TEST(BarrierObject, WrongUseIsNamed) {
  const auto fault = [](const std::string& body, int arrivals = 64) { return faults_of(with_gate(body, arrivals)); };
  EXPECT_NE(fault("  mbarrier.arrive.shared.b64 _, [%r2];\n").find("was not initialised"), std::string::npos);
  EXPECT_NE(fault("  mbarrier.init.shared.b64 [%r1], 0;\n").find("cannot count 0 arrivals"), std::string::npos);
  EXPECT_NE(fault("  mbarrier.arrive.shared.b64 _, [%r1+4];\n").find("misaligned"), std::string::npos);
  EXPECT_NE(fault("  mbarrier.arrive.shared.b64 _, [%r1+4096];\n").find("out of bounds"), std::string::npos);
  EXPECT_NE(fault("  mbarrier.inval.shared.b64 [%r1];\n").find("is invalid already"), std::string::npos);
  EXPECT_NE(fault("  mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 1048576;\n").find("a phase can have"),
            std::string::npos);
  EXPECT_NE(fault("  mbarrier.arrive.noComplete.shared.b64 %q1, [%r1], 1;\n").find(".noComplete"), std::string::npos);
  EXPECT_NE(fault("  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%in], 20, [%r1];\n")
                .find("must be a multiple of 16"),
            std::string::npos);
  EXPECT_NE(fault("  cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.tile [%r2], [%q1, {%r3}], "
                  "[%r1];\n")
                .find("tensor maps"),
            std::string::npos);
}

TEST(BarrierObject, CompleteTxStandsForACopy) {
  const Ran ran = with_gate(std::string(R"(  @%p1 mbarrier.arrive.shared.b64 _, [%r1];
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 4;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 4;
)") + "  mov.u64 %d, 1;\n",
                            64);
  ASSERT_EQ(faults_of(ran), "");
}

}  // namespace
}  // namespace corridor::ptx::testing
