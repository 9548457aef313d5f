// SPDX-License-Identifier: Apache-2.0
// Bounds, alignment, first reads and counting of memory accesses.
#include "corridor/ptx/functional/memory_access.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/memory/coalesce.h"

namespace corridor::ptx {
namespace {

using Shape = LaneAddresses::Shape;

std::uint32_t lane_where(std::uint32_t lanes, const LaneAddresses& address, auto&& is) {
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (is(address.of[lane])) return lane;
  }
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

bool aligned(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, std::string_view where) {
  const std::uint32_t unit = std::min<std::uint32_t>(std::bit_ceil(bytes), 16);
  if ((address.together & (unit - 1)) == 0) return true;
  const std::uint32_t lane = lane_where(lanes, address, [&](std::uint64_t a) { return (a & (unit - 1)) != 0; });
  x.block->fault(
      x, Fault::Kind::misaligned, lane,
      fmt::format("{} address 0x{:x} is not a multiple of the {} bytes it moves", where, address.of[lane], bytes),
      address.of[lane], std::string(where));
  return false;
}

void out_of_bounds(Exec& x, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes, Touch touch) {
  const Allocation* const near = x.block->launch().memory->nearest(address);
  std::string where = "no buffer exists";
  if (near != nullptr) {
    where = address >= near->address ? fmt::format("{} bytes after the start of {} ({} bytes)", address - near->address,
                                                   near->name, near->bytes)
                                     : fmt::format("{} bytes before {}", near->address - address, near->name);
  }
  x.block->fault(x, Fault::Kind::out_of_bounds, lane,
                 fmt::format("a {} of {} bytes at 0x{:x} lies outside every buffer: {}",
                             touch == Touch::load ? "load" : "store", bytes, address, where),
                 address, near == nullptr ? std::string() : near->name);
}

/// The allocation that holds [first, last + bytes), or null.
Allocation* covering(const DeviceMemory::State& memory, std::uint64_t first, std::uint64_t last, std::uint32_t bytes) {
  Allocation* const a = memory.find(first);
  if (a == nullptr || last < first) return nullptr;
  const std::uint64_t room = a->bytes - (first - a->address);
  return last - first <= room && bytes <= room - (last - first) ? a : nullptr;
}

/// Whether every lane finds what it reads written. Aligned accesses of up to 16 bytes lie in one word of the bits; of
/// larger ones nothing is said.
bool all_written(const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, const Allocation& a) {
  if (bytes > 16) return false;
  const std::uint64_t* const words = a.written.get();
  const std::uint64_t wanted = (std::uint64_t{1} << bytes) - 1;
  std::uint64_t missing = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t offset = address.of[std::countr_zero(lanes)] - a.address;
    missing |= ~(__atomic_load_n(words + offset / 64, __ATOMIC_RELAXED) >> (offset % 64)) & wanted;
  }
  return missing == 0;
}

void check_initial(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Allocation& a) {
  if (all_written(address, lanes, bytes, a)) return;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t offset = address.of[lane] - a.address;
    if (was_written(a, offset, bytes)) continue;
    x.block->fault(x, Fault::Kind::uninitialised, lane,
                   fmt::format("{} is read at byte {} before anything was written there", a.name, offset),
                   address.of[lane], a.name);
    mark_written(a, offset, bytes);
  }
}

/// One allocation for all lanes. `a` holds them all.
void reach_in(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Touch touch,
              Allocation& a, HostLanes& host) {
  std::uint8_t* const data = a.data.get();
  const bool simple = address.shape != Shape::scattered;
  if (simple) {
    host.base = data + (address.least - a.address);
  } else {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      host.of[lane] = data + (address.of[lane] - a.address);
      __builtin_prefetch(host.of[lane]);  // scattered lanes miss; they are counted meanwhile
    }
  }
  if (!x.block->checks() || a.written == nullptr) return;
  const std::uint64_t start = address.least - a.address, length = address.most - address.least + bytes;
  const bool whole = address.shape == Shape::uniform || (simple && std::has_single_bit(lanes + (lanes & (0 - lanes))));
  const bool full = simple && (whole || lanes == all_lanes);
  if (touch != Touch::store) {
    if (full && was_written(a, start, length)) return;
    check_initial(x, address, lanes, bytes, a);
  }
  if (touch == Touch::load) return;
  if (full) return mark_written(a, start, length);
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    mark_written(a, address.of[std::countr_zero(left)] - a.address, bytes);
  }
}

void count_global(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Touch touch,
                  std::uint16_t flags) {
  thread_local Request request;
  const bool row = address.shape == Shape::row && lanes == all_lanes && std::has_single_bit(bytes) && bytes <= 16;
  if (row && x.block->log() == nullptr) {  // nobody asks which sectors they are
    const std::uint64_t end = address.most + bytes - 1;
    request.sectors = static_cast<std::uint32_t>(end / sector_bytes - address.least / sector_bytes + 1);
    request.lines = static_cast<std::uint32_t>(end / line_bytes - address.least / line_bytes + 1);
    request.wavefronts = std::max(std::max<std::uint32_t>(1, bytes / bank_bytes), (request.lines + 3) / 4);
  } else {
    coalesce(address.of, lanes, bytes, request);
  }
  Tally& tally = x.block->tally();
  AccessCounters& c = touch == Touch::load    ? tally.global_load
                      : touch == Touch::store ? tally.global_store
                                              : tally.global_atomic;
  ++c.requests;
  c.sectors += request.sectors;
  c.wavefronts += request.wavefronts;
  const std::uint32_t ideal = std::max<std::uint32_t>(1, bytes / 4);
  c.ideal_wavefronts += std::min(request.wavefronts, ideal);
  c.bytes += std::uint64_t{bytes} * lanes_in(lanes);
  OpCount& count = x.block->count(x);
  count.sectors += request.sectors;
  count.wavefronts += request.wavefronts;
  x.sectors = static_cast<std::uint16_t>(request.sectors);
  x.wavefronts = static_cast<std::uint16_t>(request.wavefronts);
  if (AccessLog* const log = x.block->log()) {
    const bool to_l2 = (flags & access::skips_l1) != 0;
    log->append(touch == Touch::store    ? CachePath::store
                : touch == Touch::atomic ? CachePath::atomic
                : to_l2                  ? CachePath::load_l2
                                         : CachePath::load,
                request);
  }
}

}  // namespace

bool reach_global(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Touch touch,
                  std::uint16_t flags, HostLanes& host) {
  const DeviceMemory::State& memory = *x.block->launch().memory;
  host.base = nullptr;
  Allocation* const a = covering(memory, address.least, address.most, bytes);
  if (a != nullptr) {
    if (!aligned(x, address, lanes, bytes, "global")) return false;
    if (a->read_only && touch != Touch::load) {
      x.block->fault(x, Fault::Kind::out_of_bounds, address.first_lane,
                     fmt::format("{} is constant and cannot be written", a->name), address.least, a->name);
      return false;
    }
    reach_in(x, address, lanes, bytes, touch, *a, host);
  } else {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::uint64_t at = address.of[lane];
      Allocation* const own = covering(memory, at, at, bytes);
      if (own == nullptr || (own->read_only && touch != Touch::load)) {
        out_of_bounds(x, lane, at, bytes, touch);
        return false;
      }
      LaneAddresses one;
      one.of[lane] = at;
      one.least = one.most = one.together = at;
      one.first_lane = lane;
      one.shape = Shape::scattered;
      if (!aligned(x, one, 1U << lane, bytes, "global")) return false;
      reach_in(x, one, 1U << lane, bytes, touch, *own, host);
    }
    host.base = nullptr;
  }
  if ((flags & access::uncounted) == 0) count_global(x, address, lanes, bytes, touch, flags);
  return true;
}

namespace {

/// All lanes in a row of theirs or at one place: the banks pass 4 bytes a lane at a time, with no conflicts.
bool is_simple(const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes) {
  return lanes == all_lanes && address.shape != Shape::scattered && std::has_single_bit(bytes) && bytes <= 16;
}

SharedCost cost_of(const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Touch touch) {
  if (touch != Touch::atomic && is_simple(address, lanes, bytes)) {
    const std::uint32_t passes = std::max<std::uint32_t>(1, bytes / bank_bytes);
    return {passes, passes};
  }
  alignas(64) std::uint32_t offset[32];
  for (int lane = 0; lane < 32; ++lane) offset[lane] = static_cast<std::uint32_t>(address.of[lane]);
  return touch == Touch::atomic ? shared_atomic_cost(offset, lanes, bytes) : shared_cost(offset, lanes, bytes);
}

}  // namespace

bool reach_shared(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Touch touch,
                  std::uint16_t flags, HostLanes& host) {
  const std::span<std::uint8_t> shared = x.block->shared();
  if (address.most >= shared.size() || bytes > shared.size() - address.most || address.least > address.most) {
    const std::uint32_t lane =
        lane_where(lanes, address, [&](std::uint64_t a) { return a >= shared.size() || bytes > shared.size() - a; });
    x.block->fault(
        x, Fault::Kind::out_of_bounds, lane,
        fmt::format("shared address 0x{:x} is beyond the {} bytes of the block", address.of[lane], shared.size()),
        address.of[lane], "shared memory");
    return false;
  }
  if (!aligned(x, address, lanes, bytes, "shared")) return false;
  const SharedCost cost = cost_of(address, lanes, bytes, touch);
  Tally& tally = x.block->tally();
  AccessCounters& c = touch == Touch::load    ? tally.shared_load
                      : touch == Touch::store ? tally.shared_store
                                              : tally.shared_atomic;
  ++c.requests;
  c.wavefronts += cost.wavefronts;
  c.ideal_wavefronts += cost.ideal;
  c.bytes += std::uint64_t{bytes} * lanes_in(lanes);
  OpCount& count = x.block->count(x);
  count.wavefronts += cost.wavefronts;
  count.conflicts += cost.wavefronts - std::min(cost.ideal, cost.wavefronts);
  x.wavefronts = static_cast<std::uint16_t>(cost.wavefronts);
  if (x.block->checks() && (flags & access::synchronises) == 0) {
    const std::uint32_t looked_at =
        address.shape == Shape::uniform && touch == Touch::load ? lanes & (0 - lanes) : lanes;
    x.block->check_shared(x, address.of, looked_at, bytes, static_cast<int>(touch), address.shape == Shape::row);
  } else if ((flags & access::synchronises) != 0) {
    x.block->order();
    if (x.block->checks() && touch != Touch::load) {
      x.block->check_shared(x, address.of, lanes, bytes, 1, false);
      x.block->order();
    }
  }
  host.base = address.shape != Shape::scattered ? shared.data() + address.least : nullptr;
  if (host.base != nullptr) return true;
  for (int lane = 0; lane < 32; ++lane) {
    host.of[lane] = ((lanes >> lane) & 1) != 0 ? shared.data() + address.of[lane] : shared.data();
  }
  return true;
}

bool reach_local(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Touch touch,
                 std::uint16_t flags, HostLanes& host) {
  Warp& warp = *x.warp;
  const std::uint64_t capacity = warp.local_capacity;
  if (address.most >= capacity || bytes > capacity - address.most || address.least > address.most) {
    const std::uint32_t lane =
        lane_where(lanes, address, [&](std::uint64_t a) { return a >= capacity || bytes > capacity - a; });
    x.block->fault(x, Fault::Kind::out_of_bounds, lane,
                   fmt::format("local address 0x{:x} is beyond the {} bytes of the thread", address.of[lane], capacity),
                   address.of[lane], "local memory");
    return false;
  }
  if (!aligned(x, address, lanes, bytes, "local")) return false;
  host.base = nullptr;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::size_t at = std::size_t{lane} * capacity + address.of[lane];
    host.of[lane] = warp.local.data() + at;
    if (!x.block->checks()) continue;
    std::uint8_t* const written = warp.local_written.data() + at;
    // Structures are copied with their holes: only an access that finds nothing at all is reported.
    if (touch != Touch::store && std::all_of(written, written + bytes, [](std::uint8_t w) { return w == 0; })) {
      x.block->fault(x, Fault::Kind::uninitialised, lane,
                     fmt::format("local memory at 0x{:x} is read before anything was written there", address.of[lane]),
                     address.of[lane], "local memory");
    }
    std::memset(written, 1, bytes);
  }
  if ((flags & access::uncounted) != 0) return true;
  // Local memory is interleaved: word i of all lanes lies side by side.
  Tally& tally = x.block->tally();
  AccessCounters& c = touch == Touch::load ? tally.local_load : tally.local_store;
  ++c.requests;
  c.bytes += std::uint64_t{bytes} * lanes_in(lanes);
  thread_local Request request;
  alignas(64) std::uint64_t words[32];
  const std::uint64_t warp_base =
      (std::uint64_t{1} << 44) + (x.block->index() * x.block->launch().warps + warp.index) * (std::uint64_t{1} << 24);
  OpCount& count = x.block->count(x);
  for (std::uint32_t word = 0; word < bytes; word += 4) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t a = address.of[lane] + word;
      words[lane] = warp_base + a / 4 * 128 + lane * 4 + a % 4;
    }
    coalesce(words, lanes, std::min<std::uint32_t>(bytes, 4), request);
    c.sectors += request.sectors;
    c.wavefronts += request.wavefronts;
    ++c.ideal_wavefronts;
    count.sectors += request.sectors;
    count.wavefronts += request.wavefronts;
    if (AccessLog* const log = x.block->log()) {
      log->append(touch == Touch::load ? CachePath::load : CachePath::store, request);
    }
  }
  return true;
}

}  // namespace corridor::ptx
