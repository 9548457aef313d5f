// SPDX-License-Identifier: Apache-2.0
// The checker of shared memory: words that two warps touch, at least one writing, with nothing between that orders
// them, and words that are read before anything was written.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "corridor/ptx/functional/block_run.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t who_bits = 8, last_epoch = (1U << 24) - 1;
constexpr int is_load = 0, is_store = 1, is_atomic = 2;

}  // namespace

void BlockRun::order() {
  if (++epoch_ > last_epoch) {
    std::fill(writer_.begin(), writer_.end(), 0U);
    std::fill(reader_.begin(), reader_.end(), 0U);
    epoch_ = 1;
  }
  shared_words_.tag = epoch_ << who_bits;
}

void BlockRun::check_shared(Exec& x, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, int kind,
                            bool is_row) {
  const std::uint32_t tag = epoch_ << who_bits, warp = x.warp->index, mine = tag | warp;
  if (is_row && lanes == all_lanes && bytes % 4 == 0 && kind != is_atomic) {
    const auto take_down = kind == is_load ? shared_kernels().read_words : shared_kernels().write_words;
    if (take_down(shared_words_, address[0] / 4, std::size_t{warp_lanes} * bytes / 4, warp)) return;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    const auto start = static_cast<std::uint32_t>(address[lane]);
    for (std::uint32_t at = start; at < start + bytes; at = (at / 4 + 1) * 4) {
      const std::uint32_t word = at / 4;
      const std::uint32_t end = std::min(start + bytes, (word + 1) * 4);
      const auto part = static_cast<std::uint8_t>(((1U << (end - at)) - 1) << (at % 4));
      const std::uint32_t w = writer_[word], r = reader_[word];
      const bool own = w == mine || w == mine + own_atomics;
      const bool atomics = kind == is_atomic && (w == (tag | several_atomics) || ((w - tag) & ~31U) == 32);
      const bool written_now = (w >> who_bits) == epoch_ && !own && !atomics;
      const bool read_now = kind != is_load && (r >> who_bits) == epoch_ && r != mine;
      if (written_now || read_now) {
        fault(x, Fault::Kind::race, lane,
              fmt::format("shared word at 0x{:x} was {} by another warp with no barrier between; add one", at,
                          written_now ? "written" : "read"),
              at, "shared memory");
      }
      if (kind != is_store && (shared_written_[word] & part) != part) {
        fault(x, Fault::Kind::uninitialised, lane,
              fmt::format("shared memory at 0x{:x} is read before anything was written there", at), at,
              "shared memory");
        shared_written_[word] |= part;
      }
      if (kind == is_load) {
        reader_[word] = (r >> who_bits) == epoch_ && r != mine ? tag | several_readers : mine;
        continue;
      }
      shared_written_[word] |= part;
      if (kind == is_store) {
        writer_[word] = mine;
      } else if ((w >> who_bits) == epoch_) {
        writer_[word] = own ? w : tag | several_atomics;
      } else {
        writer_[word] = mine + own_atomics;
      }
    }
  }
}

}  // namespace corridor::ptx
