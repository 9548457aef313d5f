// SPDX-License-Identifier: Apache-2.0
// What hits where: compulsory traffic, capacity, write-back, order of blocks; and laws that hold for any access.
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "corridor/ptx/memory/hierarchy.h"

namespace corridor::ptx {
namespace {

/// A warp's request for 4-byte words from `first_word` on.
void ask(AccessLog& log, CachePath path, std::uint64_t first_word, std::uint64_t step = 1) {
  std::vector<std::uint64_t> address(warp_lanes);
  for (std::size_t lane = 0; lane < address.size(); ++lane) address[lane] = 4 * (first_word + lane * step);
  Request request;
  coalesce(address.data(), 0xFFFFFFFF, 4, request);
  log.append(path, request);
}

/// One block on SM 0 that passes over `lines` lines `times` times.
CacheCounters sweep(const HierarchyShape& shape, std::uint64_t lines, int times, CachePath path = CachePath::load) {
  Hierarchy hierarchy(shape);
  std::vector<AccessLog> logs(1);
  for (int time = 0; time < times; ++time) {
    for (std::uint64_t line = 0; line < lines; ++line) ask(logs[0], path, 32 * line);
  }
  const std::uint32_t sm = 0;
  hierarchy.run_wave(logs, {&sm, 1});
  hierarchy.finish();
  return hierarchy.counters();
}

constexpr HierarchyShape small_shape{4, 8 * 1024, 64 * 1024, 4, 16};  // 64 and 512 lines

TEST(Hierarchy, FirstTouchIsCompulsory) {
  const CacheCounters counters = sweep(small_shape, 64, 1);
  EXPECT_EQ(counters.l1_sectors, 256U);
  EXPECT_EQ(counters.l1_hits, 0U);
  EXPECT_EQ(counters.l2_read_sectors, 256U);
  EXPECT_EQ(counters.l2_read_hits, 0U);
  EXPECT_EQ(counters.dram_read_sectors, 256U);
  EXPECT_EQ(counters.dram_write_sectors, 0U);
}

TEST(Hierarchy, CapacityOfEachLevel) {
  EXPECT_EQ(sweep(small_shape, 64, 3).l1_hits, 2U * 256);  // as many lines as L1 holds: all hit the second time
  const CacheCounters beyond_l1 = sweep(small_shape, 512, 3);
  EXPECT_EQ(beyond_l1.l1_hits, 0U);  // passing over more than fits in turn: least recently used keeps nothing
  EXPECT_EQ(beyond_l1.l2_read_hits, 2U * 2048);
  EXPECT_EQ(beyond_l1.dram_read_sectors, 2048U);
  const CacheCounters beyond_l2 = sweep(small_shape, 2048, 3);
  EXPECT_EQ(beyond_l2.l2_read_hits, 0U);
  EXPECT_EQ(beyond_l2.dram_read_sectors, 3U * 8192);
}

TEST(Hierarchy, SectorsAreFetchedAlone) {
  Hierarchy hierarchy(small_shape);
  std::vector<AccessLog> logs(1);
  ask(logs[0], CachePath::load, 0, 32);  // one word of each of 32 lines
  ask(logs[0], CachePath::load, 8, 32);  // the next sector of the same lines
  ask(logs[0], CachePath::load, 1, 32);  // in the first sectors again
  const std::uint32_t sm = 0;
  hierarchy.run_wave(logs, {&sm, 1});
  EXPECT_EQ(hierarchy.counters().l1_sectors, 96U);
  EXPECT_EQ(hierarchy.counters().l1_hits, 32U);
  EXPECT_EQ(hierarchy.counters().dram_read_sectors, 64U);
}

TEST(Hierarchy, WritesGoBackOnceAndNeedNoRead) {
  const CacheCounters once = sweep(small_shape, 100, 5, CachePath::store);
  EXPECT_EQ(once.l2_write_sectors, 5U * 400);
  EXPECT_EQ(once.dram_write_sectors, 400U);  // it stayed in L2 until the end
  EXPECT_EQ(once.dram_read_sectors, 0U);
  EXPECT_EQ(sweep(small_shape, 2048, 2, CachePath::store).dram_write_sectors, 2U * 8192);
}

TEST(Hierarchy, PathsAroundL1) {
  EXPECT_EQ(sweep(small_shape, 10, 4, CachePath::load_l2).l1_sectors, 0U);
  EXPECT_EQ(sweep(small_shape, 10, 4, CachePath::load_l2).l2_read_hits, 3U * 40);
  const CacheCounters atomics = sweep(small_shape, 10, 4, CachePath::atomic);
  EXPECT_EQ(atomics.l2_atomic_sectors, 160U);
  EXPECT_EQ(atomics.dram_read_sectors, 40U);
  EXPECT_EQ(atomics.dram_write_sectors, 40U);
  Hierarchy hierarchy(small_shape);
  std::vector<AccessLog> logs(1);
  ask(logs[0], CachePath::store, 0);  // a store does not allocate in L1
  ask(logs[0], CachePath::load, 0);
  ask(logs[0], CachePath::load, 0);
  const std::uint32_t sm = 0;
  hierarchy.run_wave(logs, {&sm, 1});
  EXPECT_EQ(hierarchy.counters().l1_hits, 4U);
  EXPECT_EQ(hierarchy.counters().l2_read_hits, 4U);
}

TEST(Hierarchy, EachSmHasItsOwnL1) {
  std::vector<AccessLog> logs(2);
  for (AccessLog& log : logs) ask(log, CachePath::load, 0);
  const std::vector<std::uint32_t> same = {0, 0}, apart = {0, 1};
  Hierarchy together(small_shape), separate(small_shape);
  together.run_wave(logs, same);
  separate.run_wave(logs, apart);
  EXPECT_EQ(together.counters().l1_hits, 4U);
  EXPECT_EQ(separate.counters().l1_hits, 0U);
  EXPECT_EQ(separate.counters().l2_read_hits, 4U);
  EXPECT_EQ(separate.counters().dram_read_sectors, 4U);
}

/// A product's blocks: each reads a panel of a rows of tiles and one of columns, `panel` lines each.
AccessLog product_block(std::uint64_t row, std::uint64_t column, std::uint64_t panel) {
  AccessLog log;
  for (std::uint64_t line = 0; line < panel; ++line) {
    ask(log, CachePath::load, 32 * (row * panel + line));
    ask(log, CachePath::load, 32 * ((1000 + column) * panel + line));
  }
  return log;
}

TEST(Hierarchy, BlocksThatRunTogetherShareWhatTheyRead) {
  constexpr std::uint64_t side = 8, panel = 64;  // both matrices: 1,024 lines, twice L2
  std::vector<AccessLog> logs;
  std::vector<std::uint32_t> sm;
  for (std::uint64_t block = 0; block < side * side; ++block) {
    logs.push_back(product_block(block / side, block % side, panel));
    sm.push_back(static_cast<std::uint32_t>(block % small_shape.sm_count));
  }
  Hierarchy wave(small_shape), alone(small_shape);
  wave.run_wave(logs, sm);
  for (std::size_t i = 0; i < logs.size(); ++i) alone.run_wave({&logs[i], 1}, {&sm[i], 1});
  const std::uint64_t compulsory = 4 * 2 * side * panel;
  EXPECT_EQ(wave.counters().dram_read_sectors, compulsory);
  EXPECT_GT(alone.counters().dram_read_sectors, 2 * compulsory);  // one after the other: panels have left L2 again
}

TEST(Hierarchy, TrafficOfSomeBlocksDoesNotScale) {
  // 16 of 256 blocks of a product touch far more than a sixteenth of its footprint: scaling them up is wrong by far.
  constexpr std::uint64_t side = 16, panel = 16;
  const HierarchyShape shape{132, 128 * 1024, 4 * 1024 * 1024, 4, 16};
  Hierarchy full(shape), sampled(shape);
  std::vector<AccessLog> logs, some;
  std::vector<std::uint32_t> sm;
  for (std::uint64_t block = 0; block < side * side; ++block) {
    logs.push_back(product_block(block / side, block % side, panel));
    if (block % (side + 1) == 0) some.push_back(logs.back());
    sm.push_back(static_cast<std::uint32_t>(block % shape.sm_count));
  }
  full.run_wave(logs, sm);
  sampled.run_wave(some, sm);
  EXPECT_EQ(full.counters().dram_read_sectors, 4 * 2 * side * panel);
  EXPECT_EQ(some.size(), side);
  // These blocks alone touch the whole footprint: multiplied by 16 they would say 16 times too much.
  EXPECT_EQ(sampled.counters().dram_read_sectors, full.counters().dram_read_sectors);
}

TEST(Hierarchy, FedInPartsKeepsWhatItHolds) {
  Hierarchy whole(small_shape), parts(small_shape);
  std::vector<AccessLog> logs(1);
  const std::uint32_t sm = 2;
  for (std::uint64_t line = 0; line < 40; ++line) {
    AccessLog part;
    ask(part, CachePath::load, 32 * (line % 20));
    ask(logs[0], CachePath::load, 32 * (line % 20));
    parts.run_wave({&part, 1}, {&sm, 1});
  }
  whole.run_wave(logs, {&sm, 1});
  EXPECT_EQ(whole.counters().l1_hits, 80U);
  EXPECT_EQ(parts.counters().l1_hits, 80U);
}

TEST(Hierarchy, NoCachesAndHostileShapes) {
  const CacheCounters none = sweep({0, 0, 0, 0, 0}, 10, 2);
  EXPECT_EQ(none.l1_hits + none.l2_read_hits, 0U);
  EXPECT_EQ(none.dram_read_sectors, 80U);
  EXPECT_EQ(sweep({0, 0, 0, 0, 0}, 10, 2, CachePath::store).dram_write_sectors, 80U);
  EXPECT_EQ(sweep({1, 128, 128, 1000000, 0}, 1, 2).l1_hits, 4U);
  Hierarchy hierarchy(small_shape);
  std::vector<AccessLog> logs(3);
  ask(logs[1], CachePath::load, 0);
  hierarchy.run_wave(logs, {});  // no SM named
  EXPECT_EQ(hierarchy.counters().dram_read_sectors, 4U);
}

using Step = std::tuple<int, std::uint64_t>;  // path, line

CacheCounters random_run(const HierarchyShape& shape, const std::vector<std::vector<Step>>& blocks) {
  Hierarchy hierarchy(shape);
  std::vector<AccessLog> logs(blocks.size());
  std::vector<std::uint32_t> sm;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (const auto& [path, line] : blocks[i]) ask(logs[i], static_cast<CachePath>(path), 32 * line, 1 + line % 3);
    sm.push_back(static_cast<std::uint32_t>(i) % 2);
  }
  hierarchy.run_wave(logs, sm);
  hierarchy.finish();
  return hierarchy.counters();
}

RC_GTEST_PROP(Hierarchy, LawsOfAnyAccess, ()) {
  const auto blocks =
      *rc::gen::resize(40, rc::gen::arbitrary<std::vector<std::vector<std::pair<std::uint8_t, std::uint8_t>>>>());
  std::vector<std::vector<Step>> steps;
  for (const auto& block : blocks) {
    steps.emplace_back();
    for (const auto& [path, line] : block) steps.back().emplace_back(path % 4, line % 64);
  }
  // One set: truly the least recently used line of all leaves, and then a larger cache never misses more.
  const CacheCounters little = random_run({2, 8 * 128, 16 * 128, 8, 16}, steps);
  const CacheCounters more = random_run({2, 8 * 128, 40 * 128, 8, 40}, steps);
  for (const CacheCounters& c : {little, more}) {
    RC_ASSERT(c.l1_hits <= c.l1_sectors);
    RC_ASSERT(c.l2_read_hits <= c.l2_read_sectors);
    RC_ASSERT(c.dram_read_sectors <= c.l2_read_sectors + c.l2_atomic_sectors);
    RC_ASSERT(c.dram_write_sectors <= c.l2_write_sectors + c.l2_atomic_sectors);
  }
  RC_ASSERT(little.l1_hits == more.l1_hits);
  RC_ASSERT(more.dram_read_sectors <= little.dram_read_sectors);
  RC_ASSERT(more.dram_write_sectors <= little.dram_write_sectors);
}

RC_GTEST_PROP(Hierarchy, PartsAndTheOrderOfTasksChangeNothing, ()) {
  const auto blocks =
      *rc::gen::resize(40, rc::gen::arbitrary<std::vector<std::vector<std::pair<std::uint8_t, std::uint8_t>>>>());
  const HierarchyShape shape{5, 4 * 1024, 13 * 1024, 4, 8};
  Hierarchy whole(shape), cut(shape, 3);
  const auto round = [&](std::span<const AccessLog> logs, std::span<const std::uint32_t> sm) {
    cut.expect(logs.size());
    for (std::size_t task = cut.tasks(); task-- > 0;) cut.run_task(task, logs, sm);
    cut.advance();
  };
  constexpr std::size_t wave = 7;  // blocks
  for (std::size_t first = 0; first < blocks.size(); first += wave) {
    std::vector<AccessLog> logs(std::min(wave, blocks.size() - first));
    std::vector<std::uint32_t> sm;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      for (const auto& [path, line] : blocks[first + i]) {
        ask(logs[i], static_cast<CachePath>(path % 4), 32U * line, 1U + line % 3U);
      }
      sm.push_back(static_cast<std::uint32_t>(first + i));
    }
    whole.run_wave(logs, sm);
    round(logs, sm);
  }
  round({}, {});
  whole.finish();
  cut.finish();
  const bool same = whole.counters() == cut.counters();
  RC_ASSERT(same);
}

}  // namespace
}  // namespace corridor::ptx
