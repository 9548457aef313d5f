// SPDX-License-Identifier: Apache-2.0
// Counts sectors, lines and bank passes of one warp; lanes in an arithmetic row, the common case, take closed forms.
#include "corridor/ptx/memory/coalesce.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "corridor/ptx/memory/distinct.h"
#include "corridor/ptx/memory/lane_row.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t all_lanes = 0xFFFFFFFF;
constexpr std::uint32_t tags_per_clock = 4;  // NVIDIA developer forum, and the table that l1_clocks names

/// Lanes that pass the banks together: all 32 up to 4 bytes, a half warp of 8-byte lanes, a quarter of 16-byte lanes.
std::uint32_t lanes_of_pass(std::uint32_t bytes) {
  return bytes <= 4 ? warp_lanes : bytes <= 8 ? 16 : 8;
}

std::uint32_t pass_mask(std::uint32_t first, std::uint32_t lanes) {
  return lanes == warp_lanes ? all_lanes : ((1U << lanes) - 1) << first;
}

/// Groups of lanes with at least one in `mask`: no fewer passes are possible.
std::uint32_t active_passes(std::uint32_t mask, std::uint32_t bytes) {
  const std::uint32_t lanes = lanes_of_pass(bytes);
  std::uint32_t passes = 0;
  for (std::uint32_t first = 0; first < warp_lanes; first += lanes) passes += (mask & pass_mask(first, lanes)) != 0;
  return passes;
}

/// Aligned pieces of `size` bytes that [start, start + bytes) touches.
template <class Address>
std::uint32_t pieces(Address start, std::uint32_t bytes, std::uint32_t size) {
  return (static_cast<std::uint32_t>(start % size) + bytes + size - 1) / size;
}

/// Passes of one group of lanes: the bank with the most distinct words decides.
template <class Address>
std::uint32_t passes_of_group(const Address* address, std::uint32_t mask, std::uint32_t bytes) {
  DistinctSet<Address, 64> words;  // at most 32 lanes × 2 words, misaligned
  std::array<std::uint8_t, shared_banks> of_bank{};
  std::uint32_t most = 0;
  for (; mask != 0; mask &= mask - 1) {
    const Address start = address[std::countr_zero(mask)];
    const std::uint32_t count = pieces(start, bytes, bank_bytes);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Address word = start / bank_bytes + i;
      if (words.add(word)) most = std::max<std::uint32_t>(most, ++of_bank[word % shared_banks]);
    }
  }
  return most;
}

/// Passes of 4-byte lanes, no word of which is another's; 0 when one is not aligned.
std::uint32_t passes_of_distinct(const std::uint64_t* address, std::uint32_t mask) {
  std::array<std::uint8_t, shared_banks> of_bank{};
  std::uint8_t most = 0;
  std::uint64_t all_bits = 0;
  for (; mask != 0; mask &= mask - 1) {
    const std::uint64_t start = address[std::countr_zero(mask)];
    all_bits |= start;
    most = std::max(most, ++of_bank[start / bank_bytes % shared_banks]);
  }
  return all_bits % bank_bytes == 0 ? most : 0;
}

template <class Address>
std::uint32_t bank_passes(const Address* address, std::uint32_t mask, std::uint32_t bytes) {
  const std::uint32_t lanes = lanes_of_pass(bytes);
  std::uint32_t passes = 0;
  for (std::uint32_t first = 0; first < warp_lanes; first += lanes) {
    const std::uint32_t group = mask & pass_mask(first, lanes);
    if (group != 0) passes += passes_of_group(address, group, bytes);
  }
  return passes;
}

/// Bank passes of 32 lanes whose addresses go up by `step`; 0 where no closed form holds.
template <class Address>
std::uint32_t row_passes(Address first, Address step, std::uint32_t bytes) {
  const bool aligned = first % std::min<std::uint32_t>(bytes, bank_bytes) == 0;
  if (!aligned) return 0;
  if (step == 0) return bytes <= 4 ? 1 : first % bank_bytes == 0 && std::has_single_bit(bytes) ? bytes / bank_bytes : 0;
  if (step == bytes && std::has_single_bit(bytes)) return std::max<std::uint32_t>(1, bytes / bank_bytes);
  if (bytes == 4 && step % bank_bytes == 0) {
    return std::gcd(static_cast<std::uint32_t>(step / bank_bytes % shared_banks), shared_banks);
  }
  return 0;
}

/// Adds the sectors [first, last] to the end of `out`.
void append_sectors(std::uint64_t first, std::uint64_t last, Request& out) {
  for (std::uint64_t sector = first; sector <= last && out.sectors < out.sector.size(); ++sector) {
    out.sector[out.sectors++] = sector;
  }
}

constexpr std::uint64_t sectors_per_line = line_bytes / sector_bytes;

/// Lanes whose addresses go up from lane to lane: no sector comes again once it is left behind. Returns the lanes that
/// are still to do, from the first that goes back.
std::uint32_t rising_sectors(const std::uint64_t* address, std::uint32_t mask, std::uint32_t bytes, Request& out) {
  std::uint64_t next = 0;       // first sector not yet there
  std::uint64_t next_line = 0;  // first line not yet counted
  for (; mask != 0; mask &= mask - 1) {
    const std::uint64_t start = address[std::countr_zero(mask)];
    const std::uint64_t first = start / sector_bytes, last = (start + bytes - 1) / sector_bytes;
    if (first + 1 < next || last < first) return mask;
    for (std::uint64_t sector = std::max(first, next); sector <= last; ++sector) {
      if (out.sectors == out.sector.size()) return 0;
      out.sector[out.sectors++] = sector;
      const std::uint64_t line = sector / sectors_per_line;
      out.lines += line >= next_line;
      next_line = line + 1;
    }
    next = last + 1;
  }
  return 0;
}

/// The lanes of `mask` after those that rising_sectors did.
void scattered_sectors(const std::uint64_t* address, std::uint32_t mask, std::uint32_t bytes, Request& out) {
  DistinctSet<std::uint64_t, 64> lines;
  std::array<std::uint8_t, 64> there{};  // of each line: its sectors
  const auto add = [&](std::uint64_t sector) {
    std::uint8_t& sectors = there[lines.place_of(sector / sectors_per_line)];
    const auto bit = static_cast<std::uint8_t>(1U << sector % sectors_per_line);
    const bool is_new = (sectors & bit) == 0;
    sectors |= bit;
    return is_new;
  };
  for (std::uint32_t i = 0; i < out.sectors; ++i) add(out.sector[i]);
  for (; mask != 0; mask &= mask - 1) {
    const std::uint64_t start = address[std::countr_zero(mask)];
    const std::uint32_t count = pieces(start, bytes, sector_bytes);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t sector = start / sector_bytes + i;
      if (add(sector) && out.sectors < out.sector.size()) out.sector[out.sectors++] = sector;
    }
  }
  out.lines = static_cast<std::uint32_t>(lines.size());
}

void any_sectors(const std::uint64_t* address, std::uint32_t mask, std::uint32_t bytes, Request& out) {
  const std::uint32_t rest = rising_sectors(address, mask, bytes, out);
  if (rest != 0) scattered_sectors(address, rest, bytes, out);
}

/// All lanes, one address or one unbroken range. False when the range wraps around the end of the addresses.
bool range_sectors(std::uint64_t start, std::uint64_t length, Request& out) {
  const std::uint64_t end = start + length - 1;
  if (end < start) return false;
  append_sectors(start / sector_bytes, end / sector_bytes, out);
  out.lines = static_cast<std::uint32_t>(end / line_bytes - start / line_bytes + 1);
  return true;
}

}  // namespace

void coalesce(const std::uint64_t* address, std::uint32_t mask, std::uint32_t bytes, Request& out) {
  out.sectors = out.lines = out.wavefronts = out.bank_wavefronts = 0;
  bytes = std::clamp<std::uint32_t>(bytes, 1, 16);
  if (mask == 0) return;
  const std::uint64_t start = address[0], step = address[1] - start;
  const bool row = mask == all_lanes && is_row(address);
  if (row && step == bytes) {
    if (!range_sectors(start, std::uint64_t{bytes} * warp_lanes, out)) any_sectors(address, mask, bytes, out);
  } else if (row && step == 0) {
    if (!range_sectors(start, bytes, out)) any_sectors(address, mask, bytes, out);
  } else {
    any_sectors(address, mask, bytes, out);
  }
  if (row) out.bank_wavefronts = row_passes(start, step, bytes);
  // As many sectors as aligned lanes: each has its own.
  if (out.bank_wavefronts == 0 && bytes == bank_bytes &&
      out.sectors == static_cast<std::uint32_t>(std::popcount(mask))) {
    out.bank_wavefronts = passes_of_distinct(address, mask);
  }
  if (out.bank_wavefronts == 0) out.bank_wavefronts = bank_passes(address, mask, bytes);
  out.wavefronts = std::max(out.bank_wavefronts, (out.lines + tags_per_clock - 1) / tags_per_clock);
}

double l1_clocks(const Request& request) {
  if (request.sectors == 0) return 0;
  constexpr double start = 0.75;  // fits the measured strides where tags and not banks decide
  const double tags = std::max(1.0, start + request.lines / double{tags_per_clock});
  return std::max<double>(request.bank_wavefronts, tags);
}

SharedCost shared_cost(const std::uint32_t* address, std::uint32_t mask, std::uint32_t bytes) {
  bytes = std::clamp<std::uint32_t>(bytes, 1, 16);
  SharedCost cost;
  if (mask == 0) return cost;
  cost.ideal = active_passes(mask, bytes);
  if (mask == all_lanes && is_row(address)) {
    cost.wavefronts = row_passes(address[0], address[1] - address[0], bytes);
  }
  if (cost.wavefronts == 0) cost.wavefronts = bank_passes(address, mask, bytes);
  return cost;
}

SharedCost shared_atomic_cost(const std::uint32_t* address, std::uint32_t mask, std::uint32_t bytes) {
  bytes = std::clamp<std::uint32_t>(bytes, 1, 16);
  SharedCost cost;
  const std::uint32_t lanes = lanes_of_pass(bytes);
  for (std::uint32_t first = 0; first < warp_lanes; first += lanes) {
    std::uint32_t group = mask & pass_mask(first, lanes);
    if (group == 0) continue;
    // Each lane takes its banks for itself: equal addresses come one after the other.
    std::array<std::uint8_t, shared_banks> of_bank{};
    std::uint32_t most = 0;
    for (; group != 0; group &= group - 1) {
      const std::uint32_t start = address[std::countr_zero(group)];
      const std::uint32_t words = pieces(start, bytes, bank_bytes);
      for (std::uint32_t word = 0; word < words; ++word) {
        most = std::max<std::uint32_t>(most, ++of_bank[(start / bank_bytes + word) % shared_banks]);
      }
    }
    cost.wavefronts += most;
    ++cost.ideal;
  }
  return cost;
}

}  // namespace corridor::ptx
