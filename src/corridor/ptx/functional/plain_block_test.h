// SPDX-License-Identifier: Apache-2.0
// For tests: a block of plain threads. They stop where those of a warp or block act together.
#pragma once

#include <array>
#include <utility>

#include "corridor/ptx/functional/plain_thread_test.h"

namespace corridor::ptx::testing {

/// A block of such threads.
class PlainBlock {
 public:
  PlainBlock(const Module& module, const Function& kernel, const std::vector<std::uint64_t>& in, std::uint32_t threads)
      : memory_(module, kernel, in, threads) {
    for (std::uint32_t t = 0; t < threads; ++t) threads_.emplace_back(module, kernel, memory_, t, threads);
  }
  /// What each thread wrote.
  std::vector<std::uint64_t> run() {
    for (bool going = true; going;) {
      std::vector<const Instruction*> next;
      for (PlainThread& t : threads_) next.push_back(t.advance());
      going = next[0] != nullptr;
      EXPECT_TRUE(std::all_of(next.begin(), next.end(), [&](const Instruction* i) { return i == next[0]; }));
      for (std::size_t first = 0; going && first < threads_.size(); first += 32) together(*next[0], first);
    }
    for (const PlainThread& t : threads_) EXPECT_TRUE(t.ended());
    std::vector<std::uint64_t> out(threads_.size());
    std::memcpy(out.data(), memory_.out.data(), memory_.out.size());
    return out;
  }

 private:
  using Lanes = std::array<std::uint32_t, 32>;

  void together(const Instruction& i, std::size_t first) {
    PlainThread* const warp = &threads_[first];
    const auto values = [&](std::size_t k) {
      Lanes out;
      for (std::size_t l = 0; l < 32; ++l) out[l] = static_cast<std::uint32_t>(warp[l].get(i, k));
      return out;
    };
    if (i.opcode == "bar" || i.opcode == "barrier") {
      if (!has(i, "red")) return;
      std::uint32_t count = 0;
      for (const PlainThread& t : threads_) count += t.get(i, 2) != 0 ? 1 : 0;
      for (std::size_t l = 0; l < 32; ++l) warp[l].set(i.operands[0], count);
      return;
    }
    const Lanes a = values(1);
    for (std::size_t l = 0; l < 32; ++l) {
      bool flag = false;
      const std::uint32_t value = i.opcode == "shfl"    ? shuffle(i, a, values(2)[l], values(3)[l], l, flag)
                                  : i.opcode == "vote"  ? vote(i, a)
                                  : i.opcode == "match" ? match(i, a, l, flag)
                                                        : reduce(i, a);
      const Operand& to = i.operands[0];
      if (to.kind == Operand::Kind::pair) warp[l].set(to.parts[1], flag ? 1 : 0);
      pending_.emplace_back(&warp[l], value);
    }
    for (const auto& [thread, value] : pending_) {
      thread->set(i.operands[0].kind == Operand::Kind::pair ? i.operands[0].parts[0] : i.operands[0], value);
    }
    pending_.clear();
  }

  static std::uint32_t shuffle(const Instruction& i, const Lanes& a, std::uint32_t b, std::uint32_t c, std::size_t lane,
                               bool& inside) {
    const auto own = static_cast<int>(lane), by = static_cast<int>(b & 31);
    const int segment = static_cast<int>((c >> 8) & 31), clamp = static_cast<int>(c & 31);
    const int last = (own & segment) | (clamp & ~segment & 31), start = own & segment;
    int from = own;
    if (has(i, "up")) from = own - by;
    if (has(i, "down")) from = own + by;
    if (has(i, "bfly")) from = own ^ by;
    if (has(i, "idx")) from = start | (by & ~segment & 31);
    inside = has(i, "up") ? from >= last : from <= last;
    return a[static_cast<std::size_t>(inside ? from : own)];
  }

  static std::uint32_t vote(const Instruction& i, const Lanes& a) {
    std::uint32_t ballot = 0;
    for (std::size_t l = 0; l < 32; ++l) ballot |= ((a[l] != 0) != i.operands[1].negated ? 1U : 0U) << l;
    if (has(i, "ballot")) return ballot;
    if (has(i, "all")) return ballot == 0xFFFFFFFF ? 1 : 0;
    if (has(i, "any")) return ballot != 0 ? 1 : 0;
    return ballot == 0 || ballot == 0xFFFFFFFF ? 1 : 0;
  }

  static std::uint32_t match(const Instruction& i, const Lanes& a, std::size_t lane, bool& all) {
    std::uint32_t same = 0;
    for (std::size_t l = 0; l < 32; ++l) same |= (a[l] == a[lane] ? 1U : 0U) << l;
    all = same == 0xFFFFFFFF;
    return has(i, "any") ? same : all ? same : 0;
  }

  static std::uint32_t reduce(const Instruction& i, const Lanes& a) {
    std::uint32_t out = a[0];
    const bool is_signed = has(i, "s32");
    for (std::size_t l = 1; l < 32; ++l) {
      const bool less = is_signed ? static_cast<std::int32_t>(a[l]) < static_cast<std::int32_t>(out) : a[l] < out;
      if (has(i, "add")) out += a[l];
      if (has(i, "and")) out &= a[l];
      if (has(i, "or")) out |= a[l];
      if (has(i, "xor")) out ^= a[l];
      if (has(i, "min") && less) out = a[l];
      if (has(i, "max") && !less) out = a[l];
    }
    return out;
  }

  PlainMemory memory_;
  std::vector<PlainThread> threads_;
  std::vector<std::pair<PlainThread*, std::uint32_t>> pending_;
};

}  // namespace corridor::ptx::testing
