// SPDX-License-Identifier: Apache-2.0
// Fits the constants of data/kernels to measured operations, and says how well they carry over.
//
//   hopper  product.bf16   334 points   published 6.6 / 15.4 %   fitted 5.4 / 15.8 %   shapes out 5.3 / 19.2 %
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"

namespace corridor::fit {

struct OperationOptions {
  std::string only_class;               ///< empty: every class that has points
  std::vector<std::string> files;       ///< tables; empty: the shipped ones
  std::optional<std::string> write_to;  ///< a data folder whose kernels/*.toml are to be changed
  std::optional<std::string> rows;      ///< one line a point under the published constants
  bool judge = false;                   ///< only compare the published constants with the points
};

[[nodiscard]] Result<int> fit_operations(const Assets& assets, const OperationOptions& options);

}  // namespace corridor::fit
