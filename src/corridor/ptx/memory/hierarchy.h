// SPDX-License-Identifier: Apache-2.0
// L1, L2 and DRAM of the simulated GPU: which sectors hit where. Fed with what blocks asked for, in launch-wave order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "corridor/ptx/memory/coalesce.h"

namespace corridor::ptx {

/// How a request passes the caches.
enum class CachePath : std::uint8_t { load, load_l2 /* .cg, cp.async.cg, volatile */, store, atomic };

/// What one block asked of global and local memory, request by request, in the order its warps ran. A request whose
/// sectors follow each other takes 16 bytes; others 8 and 8 a sector.
class AccessLog {
 public:
  void append(CachePath path, const Request& request);
  void clear();
  struct Entry {
    CachePath path;
    bool run;             ///< the sectors follow each other: only the first is kept
    std::uint16_t count;  ///< sectors of the request
    std::uint32_t first;  ///< into sectors
  };
  std::vector<Entry> entries;
  std::vector<std::uint64_t> sectors;
};

struct HierarchyShape {
  std::uint32_t sm_count = 132;
  std::uint64_t l1_bytes = 0;  ///< of one SM, what shared memory leaves
  std::uint64_t l2_bytes = 0;
  std::uint32_t l1_ways = 4, l2_ways = 16;  ///< assumed: no vendor tells
};

struct CacheCounters {
  std::uint64_t l1_sectors = 0, l1_hits = 0;  ///< loads only
  std::uint64_t l2_read_sectors = 0, l2_read_hits = 0, l2_write_sectors = 0, l2_atomic_sectors = 0;
  std::uint64_t dram_read_sectors = 0, dram_write_sectors = 0;
  CacheCounters& operator+=(const CacheCounters& other);
  friend bool operator==(const CacheCounters&, const CacheCounters&) = default;
};

/// Requests pass in two stages, one wave apart: the L1 of every SM, then L2. Each is cut into parts that share nothing,
/// by SMs and by sets of L2, so that tasks may run on any cores at the same time; what they count does not depend on
/// it.
class Hierarchy {
 public:
  /// `parts`: into how many tasks each stage is cut; at least 1.
  explicit Hierarchy(const HierarchyShape& shape, std::size_t parts = 1);
  ~Hierarchy();
  Hierarchy(Hierarchy&&) noexcept;
  /// The blocks that run at one time: log i belongs to SM `sm[i]`. Requests are taken one a block in turn, so that
  /// blocks share L2 as they would on a device; each SM has its own L1. A wave may be fed in parts (logs cleared in
  /// between), which bounds the memory of long blocks: the caches keep what they hold.
  void run_wave(std::span<const AccessLog> blocks, std::span<const std::uint32_t> sm);
  /// Writes dirty sectors back to DRAM; call once after the last wave.
  void finish();
  [[nodiscard]] CacheCounters counters() const;

  /// The same as run_wave in pieces, for a caller that has other work for the cores: `expect` the number of blocks,
  /// tasks 0 … tasks() − 1 in any order, then `advance`. A wave passes L1 in the round it is given to and L2 in the
  /// next one, so the last wave is followed by a round with no blocks.
  [[nodiscard]] std::size_t tasks() const;
  void expect(std::size_t blocks);
  void run_task(std::size_t task, std::span<const AccessLog> blocks, std::span<const std::uint32_t> sm);
  void advance();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace corridor::ptx
