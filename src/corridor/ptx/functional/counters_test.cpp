// SPDX-License-Identifier: Apache-2.0
// Counters add up, and their names are those of Nsight Compute, held to exports of it where they are at hand.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "corridor/ptx/functional/counters.h"

namespace corridor::ptx {
namespace {

constexpr std::size_t at(Type type) {
  return static_cast<std::size_t>(type);
}

double value_of(const Counters& counters, std::string_view name) {
  for (const NamedCounter& one : named(counters)) {
    if (one.name == name) return one.value;
  }
  ADD_FAILURE() << "no counter " << name;
  return -1;
}

TEST(Counters, FlopsByType) {
  Counters counters;
  counters.fadd[at(Type::f32)] = 10;
  counters.fmul[at(Type::f32)] = 5;
  counters.ffma[at(Type::f32)] = 100;
  counters.ffma[at(Type::f16x2)] = 8;
  counters.tensor_flops[at(Type::bf16)] = 4096;
  EXPECT_EQ(counters.flops(Type::f32), 215);
  EXPECT_EQ(counters.flops(Type::f16x2), 16);
  EXPECT_EQ(counters.flops(Type::bf16), 0);  // the tensor pipe is no vector pipe
  EXPECT_EQ(counters.flops(), 215 + 16 + 4096);
  EXPECT_EQ(counters.flops(static_cast<Type>(200)), 0);
}

TEST(Counters, SumsEveryMember) {
  // Every counter is a 64-bit integer or a double: fill the object with ones as bytes would be wrong, so by name.
  Counters one;
  one.blocks = one.warps = one.warp_instructions = one.thread_instructions = one.thread_instructions_on = 1;
  one.special = one.branches = one.divergent_branches = one.barriers = one.shuffles = one.votes = 1;
  one.issue_slots = 1;
  for (auto* array : {&one.fadd, &one.fmul, &one.ffma, &one.tensor_flops}) array->fill(1);
  one.active_lanes.fill(1);
  one.by_pipe.fill(1);
  for (auto* access : {&one.global_load, &one.global_store, &one.global_atomic, &one.local_load, &one.local_store,
                       &one.shared_load, &one.shared_store, &one.shared_atomic}) {
    *access = {1, 1, 2, 1, 1};
  }
  one.cache = {1, 1, 1, 1, 1, 1, 1, 1};
  Counters sum = one;
  sum.add(one);
  const auto single = named(one), twice = named(sum);
  ASSERT_EQ(single.size(), twice.size());
  for (std::size_t i = 0; i < single.size(); ++i) {
    const bool is_ratio = single[i].name.ends_with(".ratio");
    EXPECT_GT(single[i].value, 0) << single[i].name;
    EXPECT_EQ(twice[i].value, is_ratio ? single[i].value : 2 * single[i].value) << single[i].name;
  }
  EXPECT_EQ(sum.active_lanes[32], 2U);
  EXPECT_EQ(sum.cache.dram_write_sectors, 2U);
}

TEST(Counters, ConflictsAreWhatExceedsTheLeast) {
  Counters counters;
  counters.shared_load = {10, 0, 320, 10, 1280};
  EXPECT_EQ(value_of(counters, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), 310);
  counters.shared_load.wavefronts = 3;  // fewer than the least cannot be: no wrap
  EXPECT_EQ(value_of(counters, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), 0);
}

TEST(Counters, NamesAreUniqueAndCachesAreLeftOutWhenNotModelled) {
  std::set<std::string_view> seen;
  for (const NamedCounter& one : named({})) {
    EXPECT_TRUE(seen.insert(one.name).second) << one.name;
    EXPECT_FALSE(one.unit.empty());
    EXPECT_FALSE(one.name.starts_with("dram__"));
  }
}

TEST(Counters, NamesStandInExportsOfNsightCompute) {
  const std::filesystem::path folder = CORRIDOR_SOURCE_DIR "/../shared/data/profiles/ncu";
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) GTEST_SKIP() << "no exports at " << folder;
  std::string exports;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    exports += text.str();
  }
  // The exports hold few metrics: those that both sides name must be spelled alike.
  Counters counters;
  counters.cache.l1_sectors = 1;
  int found = 0;
  for (const NamedCounter& one : named(counters)) {
    std::string as_sm(one.name);  // the same counter summed over an SM instead of its four parts
    if (as_sm.starts_with("smsp__sass_thread")) as_sm.replace(0, 4, "sm");
    found += exports.find(as_sm) != std::string::npos;
  }
  EXPECT_GE(found, 15);
}

}  // namespace
}  // namespace corridor::ptx
