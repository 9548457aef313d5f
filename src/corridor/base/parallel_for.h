// SPDX-License-Identifier: Apache-2.0
// Loops over several cores: the one place of the program that starts threads for arithmetic.
#pragma once

#include <cstddef>
#include <functional>

namespace corridor {

/// Calls `body(i)` once for each i in [0, count), in any order and on any core; returns when all are done. A body that
/// writes only to its own place i gives the same result on any number of cores: reduce afterwards, in index order. An
/// exception of a body ends the loop and is thrown here.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

/// How many bodies run at the same time at most.
[[nodiscard]] std::size_t usable_cores();

}  // namespace corridor
