// SPDX-License-Identifier: Apache-2.0
// Puts a fitted constant into its TOML file, in place, so that the rest of the file stays as people wrote it.
#pragma once

#include <string>

#include "corridor/base/result.h"
#include "residuals.h"

namespace corridor::fit {

struct ConstantLine {
  std::string key;
  double value = 0;
  std::string unit;
  std::string source;
  Spread residuals;
};

/// The TOML line of a constant.
[[nodiscard]] std::string toml_line(const ConstantLine& line);
/// Replaces the line of the key, or adds one before the first table. The rest stays byte for byte.
[[nodiscard]] Result<int> write_constant(const std::string& path, const ConstantLine& line);
[[nodiscard]] Result<int> write_file(const std::string& path, const std::string& text);

}  // namespace corridor::fit
