// SPDX-License-Identifier: Apache-2.0
// Random programs on the simulated warps against an interpreter that is as plain as can be: one thread at a time, one
// value at a time, in the words of the PTX manual.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <random>

#include "corridor/ptx/functional/run_helper_test.h"

namespace corridor::ptx::testing {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

/// One thread. Memory: `in` at 2^20, its own eight bytes of shared memory, and the value it stores.
class PlainThread {
 public:
  PlainThread(const Function& function, const std::vector<std::uint64_t>& in, std::uint32_t block, std::uint32_t thread,
              std::uint32_t threads)
      : f_(function), in_(in), r_(function.registers.size()), block_(block), thread_(thread), threads_(threads) {}

  std::uint64_t run() {
    std::size_t at = 0;
    while (at < f_.body.size() && steps_++ < 100000) {
      const Instruction& i = f_.body[at++];
      if (i.guard != no_index && (r_[i.guard] != 0) == i.guard_negated) continue;
      if (i.opcode == "ret") break;
      if (i.opcode == "bra") {
        at = f_.labels[i.operands[0].index].target;
        continue;
      }
      step(i);
    }
    return out_;
  }

 private:
  static bool has(const Instruction& i, std::string_view word) {
    return std::find(i.modifiers.begin(), i.modifiers.end(), word) != i.modifiers.end();
  }
  std::uint64_t get(const Instruction& i, std::size_t k) const {
    const Operand& o = i.operands[k];
    if (o.kind == Operand::Kind::special)
      return o.name == "%tid.x" ? thread_ : o.name == "%ctaid.x" ? block_ : threads_;
    if (o.kind == Operand::Kind::reg) return r_[o.index];
    return o.bits;
  }
  /// The low bits of a value as the number that type T means.
  static Wide number(std::uint64_t v, char sign, unsigned bits) {
    const Wide size = Wide{1} << bits;
    const Wide low = static_cast<Wide>(v) & (size - 1);
    return sign == 's' && (low >> (bits - 1)) != 0 ? low - size : low;
  }
  void set(const Operand& o, std::uint64_t v) {
    const std::size_t bytes = bytes_of(f_.registers[o.index].type);
    r_[o.index] = bytes >= 8 || bytes == 0 ? v : v & ((std::uint64_t{1} << (8 * bytes)) - 1);
  }
  static float real(std::uint64_t v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v)); }
  static std::uint64_t bits(float v) { return v != v ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(v); }

  void step(const Instruction& i) {
    const std::string_view type = i.modifiers.empty() ? std::string_view() : i.modifiers.back();
    if (type == "f32" && i.opcode != "setp" && i.opcode != "selp" && i.opcode != "cvt")
      return set(i.operands[0], floating(i));
    if (i.opcode == "ld" || i.opcode == "st") return memory(i);
    if (i.opcode == "setp") return compare(i, type);
    if (i.opcode == "cvt") return convert(i);
    if (i.opcode == "selp") return set(i.operands[0], get(i, 3) != 0 ? get(i, 1) : get(i, 2));
    set(i.operands[0], integer(i, type));
  }

  std::uint64_t floating(const Instruction& i) const {
    const float a = real(get(i, 1)), b = i.operands.size() > 2 ? real(get(i, 2)) : 0;
    if (i.opcode == "add") return bits(a + b);
    if (i.opcode == "sub") return bits(a - b);
    if (i.opcode == "mul") return bits(a * b);
    if (i.opcode == "fma") return bits(std::fma(a, b, real(get(i, 3))));
    if (i.opcode == "neg") return bits(-a);
    if (i.opcode == "abs") return bits(std::fabs(a));
    if (a != a || b != b) return a != a && b != b ? bits(a) : bits(a != a ? b : a);
    if (a == b) return bits(i.opcode == "min" ? (std::signbit(a) ? a : b) : std::signbit(a) ? b : a);
    return bits(i.opcode == "min" ? std::min(a, b) : std::max(a, b));
  }

  std::uint64_t integer(const Instruction& i, std::string_view type) const {
    const auto width = static_cast<unsigned>(std::stoul(std::string(type.substr(1))));
    const auto value = [&](std::size_t k) { return number(get(i, k), type[0], width); };
    const std::string_view op = i.opcode;
    const Wide a = value(1), b = i.operands.size() > 2 ? value(2) : 0;
    const auto low = [](Wide v) { return static_cast<std::uint64_t>(v); };
    if (op == "mov") return low(a);
    if (op == "add") return low(a + b);
    if (op == "sub") return low(a - b);
    if (op == "mul" || op == "mad") {
      // Products of 64 bits fill all 128 and wrap when something is added.
      Wide product = static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b));
      if (has(i, "hi")) product >>= width;
      if (op == "mad") {
        const Wide c = has(i, "wide") ? number(get(i, 3), type[0], 2 * width) : value(3);
        product = static_cast<Wide>(static_cast<UnsignedWide>(product) + static_cast<UnsignedWide>(c));
      }
      return low(product);
    }
    if (op == "and") return low(a & b);
    if (op == "or") return low(a | b);
    if (op == "xor") return low(a ^ b);
    if (op == "not") return low(~a);
    if (op == "neg") return low(-a);
    if (op == "abs") return low(a < 0 ? -a : a);
    if (op == "min") return low(std::min(a, b));
    if (op == "max") return low(std::max(a, b));
    if (op == "div") return b == 0 ? ~std::uint64_t{0} : low(a / b);
    if (op == "rem") return b == 0 ? low(a) : low(a % b);
    const std::uint64_t by = i.operands.size() > 2 ? get(i, 2) & 0xFFFFFFFF : 0;
    if (op == "shl") return by >= width ? 0 : low(a << by);
    if (op == "shr") return low(a >> std::min<std::uint64_t>(by, width));
    if (op == "popc" || op == "clz" || op == "brev") {
      std::uint64_t ones = 0, zeros = 0, turned = 0;
      for (unsigned k = 0; k < width; ++k) {
        const auto bit = static_cast<std::uint64_t>((a >> k) & 1);
        ones += bit;
        zeros = bit != 0 ? 0 : zeros + 1;
        turned |= bit << (width - 1 - k);
      }
      return op == "popc" ? ones : op == "clz" ? zeros : turned;
    }
    if (op == "sad") return low(value(3) + (a < b ? b - a : a - b));
    if (op == "prmt") {
      std::uint64_t out = 0;
      const std::uint64_t both = low(a) | (low(b) << 32);
      for (unsigned k = 0; k < 4; ++k) {
        const std::uint64_t pick = (get(i, 3) >> (4 * k)) & 15, byte = (both >> (8 * (pick & 7))) & 255;
        out |= (pick >= 8 ? (byte >= 128 ? 255 : 0) : byte) << (8 * k);
      }
      return out;
    }
    ADD_FAILURE() << "the plain interpreter does not know " << op;
    return 0;
  }

  void compare(const Instruction& i, std::string_view type) {
    bool result = false;
    const auto decide = [&](auto a, auto b) {
      result = has(i, "eq")   ? a == b
               : has(i, "ne") ? a < b || a > b
               : has(i, "lt") ? a < b
               : has(i, "le") ? a <= b
               : has(i, "gt") ? a > b
                              : a >= b;
    };
    if (type == "f32") {
      decide(real(get(i, 1)), real(get(i, 2)));
    } else {
      const auto width = static_cast<unsigned>(std::stoul(std::string(type.substr(1))));
      decide(number(get(i, 1), type[0], width), number(get(i, 2), type[0], width));
    }
    set(i.operands[0], result ? 1 : 0);
  }

  void convert(const Instruction& i) {
    const std::string_view to = i.modifiers[i.modifiers.size() - 2], from = i.modifiers.back();
    const auto width = [](std::string_view t) { return static_cast<unsigned>(std::stoul(std::string(t.substr(1)))); };
    if (from == "f32") {  // to an integer, towards zero
      const float v = real(get(i, 1));
      const Wide least = to[0] == 's' ? -(Wide{1} << (width(to) - 1)) : 0;
      const Wide most = (Wide{1} << (width(to) - (to[0] == 's' ? 1 : 0))) - 1;
      const Wide cut = v != v ? 0 : v >= 0x1p100F ? most : v <= -0x1p100F ? least : static_cast<Wide>(v);
      return set(i.operands[0], static_cast<std::uint64_t>(std::clamp(cut, least, most)));
    }
    const Wide v = number(get(i, 1), from[0], width(from));
    if (to == "f32") return set(i.operands[0], bits(static_cast<float>(static_cast<std::int64_t>(v))));
    set(i.operands[0], static_cast<std::uint64_t>(number(static_cast<std::uint64_t>(v), to[0], width(to))));
  }

  void memory(const Instruction& i) {
    const bool is_load = i.opcode == "ld";
    const Operand& place = i.operands[is_load ? 1 : 0];
    if (has(i, "param")) return set(i.operands[0], place.name == "in" ? base_in : base_out);
    if (has(i, "shared")) {
      if (is_load) return set(i.operands[0], shared_);
      shared_ = get(i, 1);
      return;
    }
    const std::uint64_t address = r_[place.index] + static_cast<std::uint64_t>(place.offset);
    if (is_load) return set(i.operands[0], in_[(address - base_in) / 8]);
    out_ = get(i, 1);
  }

  static constexpr std::uint64_t base_in = 1 << 20, base_out = std::uint64_t{1} << 40;
  const Function& f_;
  const std::vector<std::uint64_t>& in_;
  std::vector<std::uint64_t> r_;
  std::uint64_t out_ = 0, shared_ = 0;
  std::uint64_t block_, thread_, threads_;
  int steps_ = 0;
};

/// Writes random code: arithmetic on eight words, four double words and three predicates, branches and short loops.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}
  std::string body() {
    text_ = "  mov.b32 %r1, %ra;\n  mov.b32 %r2, %rb;\n  mov.b32 %r3, %rc;\n  mov.u32 %r4, %tid.x;\n";
    text_ +=
        "  shl.b32 %r50, %r62, 3;\n  mov.u32 %r51, cells;\n  add.u32 %r50, %r50, %r51;\n  st.shared.u32 [%r50], %ra;\n";
    text_ +=
        "  add.u32 %r5, %ra, 7;\n  xor.b32 %r6, %rb, %rc;\n  mov.b32 %r7, 0x3f800000;\n  mov.b32 %r8, 0x80000000;\n";
    text_ += "  mov.b64 %q1, %a;\n  mov.b64 %q2, %b;\n  mov.b64 %q3, %c;\n  cvt.u64.u32 %q4, %r62;\n";
    for (int k = 1; k < 4; ++k) text_ += fmt::format("  setp.lt.s32 %p{}, %r{}, %r{};\n", k, k, k + 3);
    block(3);
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
  std::string p() { return fmt::format("%p{}", 1 + below(3)); }

  void line() {
    const std::string guard = below(5) == 0 ? (below(2) == 0 ? "@" : "@!") + p() + " " : "";
    const std::string t32 = pick({"u32", "s32"}), t64 = pick({"u64", "s64"});
    std::string code;
    switch (below(20)) {
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
      default:
        code = below(2) == 0 ? "st.shared.u32 [%r50], " + r() : "ld.shared.u32 " + r() + ", [%r50]";
    }
    text_ += "  " + guard + code + ";\n";
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
      } else {
        line();
      }
    }
  }

  std::mt19937_64 random_;
  std::string text_;
  int label_ = 0;
};

TEST(Differential, RandomProgramsGiveTheSameBits) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> in(std::size_t{3} * 40);
    for (std::uint64_t& v : in) v = random() >> (random() % 64);
    const std::string text = kernel_around(Writer(seed).body(), ".shared .align 8 .b8 cells[512];");
    RunOptions options;
    options.caches = false;
    const Ran ran = run_module(text, in, Dim3{1}, Dim3{40}, options);  // a whole warp, and one of 8 lanes
    ASSERT_EQ(faults_of(ran), "") << text;
    const auto module = parse_module(text, "test.ptx");
    ASSERT_TRUE(module);
    for (std::uint32_t thread = 0; thread < 40; ++thread) {
      ASSERT_EQ(ran.out[thread], PlainThread(module->functions[0], in, 0, thread, 40).run())
          << "seed " << seed << " thread " << thread << "\n"
          << text;
    }
  }
}

}  // namespace
}  // namespace corridor::ptx::testing
