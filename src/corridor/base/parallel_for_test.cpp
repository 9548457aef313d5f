// SPDX-License-Identifier: Apache-2.0
// Every index once, each in its own place, and exceptions that arrive.
#include "corridor/base/parallel_for.h"

#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace corridor {
namespace {

TEST(ParallelFor, CallsEveryIndexOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 1000U, 100'000U}) {
    std::vector<int> calls(count, 0);
    parallel_for(count, [&](std::size_t i) { ++calls[i]; });
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(calls[i], 1) << i << " of " << count;
  }
}

TEST(ParallelFor, LoopsMayStandInsideLoops) {
  std::vector<std::vector<std::size_t>> sums(50, std::vector<std::size_t>(50));
  parallel_for(50, [&](std::size_t i) { parallel_for(50, [&](std::size_t k) { sums[i][k] = i * k; }); });
  for (std::size_t i = 0; i < 50; ++i) {
    for (std::size_t k = 0; k < 50; ++k) ASSERT_EQ(sums[i][k], i * k);
  }
}

TEST(ParallelFor, AnExceptionReachesTheCaller) {
  const auto throws_at = [](std::size_t count) {
    parallel_for(count, [&](std::size_t i) {
      if (i == count - 1) throw std::runtime_error("body");
    });
  };
  EXPECT_THROW(throws_at(1), std::runtime_error);
  EXPECT_THROW(throws_at(1000), std::runtime_error);
}

}  // namespace
}  // namespace corridor
