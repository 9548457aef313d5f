// SPDX-License-Identifier: Apache-2.0
// A TOML file of constants, each { value, unit, source, basis, date, … }: flattened to dotted names, checked one by
// one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"

namespace corridor::roofline {

struct Constant {
  double value = 0;  ///< booleans are 0 and 1
  std::string unit;
  std::string source;  ///< in full; a file may write one word that its [sources] explains
  std::string basis;
  int line = 0;
};

struct ConstantFile {
  std::string file;
  std::map<std::string, Constant> values;                 ///< "product.bf16.t0_s" → constant
  std::map<std::string, std::string> texts;               ///< strings outside constants ("all_reduce_kernel")
  std::map<std::string, std::vector<std::string>> lists;  ///< string arrays ("applies_to.vendors")

  /// The value of `key`; fails with the file's name when it is missing.
  [[nodiscard]] Result<double> number(const std::string& key) const;
  /// Values of `other` take the place of those of the same name.
  void overlay(const ConstantFile& other);
};

/// Errors name file and line: no unit, no source, unknown basis, not a finite number, negative.
[[nodiscard]] Result<ConstantFile> parse_constants(std::string_view toml_text, const std::string& file);

}  // namespace corridor::roofline
