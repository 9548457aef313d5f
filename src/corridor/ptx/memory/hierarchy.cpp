// SPDX-License-Identifier: Apache-2.0
// Passes the requests of a wave of blocks through an L1 for each SM and one L2: loads fill both, stores write through
// L1 into L2, atomics are done in L2, dirty sectors go to DRAM when their line leaves.
#include "corridor/ptx/memory/hierarchy.h"

#include <algorithm>

#include "corridor/ptx/memory/cache.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t sectors_of_line = line_bytes / sector_bytes;

/// Calls `visit(line, mask)` for each line of a request; sectors of one line that stand together come as one.
template <class Visit>
void each_line(const AccessLog& log, const AccessLog::Entry& entry, Visit&& visit) {
  if (entry.run) {
    std::uint64_t sector = log.sectors[entry.first];
    for (std::uint32_t left = entry.count; left > 0;) {
      const auto place = static_cast<std::uint32_t>(sector % sectors_of_line);
      const std::uint32_t count = std::min(left, sectors_of_line - place);
      visit(sector / sectors_of_line, ((1U << count) - 1) << place);
      sector += count;
      left -= count;
    }
    return;
  }
  const std::uint64_t* sector = &log.sectors[entry.first];
  const std::uint64_t* const end = sector + entry.count;
  while (sector != end) {
    const std::uint64_t line = *sector / sectors_of_line;
    std::uint32_t mask = 0;
    for (; sector != end && *sector / sectors_of_line == line; ++sector) mask |= 1U << *sector % sectors_of_line;
    visit(line, mask);
  }
}

/// How many of the four sectors a mask has.
std::uint64_t bits(std::uint32_t mask) {
  constexpr std::uint64_t counts = 0x4332322132212110;
  return counts >> (4 * (mask & 0xF)) & 0xF;
}

}  // namespace

void AccessLog::append(CachePath path, const Request& request) {
  if (request.sectors == 0) return;
  bool run = true;
  for (std::uint32_t i = 1; i < request.sectors && run; ++i) run = request.sector[i] == request.sector[i - 1] + 1;
  entries.push_back(
      {path, run, static_cast<std::uint16_t>(request.sectors), static_cast<std::uint32_t>(sectors.size())});
  sectors.insert(sectors.end(), request.sector.begin(), request.sector.begin() + (run ? 1 : request.sectors));
}

void AccessLog::clear() {
  entries.clear();
  sectors.clear();
}

struct Hierarchy::State {
  HierarchyShape shape;
  std::vector<SectorCache> l1;  ///< of each SM, made when it is first used
  std::vector<bool> l1_made;
  SectorCache l2;
  CacheCounters counters;

  explicit State(const HierarchyShape& wanted) : shape(wanted), l2(wanted.l2_bytes, wanted.l2_ways) {
    constexpr std::uint32_t most_sms = 4096;
    shape.sm_count = std::clamp<std::uint32_t>(shape.sm_count, 1, most_sms);
    l1.resize(shape.sm_count);
    l1_made.resize(shape.sm_count);
  }

  SectorCache& l1_of(std::uint32_t sm) {
    sm %= shape.sm_count;
    if (!l1_made[sm]) {
      l1[sm] = SectorCache(shape.l1_bytes, shape.l1_ways);
      l1_made[sm] = true;
    }
    return l1[sm];
  }

  void write_back(const CacheAnswer& answer) { counters.dram_write_sectors += bits(answer.written_back); }

  void read_l2(std::uint64_t line, std::uint32_t mask) {
    const CacheAnswer answer = l2.read(line, mask);
    write_back(answer);
    counters.l2_read_sectors += bits(mask);
    counters.l2_read_hits += bits(answer.hit);
    counters.dram_read_sectors += bits(mask & ~answer.hit);
  }

  void load(SectorCache& near, std::uint64_t line, std::uint32_t mask) {
    const std::uint32_t hit = near.read(line, mask).hit;
    counters.l1_sectors += bits(mask);
    counters.l1_hits += bits(hit);
    if (hit != mask) read_l2(line, mask & ~hit);
  }

  void store(std::uint64_t line, std::uint32_t mask) {
    write_back(l2.write(line, mask));
    counters.l2_write_sectors += bits(mask);
  }

  /// Read and written in L2: a sector that is not there has to come first.
  void atomic(SectorCache& near, std::uint64_t line, std::uint32_t mask) {
    near.invalidate(line, mask);
    const CacheAnswer answer = l2.write(line, mask);
    write_back(answer);
    counters.l2_atomic_sectors += bits(mask);
    counters.dram_read_sectors += bits(mask & ~answer.hit);
  }

  /// Scattered lanes: their sets are far apart in the host's memory, so they are asked for one request ahead.
  void prefetch(const AccessLog& log, const AccessLog::Entry& entry, const SectorCache& near) const {
    constexpr std::uint32_t many = 8;
    if (entry.run || entry.count < many) return;
    each_line(log, entry, [&](std::uint64_t line, std::uint32_t) {
      near.prefetch(line);
      l2.prefetch(line);
    });
  }

  void pass(const AccessLog& log, const AccessLog::Entry& entry, SectorCache& near) {
    switch (entry.path) {
      case CachePath::load:
        return each_line(log, entry, [&](std::uint64_t line, std::uint32_t mask) { load(near, line, mask); });
      case CachePath::load_l2:
        return each_line(log, entry, [&](std::uint64_t line, std::uint32_t mask) { read_l2(line, mask); });
      case CachePath::store:
        return each_line(log, entry, [&](std::uint64_t line, std::uint32_t mask) { store(line, mask); });
      case CachePath::atomic:
        return each_line(log, entry, [&](std::uint64_t line, std::uint32_t mask) { atomic(near, line, mask); });
    }
  }
};

Hierarchy::Hierarchy(const HierarchyShape& shape) : state_(std::make_unique<State>(shape)) {}
Hierarchy::~Hierarchy() = default;
Hierarchy::Hierarchy(Hierarchy&&) noexcept = default;

void Hierarchy::run_wave(std::span<const AccessLog> blocks, std::span<const std::uint32_t> sm) {
  std::vector<std::uint32_t> running;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (!blocks[i].entries.empty()) running.push_back(static_cast<std::uint32_t>(i));
  }
  const auto sm_of = [&](std::uint32_t block) { return block < sm.size() ? sm[block] : block; };
  for (std::size_t turn = 0; !running.empty(); ++turn) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < running.size(); ++i) {
      const std::uint32_t block = running[i];
      if (i + 1 < running.size()) {
        const std::uint32_t next = running[i + 1];
        state_->prefetch(blocks[next], blocks[next].entries[turn], state_->l1_of(sm_of(next)));
      }
      const AccessLog& log = blocks[block];
      state_->pass(log, log.entries[turn], state_->l1_of(sm_of(block)));
      if (turn + 1 < log.entries.size()) running[left++] = block;
    }
    running.resize(left);
  }
}

void Hierarchy::finish() {
  state_->counters.dram_write_sectors += state_->l2.clean();
}

const CacheCounters& Hierarchy::counters() const {
  return state_->counters;
}

}  // namespace corridor::ptx
