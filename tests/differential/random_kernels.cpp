// SPDX-License-Identifier: Apache-2.0
// Writes the source line by line; every choice is the next number of one generator.
#include "differential/random_kernels.h"

#include <initializer_list>
#include <random>

#include <fmt/format.h>

namespace corridor::testing {
namespace {

constexpr const char* prelude =
    R"(typedef unsigned u32; typedef int s32; typedef unsigned long long u64; typedef long long s64;
typedef unsigned short u16; typedef short s16; typedef unsigned char u8; typedef signed char s8;
#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define NOINLINE __attribute__((noinline))
#define TID __nvvm_read_ptx_sreg_tid_x()
#define CTA __nvvm_read_ptx_sreg_ctaid_x()
#define BARRIER __nvvm_barrier_sync(0)
#define SHFL_XOR(v, m) (u32) __nvvm_shfl_sync_bfly_i32(~0u, (s32)(v), m, 31)
#define SHFL(v, l) (u32) __nvvm_shfl_sync_idx_i32(~0u, (s32)(v), l, 31)
#define SHFL_UP(v, n) (u32) __nvvm_shfl_sync_up_i32(~0u, (s32)(v), n, 0)
#define BALLOT(c) __nvvm_vote_ballot_sync(~0u, c)
#define ALL(c) __nvvm_vote_all_sync(~0u, c)
#define POPC __builtin_popcount
#define FMA __builtin_fmaf
#define FMAD __builtin_fma
#define SQRT(x) __nvvm_sqrt_rn_f((x) < 0 ? -(x) : (x))
#define ADD_TO(p, v) __nvvm_atom_add_gen_i((int*)(p), (int)(v))
#define MAX_TO(p, v) __nvvm_atom_max_gen_ui(p, v)
#else
#define NOINLINE __noinline__
#define TID threadIdx.x
#define CTA blockIdx.x
#define BARRIER __syncthreads()
#define SHFL_XOR(v, m) __shfl_xor_sync(~0u, (u32)(v), m)
#define SHFL(v, l) __shfl_sync(~0u, (u32)(v), l)
#define SHFL_UP(v, n) __shfl_up_sync(~0u, (u32)(v), n)
#define BALLOT(c) __ballot_sync(~0u, c)
#define ALL(c) __all_sync(~0u, c)
#define POPC __popc
#define FMA fmaf
#define FMAD fma
#define SQRT(x) sqrtf((x) < 0 ? -(x) : (x))
#define ADD_TO(p, v) atomicAdd(p, v)
#define MAX_TO(p, v) atomicMax(p, v)
#endif
union Word { u32 u; float f; };
union Long { u64 u; double d; };
__device__ static inline u32 bits(float f) { Word w; w.f = f; return f == f ? w.u : 0x7fc00000u; }
__device__ static inline u64 bits(double d) { Long l; l.d = d; return d == d ? l.u : 0x7ff8000000000000ull; }
__device__ static inline float real(u32 u) { Word w; w.u = u; return w.f; }
__device__ static inline double real(u64 u) { Long l; l.u = u; return l.d; }
__device__ static inline s32 quotient(s32 a, s32 b) { return b == 0 || b == -1 ? a ^ 5 : a / b; }
__device__ static inline s32 rest(s32 a, s32 b) { return b == 0 || b == -1 ? a ^ 9 : a % b; }
__device__ static inline s64 quotient(s64 a, s64 b) { return b == 0 || b == -1 ? a ^ 5 : a / b; }
__device__ static inline s32 cut(float f) { return f > -2e9f && f < 2e9f ? (s32)f : 77; }
__device__ static inline u32 cut_u(float f) { return f > -0.5f && f < 4e9f ? (u32)f : 78u; }
__device__ static inline s64 cut(double d) { return d > -9e18 && d < 9e18 ? (s64)d : 79; }
struct Pair { u32 u; u64 w; float f; };
)";

/// Writes one kernel, and the functions that it calls.
class KernelWriter {
 public:
  explicit KernelWriter(std::mt19937_64& random) : random_(random) {}

  std::string write(int number) {
    name_ = fmt::format("k{}", number);
    for (int f = 0; f < functions; ++f) device_function(f);
    in_function_ = false;
    text_ += fmt::format("extern \"C\" __global__ void {}(const u64* in, u64* out) {{\n", name_);
    text_ += "  __shared__ u32 cells[64];\n  __shared__ u32 sums[4];\n";
    text_ += "  const u32 id = CTA * 64 + TID;\n";
    text_ += "  u64 w0 = in[3 * id], w1 = in[3 * id + 1], w2 = in[3 * id + 2];\n";
    text_ += "  u32 u0 = (u32)w0, u1 = (u32)w1, u2 = (u32)w2, u3 = TID, u4 = (u32)(w1 >> 32), u5 = ~u0;\n";
    text_ += "  u16 h0 = (u16)w2, h1 = (u16)(w0 >> 7); s8 c0 = (s8)w1;\n";
    text_ += "  float f0 = (float)(s32)u0, f1 = real(u1), f2 = 0.75f; double d0 = real(w2), d1 = (double)(s64)w0;\n";
    text_ += "  u32 list[8]; for (u32 i = 0; i < 8; ++i) list[i] = u1 * i + u2;\n";
    text_ += "  cells[TID] = u1; if (TID < 4) sums[TID] = 0;\n  BARRIER;\n";
    const std::uint64_t parts = 3 + below(4);
    for (std::uint64_t k = 0; k < parts; ++k) {
      block(2, 1);
      together();
    }
    text_ += "  u64 r = w0 ^ w1 * 31 ^ w2 * 17;\n";
    text_ +=
        "  r = r * 31 + u0; r = r * 31 + u1; r = r * 31 + u2; r = r * 31 + u3; r = r * 31 + u4; r = r * 31 + u5;\n";
    text_ += "  r = r * 31 + h0; r = r * 31 + h1; r = r * 31 + (u64)(s64)c0;\n";
    text_ += "  r = r * 31 + bits(f0); r = r * 31 + bits(f1); r = r * 31 + bits(f2);\n";
    text_ += "  r = r * 31 + bits(d0); r = r * 31 + bits(d1);\n";
    text_ += "  for (u32 i = 0; i < 8; ++i) r = r * 31 + list[i];\n";
    text_ += "  out[id] = r;\n}\n";
    return text_;
  }

 private:
  static constexpr int functions = 2;
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::string pick(std::initializer_list<const char*> words) { return *(words.begin() + below(words.size())); }
  std::string u() { return fmt::format("u{}", below(in_function_ ? 2 : 6)); }
  std::string w() { return fmt::format("w{}", below(in_function_ ? 1 : 3)); }
  std::string f() { return fmt::format("f{}", below(in_function_ ? 1 : 3)); }
  std::string number() { return fmt::format("{}u", static_cast<std::uint32_t>(random_() >> (32 + below(32)))); }
  std::string uv() { return below(4) == 0 ? number() : u(); }

  /// A word, one operation deep.
  std::string word() {
    switch (below(24)) {
      case 0:
      case 1:
        return fmt::format("{} {} {}", u(), pick({"+", "-", "*", "&", "|", "^"}), uv());
      case 2:
        return fmt::format("{} {} ({} | 1u)", u(), pick({"/", "%"}), uv());
      case 3:
        return fmt::format("{} {} ({} & 31u)", u(), pick({"<<", ">>"}), uv());
      case 4:
        return fmt::format("(u32)((s32){} >> ({} & 31u))", u(), uv());
      case 5:
        return fmt::format("(u32){}((s32){}, (s32){})", pick({"quotient", "rest"}), u(), uv());
      case 6:
        return fmt::format("(u32)(((u64){} * {}) >> 32)", u(), uv());
      case 7:
        return fmt::format("(u32)((u64)((s64)(s32){} * (s64)(s32){}) >> 32)", u(), uv());
      case 8: {
        const std::string a = u();
        const std::uint64_t by = 1 + below(31);
        return fmt::format("({0} << {1}) | ({0} >> {2})", a, by, 32 - by);
      }
      case 9:
        return fmt::format("({} >> {}) & {}u", u(), below(28), (std::uint64_t{1} << (1 + below(12))) - 1);
      case 10:
        return fmt::format("(u32)(s32)({}){}", pick({"s8", "s16", "u8", "u16"}), u());
      case 11: {
        const std::string type = pick({"s32", "u32"});
        const std::string a = u(), b = u();
        return fmt::format("({0}){1} {2} ({0}){3} ? {1} : {3}", type, a, pick({"<", ">"}), b);
      }
      case 12:
        return fmt::format("({}){} {} ({}){} ? {} : {}", "s32", u(), pick({"<", "<=", "==", "!="}), "s32", uv(), u(),
                           uv());
      case 13:
        return fmt::format("(u32)POPC({})", u());
      case 14:
        return fmt::format("(u32)({} >> {})", w(), below(40));
      case 15:
        return fmt::format("(u32)({}{} {} {})", pick({"", "!"}), "(" + f(), pick({"<", "<=", ">", ">=", "==", "!="}),
                           f() + ")");
      case 16:
        return fmt::format("{}({})", pick({"(u32)cut", "cut_u"}), f());
      case 17:
        return fmt::format("bits({})", f());
      case 18:
        return fmt::format("table[{} & 15u]", u());
      case 19:
        return in_function_ ? fmt::format("~{}", u()) : fmt::format("list[{} & 7u]", u());
      case 20:
        return in_function_ ? fmt::format("0u - {}", u())
                            : fmt::format("{}_f{}({}, {}, {})", name_, below(functions), uv(), w(), f());
      case 21:
        return in_function_ ? fmt::format("{0} * {0} + 3u", u())
                            : pick({"(u32)h0 * h1", "(u32)(s32)c0 + h1", "(u32)(d0 < d1)", "(u32)cut(d1)"});
      case 22:
        return fmt::format("{} * {} + {}", u(), uv(), u());
      default:
        return fmt::format("({} & {}) | (~{} & {})", u(), uv(), u(), u());
    }
  }

  std::string statement() {
    const std::uint64_t kind = below(in_function_ ? 12 : 20);
    if (kind < 6) return fmt::format("{} {} {};", u(), pick({"=", "=", "+=", "^="}), word());
    switch (kind) {
      case 6:
        return fmt::format("{} = {} {} {};", w(), w(), pick({"+", "-", "*", "&", "|", "^"}), w());
      case 7: {
        const std::string a = w();
        switch (below(6)) {
          case 0:
            return fmt::format("{} = {} {} ({} | 1u);", a, w(), pick({"/", "%"}), w());
          case 1:
            return fmt::format("{} = (u64)quotient((s64){}, (s64)(s32){});", a, w(), u());
          case 2:
            return fmt::format("{} = {} {} ({} & 63u);", a, w(), pick({"<<", ">>"}), u());
          case 3:
            return fmt::format("{} = (u64)((s64){} >> ({} & 63u));", a, w(), u());
          case 4:
            return fmt::format("{} += (u64){} * {};", a, u(), uv());
          default:
            return fmt::format("{} = (u64)((s64)(s32){} * (s64)(s32){}) + {};", a, u(), uv(), w());
        }
      }
      case 8:
      case 9:
        switch (below(5)) {
          case 0:
            return fmt::format("{} = {} {} {};", f(), f(), pick({"+", "-", "*", "/"}), f());
          case 1:
            return fmt::format("{} = FMA({}, {}, {});", f(), f(), f(), f());
          case 2:
            return fmt::format("{} = SQRT({});", f(), f());
          case 3:
            return fmt::format("{} = (float){}{};", f(), pick({"(s32)", "(u32)", "(u8)", "(s16)"}), u());
          default:
            return fmt::format("{} = {} {} {} ? {} : -{};", f(), f(), pick({"<", ">", "==", ">="}), f(), f(), f());
        }
      case 10:
        return fmt::format("{} = (float){}{};", f(), pick({"", "(s64)"}), w());
      case 11:
        return fmt::format("if ({}) {} = {};", condition(), u(), word());
      case 12:
        return fmt::format("list[{} & 7u] {} {};", uv(), pick({"=", "+="}), word());
      case 13:
        return fmt::format("{} = (u16)({});", pick({"h0", "h1"}), word());
      case 14:
        return fmt::format("h0 = (u16)((u32)h0 {} h1);", pick({"+", "*", "-", "^"}));
      case 15:
        return fmt::format("c0 = (s8)({});", below(2) == 0 ? word() : "c0 * 3 + (s32)h0");
      case 16:
        switch (below(5)) {
          case 0:
            return fmt::format("d0 = d0 {} d1;", pick({"+", "-", "*", "/"}));
          case 1:
            return fmt::format("d1 = FMAD(d0, d1, (double){});", f());
          case 2:
            return fmt::format("d1 = (double){}{};", pick({"", "(s64)"}), w());
          case 3:
            return fmt::format("{} = (float)d{};", f(), below(2));
          default:
            return fmt::format("{} = (u64)cut(d0) ^ bits(d1);", w());
        }
      case 17:
        return fmt::format("{{ Pair p = {}_pair({}, {}, {}); {} = p.u; {} = p.w; {} = p.f; }}", name_, uv(), w(), f(),
                           u(), w(), f());
      case 18:
        return fmt::format("{{ const u32* p = {} ? list : cells; {} += p[{} & 7u]; }}", "(u3 & 64u) == 0", u(), u());
      default:
        return fmt::format("{} = {}_f{}({}, {}, {});", u(), name_, below(functions), uv(), w(), f());
    }
  }

  std::string condition() {
    switch (below(4)) {
      case 0:
        return fmt::format("({}){} {} ({}){}", "s32", u(), pick({"<", ">", "==", ">="}), "s32", uv());
      case 1:
        return fmt::format("{}({} {} {})", pick({"", "!"}), f(), pick({"<", ">", "=="}), f());
      case 2:
        return fmt::format("({} & {}u) != 0 {} {} < {}", u(), 1 + below(15), pick({"&&", "||"}), u(), uv());
      default:
        return fmt::format("{} {} {}", w(), pick({"<", ">"}), w());
    }
  }

  void indent(int level) { text_.append(static_cast<std::size_t>(2 * level), ' '); }

  void block(int depth, int level) {
    const std::uint64_t lines = 2 + below(5);
    for (std::uint64_t k = 0; k < lines; ++k) {
      const std::uint64_t kind = depth > 0 ? below(9) : 8;
      indent(level);
      const int loop = loops_;
      if (kind == 0) {
        text_ += fmt::format("if ({}) {{\n", condition());
        block(depth - 1, level + 1);
        indent(level);
        if (below(2) == 0) {
          text_ += "} else {\n";
          block(depth - 1, level + 1);
          indent(level);
        }
        text_ += "}\n";
      } else if (kind == 1) {
        ++loops_;
        text_ += fmt::format("for (u32 i{0} = 0; i{0} < ({1} & 3u); ++i{0}) {{\n", loop, u());
        block(depth - 1, level + 1);
        if (below(2) == 0) text_ += fmt::format("if ({}) {};\n", condition(), pick({"break", "continue"}));
        indent(level);
        text_ += "}\n";
      } else if (kind == 2 && !in_function_) {
        text_ += fmt::format("switch ({} % 6u) {{\n", u());
        for (int c = 0; c < 5; ++c) {
          text_ += fmt::format("case {}:\n", c);
          block(depth > 1 ? 1 : 0, level + 1);
          if (below(4) != 0) text_ += "break;\n";
        }
        text_ += "default: u0 += 3u;\n}\n";
      } else if (kind == 3) {
        text_ +=
            fmt::format("for (u32 i{0} = 0; i{0} < {1}u; ++i{0}) {{ {2} }}\n", loops_++, 2 + below(9), statement());
      } else {
        text_ += statement() + "\n";
      }
    }
  }

  /// What a warp or block does together; every thread comes by.
  void together() {
    switch (below(6)) {
      case 0:
        text_ += fmt::format("  BARRIER; cells[TID] = {}; BARRIER; {} = cells[(TID * 7 + {}) % 64]; BARRIER;\n", u(),
                             u(), below(64));
        break;
      case 1:
        text_ += fmt::format("  {} ^= SHFL_XOR({}, {});\n", u(), u(), 1 + below(31));
        break;
      case 2:
        text_ += fmt::format("  {} += SHFL({}, {});\n", u(), u(),
                             below(2) == 0 ? std::to_string(below(32)) : "(" + u() + " & 31u)");
        break;
      case 3:
        text_ += fmt::format("  {} += SHFL_UP({}, {});\n", u(), u(), 1 + below(8));
        break;
      case 4:
        text_ += fmt::format("  {} ^= BALLOT({}); {} += (u32)ALL({});\n", u(), condition(), u(), condition());
        break;
      default:
        text_ += fmt::format("  {}(&sums[{} & 3u], {}); BARRIER; {} ^= sums[{}]; BARRIER;\n",
                             pick({"ADD_TO", "MAX_TO"}), u(), u(), u(), below(4));
        text_ += "  if (TID < 4) sums[TID] = 0;\n  BARRIER;\n";
    }
  }

  void device_function(int number) {
    in_function_ = true;
    if (number == 0) {
      text_ += "__constant__ u32 " + name_ + "_table[16] = {";
      for (int k = 0; k < 16; ++k) text_ += this->number() + ", ";
      text_ += "};\n#define table " + name_ + "_table\n";
      text_ +=
          fmt::format("__device__ NOINLINE Pair {}_pair(u32 u0, u64 w0, float f0) {{\n  u32 u1 = (u32)w0;\n", name_);
      block(1, 1);
      text_ += "  Pair p; p.u = u0 ^ u1; p.w = w0; p.f = f0; return p;\n}\n";
    }
    text_ += fmt::format("__device__ NOINLINE u32 {}_f{}(u32 u0, u64 w0, float f0) {{\n  u32 u1 = (u32)(w0 >> 32);\n",
                         name_, number);
    block(1, 1);
    text_ += "  return u0 + u1 * 3u + (u32)w0 + bits(f0);\n}\n";
    if (number == functions - 1) in_function_ = false;
  }

  std::mt19937_64& random_;
  std::string text_, name_;
  bool in_function_ = false;
  int loops_ = 0;
};

}  // namespace

std::string random_kernels(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  std::string out = prelude;
  for (int k = 0; k < count; ++k) out += KernelWriter(random).write(k) + "#undef table\n";
  return out;
}

}  // namespace corridor::testing
