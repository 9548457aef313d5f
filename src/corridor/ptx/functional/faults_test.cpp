// SPDX-License-Identifier: Apache-2.0
// What a kernel does wrong is found and named, and hostile kernels end within their limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "corridor/ptx/functional/run_helper_test.h"

namespace corridor::ptx::testing {
namespace {

using ::testing::HasSubstr;

const Fault* find(const Ran& ran, Fault::Kind kind) {
  for (const Fault& f : ran.result.faults) {
    if (f.kind == kind) return &f;
  }
  return nullptr;
}
/// The fault of a body on one block of 64 threads.
Fault fault(const std::string& body, Fault::Kind kind, const std::string& module_level = {}, RunOptions options = {}) {
  const Ran ran = run_body(body, {0, 0, 0}, 64, options, module_level);
  const Fault* const f = find(ran, kind);
  EXPECT_NE(f, nullptr) << name_of(kind) << " in\n" << body << faults_of(ran);
  return f == nullptr ? Fault{} : *f;
}

TEST(Faults, OutOfBoundsNamesTheThreadAndTheBuffer) {
  const Fault f = fault(R"(  setp.eq.u32 %p1, %r62, 37;
  @%p1 ld.global.u32 %r1, [%out+8000];
)",
                        Fault::Kind::out_of_bounds);
  EXPECT_EQ(f.thread.x, 37U);
  EXPECT_EQ(f.allocation, "out");
  EXPECT_THAT(f.message, HasSubstr("test.ptx:"));
  EXPECT_THAT(f.message, HasSubstr("8000 bytes after the start of out (512 bytes)"));
}

TEST(Faults, MisalignedAndNullAndSharedAndLocal) {
  fault("  ld.global.u32 %r1, [%in+2];\n", Fault::Kind::misaligned);
  fault("  mov.u64 %q1, 0;\n  ld.u32 %r1, [%q1];\n", Fault::Kind::out_of_bounds);
  fault("  mov.u32 %r1, tile;\n  st.shared.u32 [%r1+256], %r62;\n", Fault::Kind::out_of_bounds,
        ".shared .align 4 .b8 tile[256];");
  fault("  mov.u64 %q1, 1048576;\n  ld.local.u32 %r1, [%q1];\n", Fault::Kind::out_of_bounds);
}

TEST(Faults, ReadsBeforeWrites) {
  EXPECT_EQ(fault("  ld.global.u64 %q1, [%out];\n", Fault::Kind::uninitialised).allocation, "out");
  fault("  mov.u32 %r1, tile;\n  ld.shared.u32 %r2, [%r1];\n", Fault::Kind::uninitialised,
        ".shared .align 4 .b8 tile[256];");
  RunOptions unchecked;
  unchecked.check = false;
  const Ran ran = run_body("  ld.global.u64 %q1, [%out];\n", {0, 0, 0}, 64, unchecked);
  EXPECT_EQ(faults_of(ran), "");
}

TEST(Faults, RacesNeedABarrierBetween) {
  const std::string body = R"(  shl.b32 %r1, %r62, 2;
  mov.u32 %r2, tile;
  add.u32 %r1, %r1, %r2;
  st.shared.u32 [%r1], %r62;
{}  xor.b32 %r3, %r62, 32;
  shl.b32 %r3, %r3, 2;
  add.u32 %r3, %r3, %r2;
  ld.shared.u32 %r4, [%r3];
  cvt.u64.u32 %d, %r4;
)";
  const std::string tile = ".shared .align 4 .b8 tile[256];";
  fault(fmt::format(fmt::runtime(body), ""), Fault::Kind::race, tile);
  const Ran ran = run_body(fmt::format(fmt::runtime(body), "  bar.sync 0;\n"), {0, 0, 0}, 64, {}, tile);
  EXPECT_EQ(faults_of(ran), "");
  EXPECT_EQ(ran.out[3], 35U);
}

TEST(Faults, BarriersThatPartOrNeverComplete) {
  fault("  setp.lt.u32 %p1, %r62, 16;\n  @%p1 bar.sync 0;\n", Fault::Kind::divergent_barrier);
  fault("  setp.lt.u32 %p1, %r62, 32;\n  @%p1 bar.sync 1;\n  @!%p1 bar.sync 2, 96;\n", Fault::Kind::deadlock);
  // Threads that left count as arrived.
  const Ran ran =
      run_body("  setp.ge.u32 %p1, %r62, 32;\n  @%p1 exit;\n  bar.sync 0;\n  mov.u64 %d, 1;\n", {0, 0, 0}, 64);
  EXPECT_EQ(faults_of(ran), "");
  EXPECT_EQ(ran.out[0], 1U);
}

TEST(Faults, ShufflesFromLanesThatAreOff) {
  const Fault f = fault("  setp.lt.u32 %p1, %r62, 16;\n  @%p1 shfl.sync.bfly.b32 %r1, %r62, 16, 0x1f, 0xffffffff;\n",
                        Fault::Kind::dead_lane);
  EXPECT_THAT(f.message, HasSubstr("lanes 0x0000ffff"));
}

TEST(Faults, LanesThatNeverComeAreNamed) {
  // The mask names all lanes, but half of them wait at another instruction.
  fault(R"(  setp.lt.u32 %p1, %r62, 16;
  @%p1 bra ONE;
  bar.warp.sync 0xffffffff;
  bra TWO;
ONE:
  vote.sync.ballot.b32 %r1, %p1, 0xffffffff;
TWO:
  mov.u32 %r2, 1;
)",
        Fault::Kind::deadlock);
}

TEST(Faults, TrapAssertAndWhatIsNotExecuted) {
  fault("  trap;\n", Fault::Kind::trap);
  const Fault f =
      fault("  suld.b.1d.b32.trap {%r1}, [surf, {%r2}];\n", Fault::Kind::unsupported, ".global .surfref surf;");
  EXPECT_THAT(f.message, HasSubstr("suld"));
}

TEST(Faults, TheSameFaultAtALineIsCounted) {
  const Fault f = fault("  mul.wide.u32 %q2, %r62, 8;\n  add.u64 %q2, %q2, %out;\n  ld.global.u64 %q1, [%q2];\n",
                        Fault::Kind::uninitialised);
  EXPECT_EQ(f.count, 64U);
}

TEST(Limits, EndlessLoopsAndRecursionEnd) {
  RunOptions options;
  options.limits.max_instructions = 100'000;
  fault("L:\n  add.u32 %r1, %r1, 1;\n  bra L;\n", Fault::Kind::limit, {}, options);
  fault("  call.uni f;\n", Fault::Kind::limit, ".func f() { call.uni f; ret; }", options);
}

TEST(Limits, LaunchesThatCannotStartSayWhy) {
  const std::string text = kernel_around("");
  EXPECT_THAT(run_module(text, {0, 0, 0}, Dim3{1}, Dim3{2048}).error, HasSubstr("larger than 1024"));
  EXPECT_THAT(run_module(text, {0, 0, 0}, Dim3{1, 70000}, Dim3{32}).error, HasSubstr("too large"));
  EXPECT_THAT(run_module(text, {0, 0, 0}, Dim3{1}, Dim3{32}, {}, 1 << 20).error, HasSubstr("shared memory"));
  DeviceMemory memory(1 << 20);
  EXPECT_FALSE(memory.allocate(std::uint64_t{1} << 40, "huge"));
}

TEST(Limits, SampledBlocksAreScaled) {
  RunOptions options;
  options.sample_blocks = 4;
  const std::vector<std::uint64_t> in(std::size_t{3} * 64 * 32);
  const Ran all = run_body("", in, 64), some = run_body("", in, 64, options);
  EXPECT_EQ(some.result.blocks_run, 4U);
  EXPECT_EQ(some.result.counters.warp_instructions, all.result.counters.warp_instructions);
  EXPECT_EQ(some.result.sampling_error, 0);
}

TEST(Limits, SampledCachesAreBounds) {
  // Every block reads the same 3 KiB and writes 512 bytes of its own: scaled misses of 4 of 64 blocks would be wrong.
  const std::string body = R"(  mul.wide.u32 %q1, %r62, 8;
  ld.param.u64 %q2, [in];
  add.u64 %q2, %q2, %q1;
  ld.global.u64 %q3, [%q2];
)";
  const std::vector<std::uint64_t> in(std::size_t{3} * 64 * 64);
  RunOptions options;
  const Ran all = run_body(body, in, 64, options);
  options.sample_blocks = 4;
  const Ran some = run_body(body, in, 64, options);
  ASSERT_TRUE(some.result.dram_sectors && some.result.l2_sectors);
  EXPECT_FALSE(all.result.dram_sectors);
  const CacheCounters& exact = all.result.counters.cache;
  const std::uint64_t dram = exact.dram_read_sectors + exact.dram_write_sectors;
  const std::uint64_t l2 = exact.l2_read_sectors + exact.l2_write_sectors + exact.l2_atomic_sectors;
  EXPECT_LE(some.result.dram_sectors->least, dram);
  EXPECT_GE(some.result.dram_sectors->most, dram);
  EXPECT_LE(some.result.l2_sectors->least, l2);
  EXPECT_GE(some.result.l2_sectors->most, l2);
  EXPECT_EQ(some.result.dram_sectors->least,
            4 * (64 * 24 + 64 * 8) / 32);  // of each block, the shared values among them
  EXPECT_EQ(some.result.counters.cache.dram_read_sectors + some.result.counters.cache.l1_sectors, 0U);
  EXPECT_EQ(some.result.counters.global_load.sectors, all.result.counters.global_load.sectors);
  options.caches = false;
  EXPECT_FALSE(run_body(body, in, 64, options).result.dram_sectors);
}

}  // namespace
}  // namespace corridor::ptx::testing
