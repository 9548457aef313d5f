// SPDX-License-Identifier: Apache-2.0
// Random programs on the simulated warps against an interpreter that is as plain as can be: one thread at a time, one
// value at a time, in the words of the PTX manual.
#include <gtest/gtest.h>

#include <random>

#include "corridor/ptx/functional/plain_block_test.h"
#include "corridor/ptx/functional/run_helper_test.h"

namespace corridor::ptx::testing {
namespace {

/// Writes random code: arithmetic on eight words, four double words and three predicates, branches and short loops.
class Writer {
 public:
  Writer(std::uint64_t seed, bool whole_warps) : random_(seed), whole_warps_(whole_warps) {}
  std::string body() {
    text_ = "  mov.b32 %r1, %ra;\n  mov.b32 %r2, %rb;\n  mov.b32 %r3, %rc;\n  mov.u32 %r4, %tid.x;\n";
    text_ +=
        "  shl.b32 %r50, %r62, 3;\n  mov.u32 %r51, cells;\n  add.u32 %r50, %r50, %r51;\n  st.shared.u32 [%r50], %ra;\n";
    text_ +=
        "  add.u32 %r5, %ra, 7;\n  xor.b32 %r6, %rb, %rc;\n  mov.b32 %r7, 0x3f800000;\n  mov.b32 %r8, 0x80000000;\n";
    text_ += "  mov.b32 {%h1, %h2}, %rb;\n  mov.b32 {%h3, %h4}, %rc;\n";
    text_ += "  mov.b64 %q1, %a;\n  mov.b64 %q2, %b;\n  mov.b64 %q3, %c;\n  cvt.u64.u32 %q4, %r62;\n";
    for (int k = 1; k < 4; ++k) text_ += fmt::format("  setp.lt.s32 %p{}, %r{}, %r{};\n", k, k, k + 3);
    block(3);
    text_ += "  mov.b32 %r49, {%h1, %h4};\n  xor.b32 %r2, %r2, %r49;\n";
    text_ += "  cvt.u64.u32 %d, %r1;\n  shl.b64 %d, %d, 32;\n  xor.b64 %d, %d, %q1;\n";
    for (int k = 2; k < 9; ++k) text_ += fmt::format("  cvt.u64.u32 %q10, %r{};\n  mad.lo.u64 %d, %d, 31, %q10;\n", k);
    for (int k = 2; k < 5; ++k) text_ += fmt::format("  mad.lo.u64 %d, %d, 31, %q{};\n", k);
    return text_;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::string pick(std::initializer_list<const char*> words) { return *(words.begin() + below(words.size())); }
  std::string r() { return fmt::format("%r{}", 1 + below(8)); }
  std::string q() { return fmt::format("%q{}", 1 + below(4)); }
  std::string rv() {
    return below(4) == 0 ? std::to_string(static_cast<std::int32_t>(random_() >> (32 + below(32)))) : r();
  }
  std::string h() { return fmt::format("%h{}", 1 + below(4)); }
  std::string p() { return fmt::format("%p{}", 1 + below(3)); }

  void line() {
    const std::string guard = below(5) == 0 ? (below(2) == 0 ? "@" : "@!") + p() + " " : "";
    const std::string t32 = pick({"u32", "s32"}), t64 = pick({"u64", "s64"});
    std::string code;
    switch (below(26)) {
      case 0:
        code = fmt::format("{}.{} {}, {}, {}", pick({"add", "sub", "min", "max", "mul.lo", "mul.hi", "div", "rem"}),
                           t32, r(), r(), rv());
        break;
      case 1:
        code = fmt::format("{}.{} {}, {}, {}", pick({"add", "sub", "min", "max", "mul.lo", "mul.hi", "div", "rem"}),
                           t64, q(), q(), q());
        break;
      case 2:
        code = fmt::format("{}.b32 {}, {}, {}", pick({"and", "or", "xor", "shl"}), r(), r(), rv());
        break;
      case 3:
        code = fmt::format("{}.b64 {}, {}, {}", pick({"and", "or", "xor"}), q(), q(), q());
        break;
      case 4:
        code = fmt::format("{} {}, {}, {}", pick({"shr.u32", "shr.s32", "shl.b32"}), r(), r(), below(40));
        break;
      case 5:
        code = fmt::format("{} {}, {}, {}", pick({"shr.u64", "shr.s64", "shl.b64"}), q(), q(), r());
        break;
      case 6:
        code = fmt::format("{}.{} {}, {}, {}, {}", pick({"mad.lo", "mad.hi", "sad"}), t32, r(), r(), r(), rv());
        break;
      case 7:
        code = fmt::format("{}.wide.{} {}, {}, {}", "mul", t32, q(), r(), rv());
        break;
      case 8:
        code = fmt::format("mad.wide.{} {}, {}, {}, {}", t32, q(), r(), rv(), q());
        break;
      case 9:
        code = fmt::format("{} {}, {}", pick({"popc.b32", "clz.b32", "brev.b32", "neg.s32", "abs.s32", "not.b32"}), r(),
                           r());
        break;
      case 10:
        code = fmt::format("{}.f32 {}, {}, {}", pick({"add", "sub", "mul", "min", "max", "add.rn", "mul.rn"}), r(), r(),
                           r());
        break;
      case 11:
        code = fmt::format("fma.rn.f32 {}, {}, {}, {}", r(), r(), r(), r());
        break;
      case 12:
        code = fmt::format("setp.{}.{} {}, {}, {}", pick({"eq", "ne", "lt", "le", "gt", "ge"}),
                           pick({"u32", "s32", "f32"}), p(), r(), r());
        break;
      case 13:
        code = fmt::format("setp.{}.{} {}, {}, {}", pick({"eq", "ne", "lt", "le", "gt", "ge"}), t64, p(), q(), q());
        break;
      case 14:
        code = fmt::format("selp.b32 {}, {}, {}, {}", r(), r(), rv(), p());
        break;
      case 15:
        code = fmt::format(
            "cvt.{} {}, {}",
            pick({"rzi.s32.f32", "rzi.u32.f32", "rn.f32.s32", "rn.f32.u32", "s32.s8", "u32.u16", "s32.s16"}), r(), r());
        break;
      case 16:
        code = fmt::format("cvt.{} {}, {}", pick({"u64.u32", "s64.s32"}), q(), r());
        break;
      case 17:
        code = fmt::format("cvt.{} {}, {}", pick({"u32.u64", "s32.s64"}), r(), q());
        break;
      case 18:
        code = fmt::format("prmt.b32 {}, {}, {}, {}", r(), r(), r(), below(65536));
        break;
      case 19:
      case 20:
        code = fmt::format("{} {}, {}, {}",
                           pick({"add.f16x2", "sub.f16x2", "mul.f16x2", "min.f16x2", "max.f16x2", "add.rn.bf16x2",
                                 "mul.rn.bf16x2", "min.bf16x2", "max.bf16x2"}),
                           r(), r(), r());
        break;
      case 21:
        code = fmt::format("fma.rn.f16x2 {}, {}, {}, {}", r(), r(), r(), r());
        break;
      case 22:
        code = fmt::format("{} {}, {}, {}", pick({"add.f16", "sub.f16", "mul.f16", "min.f16", "add.rn.bf16"}), h(), h(),
                           h());
        break;
      case 23:
        code = below(2) == 0 ? fmt::format("cvt.f32.{} {}, {}", pick({"f16", "bf16"}), r(), h())
                             : fmt::format("cvt.rn.{}.f32 {}, {}", pick({"f16", "bf16"}), h(), r());
        break;
      case 24:
        code = below(2) == 0 ? fmt::format("cvt.rn.{}.f32 {}, {}, {}", pick({"f16x2", "bf16x2"}), r(), r(), r())
                             : fmt::format("{} {}, {}", pick({"neg.f16x2", "abs.f16x2", "neg.bf16x2"}), r(), r());
        break;
      default:
        code = below(2) == 0 ? "st.shared.u32 [%r50], " + r() : "ld.shared.u32 " + r() + ", [%r50]";
    }
    text_ += "  " + guard + code + ";\n";
  }

  /// What a warp or block does together: all threads are here.
  void together() {
    const std::string all = "0xffffffff";
    switch (below(whole_warps_ ? 7 : 1)) {
      case 0:
        text_ += fmt::format(
            "  bar.sync 0;\n  mad.lo.u32 %r48, %r62, 7, {};\n  rem.u32 %r48, %r48, {};\n  shl.b32 %r48, %r48, 3;\n"
            "  add.u32 %r48, %r48, %r51;\n  ld.shared.u32 {}, [%r48];\n  bar.sync 0;\n",
            below(40), whole_warps_ ? 64 : 40, r());
        break;
      case 1:
      case 2:
        text_ += fmt::format("  shfl.sync.{}.b32 {}|{}, {}, {}, {}, {};\n", pick({"up", "down", "bfly", "idx"}), r(),
                             p(), r(), rv(), pick({"0", "31", "0x181f", "0x1807", "0x1c00"}), all);
        break;
      case 3:
        text_ += fmt::format("  vote.sync.{}.pred {}, {}{}, {};\n", pick({"all", "any", "uni"}), p(),
                             below(2) == 0 ? "!" : "", p(), all);
        text_ += fmt::format("  vote.sync.ballot.b32 {}, {}, {};\n", r(), p(), all);
        break;
      case 4:
        text_ += fmt::format("  and.b32 %r48, {}, 3;\n  match.any.sync.b32 {}, %r48, {};\n", r(), r(), all);
        text_ += fmt::format("  match.all.sync.b32 {}|{}, {}, {};\n", r(), p(), r(), all);
        break;
      case 5:
        text_ +=
            fmt::format("  redux.sync.{} {}, {}, {};\n",
                        pick({"add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"}),
                        r(), r(), all);
        break;
      default:
        text_ += fmt::format("  bar.red.popc.u32 {}, 0, {};\n", r(), p());
    }
  }

  void block(int depth) {
    const std::uint64_t lines = 3 + below(8);
    for (std::uint64_t k = 0; k < lines; ++k) {
      const std::uint64_t kind = depth > 0 ? below(10) : 9;
      const int label = label_;
      if (kind == 0) {
        label_ += 2;
        const std::string c = p();
        text_ += fmt::format("  @{} bra L{};\n", c, label);
        block(depth - 1);
        text_ += fmt::format("  bra L{};\nL{}:\n", label + 1, label);
        block(depth - 1);
        text_ += fmt::format("L{}:\n", label + 1);
      } else if (kind == 1) {
        ++label_;
        const int counter = 20 + label;
        if (counter > 45) continue;
        text_ += fmt::format("  and.b32 %r{}, {}, 3;\nL{}:\n", counter, r(), label);
        block(depth - 1);
        text_ +=
            fmt::format("  sub.s32 %r{0}, %r{0}, 1;\n  setp.ge.s32 %p5, %r{0}, 0;\n  @%p5 bra L{1};\n", counter, label);
      } else if (depth == 3 && kind < 6) {
        together();
      } else {
        line();
      }
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  bool whole_warps_;
  int label_ = 0;
};

TEST(Differential, RandomProgramsGiveTheSameBits) {
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    const std::uint32_t threads = seed % 2 == 0 ? 64 : 40;  // whole warps, or one of 8 lanes
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> in(std::size_t{3} * threads);
    for (std::uint64_t& v : in) v = random() >> (random() % 64);
    const std::string text = kernel_around(Writer(seed, threads == 64).body(), ".shared .align 8 .b8 cells[512];");
    RunOptions options;
    options.caches = false;
    const Ran ran = run_module(text, in, Dim3{1}, Dim3{threads}, options);
    ASSERT_EQ(faults_of(ran), "") << text;
    const auto module = parse_module(text, "test.ptx");
    ASSERT_TRUE(module);
    const auto expected = PlainBlock(*module, module->functions[0], in, threads).run();
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      ASSERT_EQ(ran.out[thread], expected[thread]) << "seed " << seed << " thread " << thread << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace corridor::ptx::testing
