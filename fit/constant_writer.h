// SPDX-License-Identifier: Apache-2.0
// Writes fitted values into the text of a file of constants, leaving every other character as it is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "error_stats.h"

namespace corridor::fit {

struct NewConstant {
  std::string key;    ///< "product.bf16.k_half"
  double value = 0;   ///< already rounded
  std::string unit;   ///< for a key that is not in the file yet
  ErrorStats fitted;  ///< of the group, on the rounded values; no points: left out
};

/// Three significant digits, as they are published.
[[nodiscard]] double rounded(double value);

/// The text with value, residual_median, residual_p90 and points of each constant replaced, or its line added at the
/// end of its table, or its table at the end of the file. Writing the same constants twice changes nothing.
[[nodiscard]] std::string with_constants(const std::string& toml_text, const std::vector<NewConstant>& constants);

}  // namespace corridor::fit
