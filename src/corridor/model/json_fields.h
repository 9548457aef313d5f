// SPDX-License-Identifier: Apache-2.0
// Reads checked values out of a JSON object; the first bad one is kept as the error and later reads give defaults.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "corridor/base/result.h"

namespace corridor::model {

/// Parses JSON as Python's json writes it: Infinity and NaN are accepted and read as null. Nesting deeper than 64 or
/// text that is not JSON is an error with the line. `repeated` takes the keys that one object holds twice; the last
/// counts.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, const std::string& where,
                                                std::vector<std::string>* repeated = nullptr);

/// A JSON object whose values are read by any of several key names.
class Fields {
 public:
  using Names = std::initializer_list<const char*>;

  /// `object` must outlive this. `where` names the file in errors.
  Fields(const nlohmann::json& object, std::string where) : object_(&object), where_(std::move(where)) {}

  /// The first of `names` that is present and not null; nullptr when none is.
  [[nodiscard]] const nlohmann::json* find(Names names, std::string* found = nullptr) const;
  [[nodiscard]] bool has(Names names) const { return find(names) != nullptr; }

  /// A whole number in [low, high]; `fallback` when absent; without fallback its absence is an error.
  std::int64_t integer(Names names, std::optional<std::int64_t> fallback, std::int64_t low = 0,
                       std::int64_t high = 1'000'000'000);
  bool boolean(Names names, bool fallback);
  std::string text(Names names, const std::string& fallback = {});
  /// A list of numbers or truth values as whole numbers, each in [low, high]; empty when absent.
  std::vector<std::int64_t> integers(Names names, std::int64_t low = 0, std::int64_t high = 1'000'000'000);
  /// A list of strings; empty when absent.
  std::vector<std::string> texts(Names names);

  /// Records an error unless one is there already.
  void reject(std::string what, std::string fix);
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const nlohmann::json& object() const { return *object_; }

 private:
  const nlohmann::json* object_;
  std::string where_;
  std::optional<Error> error_;
};

}  // namespace corridor::model
