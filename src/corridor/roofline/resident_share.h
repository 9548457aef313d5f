// SPDX-License-Identifier: Apache-2.0
// How much of what an operation reads is still in the last cache from its own last execution.
//
// A benchmark runs one operation again and again, so small operands never leave the cache; in a real step the weights
// of all the other layers pass in between, and every read is cold.
#pragma once

namespace corridor::roofline {

/// Share of reads that hit, when `working_set` bytes are read in turn through a cache of `capacity` bytes with random
/// replacement: 1 while they fit, then the solution of h = exp(−(1 − h) · working_set ÷ capacity), which falls to
/// nothing at a few times the capacity. 0 for a capacity of nothing.
[[nodiscard]] double resident_share(double working_set, double capacity);

}  // namespace corridor::roofline
