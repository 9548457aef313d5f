// SPDX-License-Identifier: Apache-2.0
// Passes the requests of a wave of blocks through an L1 for each SM and one L2: loads fill both, stores write through
// L1 into L2, atomics are done in L2, dirty sectors go to DRAM when their line leaves.
#include "corridor/ptx/memory/hierarchy.h"

#include <algorithm>

#include "corridor/ptx/memory/cache.h"
#include "corridor/ptx/memory/miss_list.h"

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

CacheCounters& CacheCounters::operator+=(const CacheCounters& other) {
  for (const auto field :
       {&CacheCounters::l1_sectors, &CacheCounters::l1_hits, &CacheCounters::l2_read_sectors,
        &CacheCounters::l2_read_hits, &CacheCounters::l2_write_sectors, &CacheCounters::l2_atomic_sectors,
        &CacheCounters::dram_read_sectors, &CacheCounters::dram_write_sectors}) {
    this->*field += other.*field;
  }
  return *this;
}

void AccessLog::clear() {
  entries.clear();
  sectors.clear();
}

struct Hierarchy::State {
  HierarchyShape shape;
  std::size_t parts;
  std::vector<SectorCache> l1;  ///< of each SM, made when it is first used
  SectorCache l2;
  /// What has passed L1: of the wave that passes it now, and of the one before. [block · parts + part of L2]
  std::vector<MissList> found, waiting;
  std::size_t found_blocks = 0, waiting_blocks = 0;
  struct alignas(64) Part {  // a task counts in its own host lines
    CacheCounters counters;
  };
  std::vector<Part> counted;

  State(const HierarchyShape& wanted, std::size_t tasks)
      : shape(wanted), parts(std::max<std::size_t>(tasks, 1)), l2(wanted.l2_bytes, wanted.l2_ways), counted(2 * parts) {
    constexpr std::uint32_t most_sms = 4096;
    shape.sm_count = std::clamp<std::uint32_t>(shape.sm_count, 1, most_sms);
    l1.resize(shape.sm_count);
  }

  SectorCache& l1_of(std::uint32_t sm) {
    SectorCache& near = l1[sm];
    if (near.empty() && shape.l1_bytes >= line_bytes) near = SectorCache(shape.l1_bytes, shape.l1_ways);
    return near;
  }

  /// Room for the misses of so many blocks; before the tasks of a round.
  void make_room(std::size_t blocks) {
    found_blocks = blocks;
    if (found.size() < blocks * parts) found.resize(blocks * parts);
  }

  void near_stage(std::size_t part, std::span<const AccessLog> blocks, std::span<const std::uint32_t> sm);
  void far_stage(std::size_t part);
  void pass_near(const AccessLog& log, const AccessLog::Entry& entry, std::uint32_t turn, SectorCache& near,
                 MissList* out, CacheCounters& counters);
  void pass_far(std::uint64_t line, CachePath path, std::uint32_t mask, CacheCounters& counters);
};

/// Loads that hit end here; all else goes on to L2.
void Hierarchy::State::pass_near(const AccessLog& log, const AccessLog::Entry& entry, std::uint32_t turn,
                                 SectorCache& near, MissList* out, CacheCounters& counters) {
  each_line(log, entry, [&](std::uint64_t line, std::uint32_t mask) {
    if (entry.path == CachePath::load) {
      const std::uint32_t hit = near.read(line, mask).hit;
      counters.l1_sectors += bits(mask);
      counters.l1_hits += bits(hit);
      mask &= ~hit;
      if (mask == 0) return;
    } else if (entry.path == CachePath::atomic) {
      near.invalidate(line, mask);
    }
    out[l2.part_of(line, parts)].add(turn, line, entry.path, mask);
  });
}

/// An atomic is read and written in L2: a sector that is not there has to come first.
void Hierarchy::State::pass_far(std::uint64_t line, CachePath path, std::uint32_t mask, CacheCounters& counters) {
  const bool reads = path == CachePath::load || path == CachePath::load_l2;
  const CacheAnswer answer = reads ? l2.read(line, mask) : l2.write(line, mask);
  counters.dram_write_sectors += bits(answer.written_back);
  if (reads) {
    counters.l2_read_sectors += bits(mask);
    counters.l2_read_hits += bits(answer.hit);
  } else if (path == CachePath::atomic) {
    counters.l2_atomic_sectors += bits(mask);
  } else {
    counters.l2_write_sectors += bits(mask);
    return;
  }
  counters.dram_read_sectors += bits(mask & ~answer.hit);
}

void Hierarchy::State::near_stage(std::size_t part, std::span<const AccessLog> blocks,
                                  std::span<const std::uint32_t> sm) {
  constexpr std::uint32_t scattered = 8;  // sectors of a request whose sets are far apart in the host's memory
  const auto sm_of = [&](std::uint32_t block) { return (block < sm.size() ? sm[block] : block) % shape.sm_count; };
  std::vector<std::uint32_t> running;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    if (!blocks[i].entries.empty() && sm_of(i) % parts == part) running.push_back(i);
  }
  CacheCounters& counters = counted[part].counters;
  for (std::uint32_t turn = 0; !running.empty(); ++turn) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < running.size(); ++i) {
      const std::uint32_t block = running[i];
      if (i + 1 < running.size()) {  // one request ahead
        const AccessLog& next = blocks[running[i + 1]];
        const AccessLog::Entry& entry = next.entries[turn];
        const SectorCache& near = l1_of(sm_of(running[i + 1]));
        if (!entry.run && entry.count >= scattered) {
          each_line(next, entry, [&](std::uint64_t line, std::uint32_t) { near.prefetch(line); });
        }
      }
      const AccessLog& log = blocks[block];
      pass_near(log, log.entries[turn], turn, l1_of(sm_of(block)), &found[block * parts], counters);
      if (turn + 1 < log.entries.size()) running[left++] = block;
    }
    running.resize(left);
  }
}

void Hierarchy::State::far_stage(std::size_t part) {
  std::vector<MissList*> running;
  for (std::size_t block = 0; block < waiting_blocks; ++block) {
    MissList& list = waiting[block * parts + part];
    if (!list.done()) running.push_back(&list);
  }
  CacheCounters& counters = counted[parts + part].counters;
  for (std::uint32_t turn = 0; !running.empty(); ++turn) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < running.size(); ++i) {
      if (i + 1 < running.size()) {
        running[i + 1]->look(turn, [&](std::uint64_t line, CachePath, std::uint32_t) { l2.prefetch(line); });
      }
      MissList& list = *running[i];
      list.take(turn,
                [&](std::uint64_t line, CachePath path, std::uint32_t mask) { pass_far(line, path, mask, counters); });
      if (!list.done()) running[left++] = &list;
    }
    running.resize(left);
  }
  for (std::size_t block = 0; block < waiting_blocks; ++block) waiting[block * parts + part].clear();
}

Hierarchy::Hierarchy(const HierarchyShape& shape, std::size_t parts) : state_(std::make_unique<State>(shape, parts)) {}
Hierarchy::~Hierarchy() = default;
Hierarchy::Hierarchy(Hierarchy&&) noexcept = default;

std::size_t Hierarchy::tasks() const {
  return 2 * state_->parts;
}

void Hierarchy::expect(std::size_t blocks) {
  state_->make_room(blocks);
}

void Hierarchy::run_task(std::size_t task, std::span<const AccessLog> blocks, std::span<const std::uint32_t> sm) {
  if (task < state_->parts) return state_->near_stage(task, blocks, sm);
  state_->far_stage(task - state_->parts);
}

void Hierarchy::advance() {
  std::swap(state_->found, state_->waiting);
  std::swap(state_->found_blocks, state_->waiting_blocks);
  state_->found_blocks = 0;
}

void Hierarchy::run_wave(std::span<const AccessLog> blocks, std::span<const std::uint32_t> sm) {
  expect(blocks.size());
  for (std::size_t task = 0; task < state_->parts; ++task) run_task(task, blocks, sm);
  advance();
  for (std::size_t task = state_->parts; task < tasks(); ++task) run_task(task, {}, {});
  state_->waiting_blocks = 0;
}

void Hierarchy::finish() {
  state_->counted[0].counters.dram_write_sectors += state_->l2.clean();
}

CacheCounters Hierarchy::counters() const {
  CacheCounters sum;
  for (const State::Part& part : state_->counted) sum += part.counters;
  return sum;
}

}  // namespace corridor::ptx
