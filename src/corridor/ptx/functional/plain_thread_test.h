// SPDX-License-Identifier: Apache-2.0
// For tests: one thread of a kernel, interpreted one value at a time in the words of the PTX manual.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "corridor/ptx/functional/plain_half_test.h"
#include "corridor/ptx/functional/plain_integer_test.h"
#include "corridor/ptx/functional/plain_memory_test.h"
#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx::testing {

/// One thread.
class PlainThread {
 public:
  PlainThread(const Module& module, const Function& kernel, PlainMemory& memory, std::uint32_t thread,
              std::uint32_t threads)
      : module_(&module), memory_(&memory), thread_(thread), threads_(threads) {
    enter(kernel);
  }

  /// Runs to the next instruction that threads do together, and gives it; null at the end.
  const Instruction* advance() {
    while (!frames_.empty() && steps_++ < 10000000) {
      Frame& frame = frames_.back();
      if (frame.at >= frame.f->body.size()) {
        leave();
        continue;
      }
      const Instruction& i = frame.f->body[frame.at++];
      if (i.guard != no_index && (frame.r[i.guard] != 0) == i.guard_negated) continue;
      if (i.opcode == "ret") {
        leave();
      } else if (i.opcode == "bra") {
        frame.at = frame.f->labels[i.operands[0].index].target;
      } else if (i.opcode == "call") {
        call(i);
      } else if (i.opcode == "shfl" || i.opcode == "vote" || i.opcode == "match" || i.opcode == "redux" ||
                 i.opcode == "bar" || i.opcode == "barrier") {
        return &i;
      } else {
        step(i);
      }
    }
    return nullptr;
  }
  /// False when it was stopped on its way.
  [[nodiscard]] bool ended() const { return frames_.empty(); }

  std::uint64_t get(const Instruction& i, std::size_t k) const {
    const Operand& o = i.operands[k];
    if (o.kind == Operand::Kind::special) return o.name == "%tid.x" ? thread_ : o.name == "%ctaid.x" ? 0 : threads_;
    if (o.kind == Operand::Kind::reg) return r(o);
    if (o.kind == Operand::Kind::symbol) return symbol(o) + static_cast<std::uint64_t>(o.offset);
    return o.bits;
  }
  void set(const Operand& o, std::uint64_t v) {
    const std::size_t bytes = bytes_of(frames_.back().f->registers[o.index].type);
    frames_.back().r[o.index] = bytes >= 8 ? v : bytes == 0 ? v & 1 : v & ((std::uint64_t{1} << (8 * bytes)) - 1);
  }

 private:
  using Bytes = std::vector<std::uint8_t>;
  /// A function that runs.
  struct Frame {
    const Function* f = nullptr;
    std::vector<std::uint64_t> r;
    std::vector<Bytes> arguments;                   ///< of its .param variables, by index
    std::vector<std::uint64_t> places;              ///< of its .local variables, by index
    std::map<std::string, Bytes, std::less<>> own;  ///< its parameters and results
    std::size_t at = 0;
    std::size_t locals = 0;  ///< bytes of local memory that were in use before it
  };

  [[nodiscard]] std::uint64_t r(const Operand& o) const { return frames_.back().r[o.index]; }

  void enter(const Function& f) {
    Frame frame;
    frame.f = &f;
    frame.locals = local_.size();
    frame.r.resize(f.registers.size());
    for (const Variable& v : f.variables) {
      frame.arguments.emplace_back(v.space == Space::param ? v.bytes : 0);
      frame.places.push_back((local_.size() + 15) / 16 * 16);
      if (v.space == Space::local) local_.resize(frame.places.back() + v.bytes);
    }
    for (const auto* list : {&f.results, &f.parameters}) {
      for (const Variable& v : *list) frame.own[v.name].resize(v.bytes);
    }
    if (frames_.empty()) {
      const std::uint64_t bases[] = {PlainMemory::base_in, PlainMemory::base_out};
      for (std::size_t k = 0; k < 2; ++k) std::memcpy(frame.own[f.parameters[k].name].data(), &bases[k], 8);
    }
    frames_.push_back(std::move(frame));
  }

  /// call (results), function, (arguments); a call without results or arguments has no such list.
  void call(const Instruction& i) {
    std::size_t at = i.operands[0].kind == Operand::Kind::list ? 1 : 0;
    const Function* const f = module_->find(i.operands[at].name);
    if (f == nullptr) return give_up(i);
    const Frame& caller = frames_.back();
    std::vector<Bytes> given;
    if (++at < i.operands.size()) {
      for (const Operand& o : i.operands[at].parts) given.push_back(caller.arguments[o.index]);
    }
    enter(*f);
    for (std::size_t k = 0; k < given.size(); ++k) frames_.back().own[f->parameters[k].name] = given[k];
  }

  void leave() {
    Frame done = std::move(frames_.back());
    frames_.pop_back();
    local_.resize(done.locals);
    if (frames_.empty() || done.f->results.empty()) return;
    Frame& caller = frames_.back();
    const Instruction& i = caller.f->body[caller.at - 1];
    for (std::size_t k = 0; k < done.f->results.size(); ++k) {
      caller.arguments[i.operands[0].parts[k].index] = done.own[done.f->results[k].name];
    }
  }

  void give_up(const Instruction& i) {
    ADD_FAILURE() << "the plain interpreter does not know line " << i.line << ": " << i.opcode;
    frames_.clear();
  }

  /// Address of a variable in its own space.
  [[nodiscard]] std::uint64_t symbol(const Operand& o) const {
    const Frame& frame = frames_.back();
    if (o.index != no_index && frame.f->variables[o.index].space == Space::local) return frame.places[o.index];
    const auto found = memory_->symbols.find(o.name);
    if (found != memory_->symbols.end()) return found->second;
    ADD_FAILURE() << "the plain interpreter does not know " << o.name;
    return 0;
  }

  /// The bytes an instruction names in memory.
  std::uint8_t* bytes_at(const Instruction& i, const Operand& o, std::size_t size) {
    Frame& frame = frames_.back();
    const auto offset = static_cast<std::uint64_t>(o.offset);
    if (has(i, "param")) {
      Bytes& bytes = o.index != no_index ? frame.arguments[o.index] : frame.own[std::string(o.name)];
      return offset + size <= bytes.size() ? bytes.data() + offset : nullptr;
    }
    const std::uint64_t base = o.base == Operand::Base::reg ? r(o) : symbol(o);
    const std::uint64_t window = has(i, "shared")  ? PlainMemory::shared_window
                                 : has(i, "local") ? PlainMemory::local_window
                                                   : 0;
    return memory_->find(window + base + offset, size, local_);
  }

  void memory(const Instruction& i) {
    const std::string_view type = i.modifiers.back();
    const std::size_t size = width_of(type) / 8;
    const bool is_load = i.opcode == "ld";
    const Operand& value = i.operands[is_load ? 0 : 1];
    const bool many = value.kind == Operand::Kind::vector;
    const std::size_t count = many ? value.parts.size() : 1;
    std::uint8_t* const bytes = bytes_at(i, i.operands[is_load ? 1 : 0], size * count);
    if (bytes == nullptr) return give_up(i);
    for (std::size_t k = 0; k < count; ++k) {
      std::uint64_t v = 0;
      if (!is_load)
        v = many ? value.parts[k].kind == Operand::Kind::reg ? r(value.parts[k]) : value.parts[k].bits : get(i, 1);
      std::memcpy(is_load ? static_cast<void*>(&v) : bytes + k * size,
                  is_load ? bytes + k * size : static_cast<void*>(&v), size);
      if (is_load)
        set(many ? value.parts[k] : value,
            static_cast<std::uint64_t>(number(v, type[0], static_cast<unsigned>(8 * size))));
    }
  }

  /// Threads of a block come one after the other: sums and largest values do not depend on the order.
  void atomic(const Instruction& i) {
    const std::size_t place = i.opcode == "atom" ? 1 : 0;
    std::uint8_t* const bytes = bytes_at(i, i.operands[place], 4);
    if (bytes == nullptr || width_of(i.modifiers.back()) != 32) return give_up(i);
    std::uint32_t old = 0;
    std::memcpy(&old, bytes, 4);
    const auto by = static_cast<std::uint32_t>(get(i, place + 1));
    const std::uint32_t now = has(i, "add") ? old + by : std::max(old, by);
    std::memcpy(bytes, &now, 4);
    if (place == 1) set(i.operands[0], old);
  }

  static float real(std::uint64_t v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v)); }
  static std::uint64_t bits(float v) { return v != v ? 0x7FFFFFFF : std::bit_cast<std::uint32_t>(v); }
  static std::uint64_t bits(double v) { return v != v ? 0x7FFFFFFFFFFFFFFF : std::bit_cast<std::uint64_t>(v); }

  void step(const Instruction& i) {
    const std::string_view op = i.opcode;
    const std::string_view type = i.modifiers.empty() ? std::string_view() : i.modifiers.back();
    if (op == "ld" || op == "st") return memory(i);
    if (op == "atom" || op == "red") return atomic(i);
    if (op == "setp") return compare(i, type);
    if (op == "selp") return set(i.operands[0], get(i, 3) != 0 ? get(i, 1) : get(i, 2));
    if (op == "cvta") return set(i.operands[0], moved_to_window(i));
    const bool narrows = op == "cvt" && i.modifiers[i.modifiers.size() - 2].find("f16") != std::string_view::npos;
    if (type.find("f16") != std::string_view::npos || narrows) return halves(i, narrows);
    if (op == "cvt") return convert(i);
    if (op == "mov" && (i.operands[0].kind == Operand::Kind::vector || i.operands[1].kind == Operand::Kind::vector))
      return move_parts(i);
    if (op == "mov") return set(i.operands[0], get(i, 1));
    if (type == "f32") return set(i.operands[0], floating(i, [](std::uint64_t v) { return real(v); }));
    if (type == "f64") return set(i.operands[0], floating(i, [](std::uint64_t v) { return std::bit_cast<double>(v); }));
    std::array<std::uint64_t, 5> values{};
    for (std::size_t k = 1; k < std::min(i.operands.size(), values.size()); ++k) values[k] = get(i, k);
    set(i.operands[0], plain_integer(i, values));
  }

  /// cvta: to a generic address, or with .to back from one.
  [[nodiscard]] std::uint64_t moved_to_window(const Instruction& i) const {
    const std::uint64_t window = has(i, "shared")  ? PlainMemory::shared_window
                                 : has(i, "local") ? PlainMemory::local_window
                                                   : 0;
    return has(i, "to") ? get(i, 1) - window : get(i, 1) + window;
  }

  std::uint64_t floating(const Instruction& i, const auto& number_of) const {
    const auto a = number_of(get(i, 1)), b = i.operands.size() > 2 ? number_of(get(i, 2)) : a;
    if (i.opcode == "add") return bits(a + b);
    if (i.opcode == "sub") return bits(a - b);
    if (i.opcode == "mul") return bits(a * b);
    if (i.opcode == "div") return bits(a / b);
    if (i.opcode == "sqrt") return bits(std::sqrt(a));
    if (i.opcode == "fma") return bits(std::fma(a, b, number_of(get(i, 3))));
    if (i.opcode == "neg") return bits(-a);
    if (i.opcode == "abs") return bits(std::fabs(a));
    if (a != a || b != b) return a != a && b != b ? bits(a) : bits(a != a ? b : a);
    if (a == b) return bits(i.opcode == "min" ? (std::signbit(a) ? a : b) : std::signbit(a) ? b : a);
    return bits(i.opcode == "min" ? std::min(a, b) : std::max(a, b));
  }

  /// mov of a word to its parts, or back.
  void move_parts(const Instruction& i) {
    const bool to_parts = i.operands[0].kind == Operand::Kind::vector;
    const auto& parts = i.operands[to_parts ? 0 : 1].parts;
    const unsigned width = width_of(i.modifiers.back()) / static_cast<unsigned>(parts.size());
    std::uint64_t word = to_parts ? get(i, 1) : 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const auto shift = static_cast<unsigned>(k) * width;
      if (!to_parts) {
        word |= (parts[k].kind == Operand::Kind::reg ? r(parts[k]) : parts[k].bits) << shift;
      } else if (parts[k].kind == Operand::Kind::reg) {
        set(parts[k], (word >> shift) & ((std::uint64_t{1} << width) - 1));
      }
    }
    if (!to_parts) set(i.operands[0], word);
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
    std::uint64_t out = half(i.opcode, f, operand(1, 0), operand(2, 0), operand(3, 0));
    if (type.substr(type.size() - 2) == "x2") {
      out |= std::uint64_t{half(i.opcode, f, operand(1, 16), operand(2, 16), operand(3, 16))} << 16;
    }
    set(i.operands[0], out);
  }

  void compare(const Instruction& i, std::string_view type) {
    bool result = false;
    const auto decide = [&](auto a, auto b) {
      const bool ordered = a == a && b == b;
      const auto is = [&](std::string_view word, std::string_view unordered) {
        return has(i, word) || has(i, unordered);
      };
      result = is("eq", "equ")   ? a == b
               : is("ne", "neu") ? a < b || a > b
               : is("lt", "ltu") ? a < b
               : is("le", "leu") ? a <= b
               : is("gt", "gtu") ? a > b
               : is("ge", "geu") ? a >= b
                                 : ordered == has(i, "num");
      const bool also = std::any_of(i.modifiers.begin(), i.modifiers.end(),
                                    [](std::string_view m) { return m.size() == 3 && m[2] == 'u' && m != "num"; });
      if (!ordered && also) result = true;
    };
    if (type == "f32") {
      decide(real(get(i, 1)), real(get(i, 2)));
    } else if (type == "f64") {
      decide(std::bit_cast<double>(get(i, 1)), std::bit_cast<double>(get(i, 2)));
    } else {
      decide(number(get(i, 1), type[0], width_of(type)), number(get(i, 2), type[0], width_of(type)));
    }
    set(i.operands[0], result ? 1 : 0);
  }

  void convert(const Instruction& i) {
    const std::string_view to = i.modifiers[i.modifiers.size() - 2], from = i.modifiers.back();
    const std::uint64_t source = get(i, 1);
    if (from[0] == 'f') {
      const double v = from == "f32" ? static_cast<double>(real(source)) : std::bit_cast<double>(source);
      if (to == "f64") return set(i.operands[0], bits(v));
      if (to == "f32") return set(i.operands[0], bits(static_cast<float>(v)));
      const Wide least = to[0] == 's' ? -(Wide{1} << (width_of(to) - 1)) : 0;  // to an integer, towards zero
      const Wide most = (Wide{1} << (width_of(to) - (to[0] == 's' ? 1 : 0))) - 1;
      const Wide cut = v != v ? 0 : v >= 0x1p100 ? most : v <= -0x1p100 ? least : static_cast<Wide>(v);
      const bool lowest = v != v && from == "f64";  // what a NaN of 64 bits becomes
      return set(i.operands[0], lowest ? std::uint64_t{1} << (width_of(to) - 1)
                                       : static_cast<std::uint64_t>(std::clamp(cut, least, most)));
    }
    const Wide v = number(source, from[0], width_of(from));
    if (to == "f32") return set(i.operands[0], bits(static_cast<float>(v)));
    if (to == "f64") return set(i.operands[0], bits(static_cast<double>(v)));
    set(i.operands[0], static_cast<std::uint64_t>(number(static_cast<std::uint64_t>(v), to[0], width_of(to))));
  }

  const Module* module_;
  PlainMemory* memory_;
  std::vector<Frame> frames_;
  Bytes local_;
  std::uint64_t thread_, threads_;
  int steps_ = 0;
};

}  // namespace corridor::ptx::testing
