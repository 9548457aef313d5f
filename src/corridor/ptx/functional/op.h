// SPDX-License-Identifier: Apache-2.0
// One decoded instruction and the state its handler works on.
//
// A warp's registers lie in a frame of bytes. A 32-bit register is a row of 32 words, one a lane; 8- and 16-bit ones
// too, with the upper bits zero. A 64-bit register is a row of 32 double words, a predicate one word with a bit a lane.
// Constants are rows that nobody writes, so that an operand is always an offset into the frame.
#pragma once

#include <cstdint>

namespace corridor::ptx {

inline constexpr std::uint32_t all_lanes = 0xFFFFFFFF;

/// Fixed places at the start of every frame.
inline constexpr std::uint32_t always_slot = 0;  ///< a predicate with every lane on
inline constexpr std::uint32_t never_slot = 4;   ///< a predicate with every lane off
inline constexpr std::uint32_t carry_slot = 8;   ///< CC.CF
inline constexpr std::uint32_t unused_predicate_slot = 12;
inline constexpr std::uint32_t unused_row_slot = 64;  ///< takes what is written to `_`, 512 bytes
inline constexpr std::uint32_t first_free_slot = 64 + 512;
inline constexpr std::uint32_t nowhere_slot = unused_row_slot;

struct Op;
struct Exec;
struct Warp;
class BlockRun;
using Handler = void (*)(Exec&, const Op&);

/// What the loop has to look at after an instruction.
enum class Event : std::uint8_t {
  none,
  jump,    ///< the same lanes go on at pc, which is not the next instruction
  flow,    ///< pc, mask or stack of the warp have changed
  yield,   ///< let other warps run
  wait,    ///< the warp waits at a barrier
  repeat,  ///< lanes it needs are elsewhere: run the instruction again when they are there
  again,   ///< run the instruction again at once, as groups of lanes
  stop,    ///< a fault ended the block
};

struct alignas(64) Op {
  Handler run = nullptr;
  Handler inner = nullptr;                   ///< under a directed rounding mode
  std::uint32_t d = 0, a = 0, b = 0, c = 0;  ///< offsets into the frame
  std::uint32_t guard = always_slot, guard_flip = 0;
  std::int64_t offset = 0;  ///< bytes, of an address
  std::uint32_t extra = 0;  ///< a second destination, a branch target, or an index into a table of details
  std::uint16_t flags = 0;  ///< of the family
  std::uint8_t bytes = 0;   ///< of one element in memory
  std::uint8_t count = 1;   ///< elements of a vector access
};

struct Exec {
  std::uint8_t* frame = nullptr;
  std::uint32_t mask = 0;    ///< lanes that run this instruction
  std::uint32_t active = 0;  ///< lanes of the warp at this place, before the guard
  std::uint32_t pc = 0;      ///< of the next instruction
  std::uint32_t at = 0;      ///< of this one
  Event event = Event::none;
  std::uint16_t sectors = 0, wavefronts = 0;  ///< of this instruction, for a time-line
  Warp* warp = nullptr;
  BlockRun* block = nullptr;
};

/// How many lanes a mask has; most have all.
[[nodiscard]] inline std::uint32_t lanes_in(std::uint32_t mask) {
  if (mask == all_lanes) return 32;
  std::uint32_t n = mask - ((mask >> 1) & 0x55555555U);
  n = (n & 0x33333333U) + ((n >> 2) & 0x33333333U);
  return (((n + (n >> 4)) & 0x0F0F0F0FU) * 0x01010101U) >> 24;
}

[[nodiscard]] inline std::uint32_t* row32(const Exec& x, std::uint32_t slot) {
  return reinterpret_cast<std::uint32_t*>(x.frame + slot);
}
[[nodiscard]] inline std::uint64_t* row64(const Exec& x, std::uint32_t slot) {
  return reinterpret_cast<std::uint64_t*>(x.frame + slot);
}
[[nodiscard]] inline std::uint32_t& predicate(const Exec& x, std::uint32_t slot) {
  return *reinterpret_cast<std::uint32_t*>(x.frame + slot);
}
/// Writes the bits of `value` where lanes run.
inline void set_predicate(const Exec& x, std::uint32_t slot, std::uint32_t value) {
  std::uint32_t& p = predicate(x, slot);
  p = (p & ~x.mask) | (value & x.mask);
}

}  // namespace corridor::ptx
