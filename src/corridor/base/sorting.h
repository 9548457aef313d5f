// SPDX-License-Identifier: Apache-2.0
// Sorting of long lists that most often are in order already: recorders write events as they happen.
#pragma once

#include <algorithm>
#include <functional>

namespace corridor {

/// Stable sort of a container; one pass and no memory where it is in order already.
template <class Rows, class Less = std::less<>>
void stable_sort_if_needed(Rows& rows, Less less = {}) {
  if (!std::is_sorted(rows.begin(), rows.end(), less)) std::stable_sort(rows.begin(), rows.end(), less);
}

/// Sort of a container, equal elements in any order; one pass where it is in order already.
template <class Rows, class Less = std::less<>>
void sort_if_needed(Rows& rows, Less less = {}) {
  if (!std::is_sorted(rows.begin(), rows.end(), less)) std::sort(rows.begin(), rows.end(), less);
}

}  // namespace corridor
