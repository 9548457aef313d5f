// SPDX-License-Identifier: Apache-2.0
// The quick handlers of whole warps against the general ones: results, counters, lines and faults are the same.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>
#include <sstream>

#include "corridor/ptx/functional/device_memory.h"
#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/lane_kernels.h"
#include "corridor/ptx/functional/program_state.h"
#include "corridor/ptx/functional/run_helper_test.h"
#include "corridor/ptx/functional/shared_words.h"

namespace corridor::ptx::testing {
namespace {

/// Two warps put words `step` bytes apart from `start`, perhaps meet at a barrier, and read their own, those of the
/// other warp, one for all, pairs and quads. Inputs: step and start, the barrier, the lanes that take part.
constexpr const char* body = R"(
  .shared .align 16 .b8 words[4096];
  mov.u32 %r1, words;
  add.u32 %r2, %r1, %rb;
  mad.lo.u32 %r3, %r62, %ra, %r2;
  shr.u64 %q1, %b, 32;
  cvt.u32.u64 %r4, %q1;
  and.b32 %r5, %r62, 31;
  shr.u32 %r6, %r4, %r5;
  and.b32 %r6, %r6, 1;
  setp.ne.u32 %p1, %r6, 0;
  @%p1 st.shared.u32 [%r3], %r62;
  st.shared.u32 [words+4064], 7;
  setp.eq.u32 %p2, %rc, 0;
  @%p2 bra NO_BARRIER;
  bar.sync 0;
NO_BARRIER:
  ld.shared.u32 %r7, [%r3];
  xor.b32 %r8, %r62, 32;
  mad.lo.u32 %r9, %r8, %ra, %r2;
  @%p1 ld.shared.u32 %r10, [%r9];
  cvt.u64.u32 %q2, %r9;
  ld.shared.u32 %r11, [%q2+4];
  ld.shared.u32 %r12, [%r2];
  ld.shared.u32 %r13, [words+4064];
  mad.lo.u32 %r14, %r62, 16, %r1;
  ld.shared.v4.u32 {%r15, %r16, %r17, %r18}, [%r14];
  st.shared.v2.u32 [%r14+1024], {%r15, %r17};
  ld.shared.u64 %q3, [%r14+1024];
  add.u32 %r7, %r7, %r10;
  mad.lo.u32 %r7, %r7, 31, %r11;
  mad.lo.u32 %r7, %r7, 31, %r12;
  mad.lo.u32 %r7, %r7, 31, %r13;
  mad.lo.u32 %r7, %r7, 31, %r16;
  mad.lo.u32 %r7, %r7, 31, %r18;
  cvt.u64.u32 %d, %r7;
  add.u64 %d, %d, %q3;
)";

/// All that a run tells, as text.
std::string told(const Program& program, const std::vector<std::uint64_t>& in, bool check) {
  DeviceMemory memory(std::uint64_t{1} << 20);
  constexpr std::uint32_t threads = 64;
  const auto from = memory.allocate(in.size() * 8, "in");
  const auto to = memory.allocate(threads * 8, "out");
  (void)memory.write(*from, std::as_bytes(std::span(in)));
  Launch launch;
  launch.kernel = "k";
  launch.block = {threads};
  launch.add_argument(*from);
  launch.add_argument(*to);
  RunOptions options;
  options.check = check;
  options.trace_blocks = 1;
  const auto ran = run(program, launch, memory, small_device(), options);
  if (!ran) return ran.error().line();
  std::ostringstream out;
  for (const NamedCounter& c : named(ran->counters)) out << c.name << ' ' << c.value << '\n';
  for (const AccessCounters& a : {ran->counters.shared_load, ran->counters.shared_store}) {
    out << a.requests << ' ' << a.wavefronts << ' ' << a.ideal_wavefronts << ' ' << a.bytes << '\n';
  }
  for (const LineCounters& l : ran->lines) {
    out << l.line << ' ' << l.warp_instructions << ' ' << l.thread_instructions_on << ' ' << l.sectors << ' '
        << l.wavefronts << ' ' << l.conflicts << ' ' << l.flops << '\n';
  }
  for (const Fault& f : ran->faults) out << f.message << " ×" << f.count << '\n';
  for (const WarpTrace& t : ran->traces) {
    for (const TraceEntry& e : t.entries) out << e.instruction << ':' << e.sectors << ':' << e.wavefronts << ' ';
  }
  std::vector<std::uint64_t> results(threads);
  (void)memory.read(*to, std::as_writable_bytes(std::span(results)));
  for (const std::uint64_t r : results) out << r << ' ';
  return out.str();
}

TEST(QuickPaths, TellTheSameAsTheGeneralOnes) {
  const std::string text = kernel_around(body);
  const auto quick = Program::compile(*parse_module(text, "test.ptx"));
  const auto general = Program::compile(*parse_module(text, "test.ptx"));
  ASSERT_TRUE(quick && general);
  int replaced = 0;
  for (Op& op : const_cast<Program::State&>(general->state()).ops) {
    for (const int wide : {0, 1}) {
      const bool is_load = op.run == shared_kernels().load_word[wide];
      if (!is_load && op.run != shared_kernels().store_word[wide]) continue;
      op.run = is_load ? &load_shared : &store_shared;
      ++replaced;
    }
  }
  EXPECT_EQ(replaced, 7);
  int with_faults = 0, clean = 0;
  for (const std::uint64_t step : {0, 2, 4, 8, 16, 132, -4}) {
    for (const std::uint64_t start : {0, 6, 512, 3900, 1 << 20}) {
      for (const std::uint64_t lanes : {0xFFFFFFFFU, 0x7FFFFFFFU}) {
        for (const std::uint64_t barrier : {0, 1}) {
          std::vector<std::uint64_t> in;
          for (int thread = 0; thread < 64; ++thread) {
            in.insert(in.end(), {step & 0xFFFFFFFF, lanes << 32 | start, barrier});
          }
          for (const bool check : {false, true}) {
            const std::string one = told(*quick, in, check), other = told(*general, in, check);
            EXPECT_EQ(one, other) << step << ' ' << start << ' ' << lanes << ' ' << barrier << ' ' << check;
            ++(one.find("(kernel k") == std::string::npos ? clean : with_faults);
          }
        }
      }
    }
  }
  EXPECT_GT(with_faults, 20);
  EXPECT_GT(clean, 20);
}

TEST(LaneAddresses, AgreeWithTheirDefinition) {
  std::mt19937_64 random(7);
  using Shape = LaneAddresses::Shape;
  int seen[3] = {};
  for (int turn = 0; turn < 4000; ++turn) {
    const std::uint32_t stride = std::uint32_t{1} << random() % 6;
    const bool narrow = random() % 2 == 0;
    const std::uint64_t step = std::array<std::uint64_t, 4>{0, stride, 2 * stride, ~std::uint64_t{3}}[random() % 4];
    const std::uint64_t odd = random() % 3 == 0 ? std::uint64_t{1} << random() % 32 : 0;  // one lane elsewhere
    const std::uint32_t odd_lane = random() % 32;
    auto mask = static_cast<std::uint32_t>(random() % 2 == 0 ? all_lanes : random());
    if (random() % 4 == 0) mask = 1U << random() % 32;
    if (mask == 0) mask = 1;
    const std::uint64_t start = narrow ? random() % 100000 : random();
    const auto offset = static_cast<std::int64_t>(random() % 4096) - 2048;
    alignas(64) std::uint64_t wide_row[32];
    alignas(64) std::uint32_t narrow_row[32];
    std::uint64_t least = ~std::uint64_t{0}, most = 0, together = 0;
    LaneAddresses a;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      wide_row[lane] = start + lane * step + (lane == odd_lane ? odd : 0);
      narrow_row[lane] = static_cast<std::uint32_t>(wide_row[lane]);
    }
    lane_kernels().addresses(narrow ? static_cast<const void*>(narrow_row) : wide_row, narrow, offset, mask, stride, a);
    const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
    bool row = true, uniform = true;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t at = (narrow ? narrow_row[lane] : wide_row[lane]) + static_cast<std::uint64_t>(offset);
      ASSERT_EQ(a.of[lane], at);
      if (((mask >> lane) & 1) == 0) continue;
      least = std::min(least, at);
      most = std::max(most, at);
      together |= at;
      row = row && at == a.of[first] + std::uint64_t{stride} * (lane - first);
      uniform = uniform && at == a.of[first];
    }
    row = row && least == a.of[first];  // a row that runs over the end of the addresses is none
    ASSERT_EQ(a.shape, row ? Shape::row : uniform ? Shape::uniform : Shape::scattered) << turn;
    ASSERT_EQ(a.first_lane, first);
    ASSERT_EQ(a.least, least);
    ASSERT_EQ(a.most, most);
    ASSERT_EQ(a.together & (stride - 1), together & (stride - 1));
    ++seen[static_cast<int>(a.shape)];
  }
  for (const int count : seen) EXPECT_GT(count, 100);
}

TEST(DeviceMemory, PiecesOneAfterTheOtherFillABuffer) {
  DeviceMemory memory(std::uint64_t{1} << 20);
  const std::vector<std::byte> piece(32);
  const auto in_order = memory.allocate(96, "in order"), with_gap = memory.allocate(96, "with gap");
  const auto bits_of = [&](std::size_t i) -> const Allocation& { return *memory.state().allocations[i]; };
  for (const std::uint64_t at : {0, 32, 64}) {
    EXPECT_NE(bits_of(0).written, nullptr);
    ASSERT_TRUE(memory.write(*in_order + at, piece));
  }
  EXPECT_EQ(bits_of(0).written, nullptr);  // all of it: nobody needs to look
  for (const std::uint64_t at : {0, 64}) ASSERT_TRUE(memory.write(*with_gap + at, piece));
  EXPECT_TRUE(was_written(bits_of(1), 0, 32) && was_written(bits_of(1), 64, 32));
  EXPECT_FALSE(was_written(bits_of(1), 60, 8));
  ASSERT_TRUE(memory.write(*with_gap + 32, piece));
  EXPECT_TRUE(was_written(bits_of(1), 0, 96));
}

}  // namespace
}  // namespace corridor::ptx::testing
