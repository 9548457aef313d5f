// SPDX-License-Identifier: Apache-2.0
// Which constants are fitted together, on which points, between which bounds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "points.h"
#include "search.h"

namespace corridor::fit {

struct FittedKey {
  std::string key;  ///< "product.bf16.k_half"
  Axis axis;
};

struct Group {
  std::string name;                ///< "product.bf16"
  std::vector<FittedKey> keys;     ///< fitted together
  std::vector<std::string> owned;  ///< keys that say what the device is (floor, bandwidth): kept when it is left out
  std::vector<std::string> fixed;  ///< not fitted, but the class's own: they go along to another class
  std::function<bool(const Point&)> takes;
  std::string regime;  ///< in words, beside the residuals
};

/// Every group, in the order they are fitted (a later one may rest on an earlier one's constants).
[[nodiscard]] std::vector<Group> groups();

}  // namespace corridor::fit
