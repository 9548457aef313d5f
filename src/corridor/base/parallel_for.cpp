// SPDX-License-Identifier: Apache-2.0
// parallel_for over TBB.
#include "corridor/base/parallel_for.h"

#include <algorithm>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace corridor {

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (count == 1) return body(0);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count), [&](const tbb::blocked_range<std::size_t>& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) body(i);
  });
}

std::size_t usable_cores() {
  return static_cast<std::size_t>(std::max(1, tbb::this_task_arena::max_concurrency()));
}

}  // namespace corridor
