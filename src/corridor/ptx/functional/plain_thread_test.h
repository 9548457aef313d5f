// SPDX-License-Identifier: Apache-2.0
// For tests: one thread of a kernel, interpreted one value at a time in the words of the PTX manual.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "corridor/ptx/functional/plain_half_test.h"
#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx::testing {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

/// One thread. Memory: `in` at 2^20, the shared memory of its block at 0, and the value it stores.
class PlainThread {
 public:
  PlainThread(const Function& function, const std::vector<std::uint64_t>& in, std::vector<std::uint32_t>& shared,
              std::uint32_t thread, std::uint32_t threads)
      : f_(function), in_(in), shared_(shared), r_(function.registers.size()), thread_(thread), threads_(threads) {}

  /// Runs to the next instruction that threads do together, and gives it; null at the end.
  const Instruction* advance() {
    while (at_ < f_.body.size() && steps_++ < 100000) {
      const Instruction& i = f_.body[at_++];
      if (i.guard != no_index && (r_[i.guard] != 0) == i.guard_negated) continue;
      if (i.opcode == "ret") break;
      if (i.opcode == "bra") {
        at_ = f_.labels[i.operands[0].index].target;
        continue;
      }
      if (i.opcode == "shfl" || i.opcode == "vote" || i.opcode == "match" || i.opcode == "redux" || i.opcode == "bar")
        return &i;
      step(i);
    }
    return nullptr;
  }
  [[nodiscard]] std::uint64_t out() const { return out_; }

  static bool has(const Instruction& i, std::string_view word) {
    return std::find(i.modifiers.begin(), i.modifiers.end(), word) != i.modifiers.end();
  }
  std::uint64_t get(const Instruction& i, std::size_t k) const {
    const Operand& o = i.operands[k];
    if (o.kind == Operand::Kind::special) return o.name == "%tid.x" ? thread_ : o.name == "%ctaid.x" ? 0 : threads_;
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

 private:
  static float real(std::uint64_t v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v)); }
  static std::uint64_t bits(float v) { return v != v ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(v); }

  void step(const Instruction& i) {
    const std::string_view type = i.modifiers.empty() ? std::string_view() : i.modifiers.back();
    if (type == "f32" && i.opcode != "setp" && i.opcode != "selp" && i.opcode != "cvt")
      return set(i.operands[0], floating(i));
    if (i.opcode == "ld" || i.opcode == "st") return memory(i);
    const bool narrows = i.opcode == "cvt" && i.modifiers[i.modifiers.size() - 2].find("f16") != std::string_view::npos;
    if (type.find("f16") != std::string_view::npos || narrows) return halves(i, narrows);
    if (i.opcode == "mov" &&
        (i.operands[0].kind == Operand::Kind::vector || i.operands[1].kind == Operand::Kind::vector))
      return move_parts(i);
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

  /// mov of a word to two halves, or back.
  void move_parts(const Instruction& i) {
    const auto& to = i.operands[0];
    if (to.kind != Operand::Kind::vector) {
      const auto& from = i.operands[1].parts;
      return set(to, r_[from[0].index] | (r_[from[1].index] << 16));
    }
    const std::uint64_t word = get(i, 1);
    set(to.parts[0], word & 0xFFFF);
    set(to.parts[1], word >> 16);
  }

  /// The sum a b + c of f16 exactly, as a multiple of 2^-48; then with fewer bits, the last of which says "more".
  static double fused(double a, double b, double c) {
    const auto units = [](double v) { return static_cast<Wide>(v * 0x1p24); };
    Wide sum = units(a) * units(b) + (units(c) << 24);
    int exponent = -48;
    for (; sum > (Wide{1} << 50) || sum < -(Wide{1} << 50); ++exponent) {
      const bool more = (sum & 1) != 0;
      sum = (sum >> 1) | (more ? 1 : 0);
    }
    if (sum == 0) return std::fma(a, b, c);  // the sign of zero
    return std::ldexp(static_cast<double>(static_cast<std::int64_t>(sum)), exponent);
  }

  static std::uint32_t half(const Instruction& i, const Format& f, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const double u = half_value(f, a), v = half_value(f, b), w = half_value(f, c);
    const std::string_view op = i.opcode;
    if (op == "add") return pattern(f, u + v);
    if (op == "sub") return pattern(f, u - v);
    if (op == "mul") return pattern(f, u * v);
    if (op == "fma")
      return pattern(f, std::isfinite(u) && std::isfinite(v) && std::isfinite(w) ? fused(u, v, w) : u * v + w);
    if (op == "neg") return std::isnan(u) ? 0x7FFF : a ^ 0x8000;
    if (op == "abs") return std::isnan(u) ? 0x7FFF : a & 0x7FFF;
    if (std::isnan(u) || std::isnan(v)) return std::isnan(u) && std::isnan(v) ? 0x7FFF : std::isnan(u) ? b : a;
    const bool a_first = u == v ? std::signbit(u) : u < v;
    return a_first == (op == "min") ? a : b;
  }

  void halves(const Instruction& i, bool narrows) {
    const std::string_view type = i.modifiers.back(),
                           to = i.modifiers.size() > 1 ? i.modifiers[i.modifiers.size() - 2] : type;
    const Format& f = (narrows ? to : type)[0] == 'b' ? bf16 : f16;
    if (narrows) {
      const std::uint32_t low = pattern(f, static_cast<double>(real(get(i, i.operands.size() - 1))));
      const bool two = i.operands.size() > 2;
      return set(i.operands[0],
                 two ? low | (std::uint64_t{pattern(f, static_cast<double>(real(get(i, 1))))} << 16) : low);
    }
    if (i.opcode == "cvt")
      return set(i.operands[0], bits(static_cast<float>(half_value(f, static_cast<std::uint32_t>(get(i, 1))))));
    const auto operand = [&](std::size_t k, unsigned shift) {
      return i.operands.size() > k ? static_cast<std::uint32_t>(get(i, k) >> shift) & 0xFFFF : 0;
    };
    std::uint64_t out = half(i, f, operand(1, 0), operand(2, 0), operand(3, 0));
    if (type.substr(type.size() - 2) == "x2") {
      out |= std::uint64_t{half(i, f, operand(1, 16), operand(2, 16), operand(3, 16))} << 16;
    }
    set(i.operands[0], out);
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
      std::uint32_t& word = shared_[r_[place.index] / 4];
      if (is_load) return set(i.operands[0], word);
      word = static_cast<std::uint32_t>(get(i, 1));
      return;
    }
    const std::uint64_t address = r_[place.index] + static_cast<std::uint64_t>(place.offset);
    if (is_load) return set(i.operands[0], in_[(address - base_in) / 8]);
    out_ = get(i, 1);
  }

  static constexpr std::uint64_t base_in = 1 << 20, base_out = std::uint64_t{1} << 40;
  const Function& f_;
  const std::vector<std::uint64_t>& in_;
  std::vector<std::uint32_t>& shared_;
  std::vector<std::uint64_t> r_;
  std::uint64_t out_ = 0;
  std::uint64_t thread_, threads_;
  std::size_t at_ = 0;
  int steps_ = 0;
};

}  // namespace corridor::ptx::testing
