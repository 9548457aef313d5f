// SPDX-License-Identifier: Apache-2.0
// Short ways to put typed quantities into a Document.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "corridor/report/document.h"
#include "corridor/units/units.h"

namespace corridor::views {

inline report::Value value(units::Seconds x) {
  return {x.value(), report::Unit::seconds};
}
inline report::Value value(units::Bytes x) {
  return {x.value(), report::Unit::bytes};
}
inline report::Value value(units::Flops x) {
  return {x.value(), report::Unit::flops};
}
inline report::Value value(units::FlopsPerByte x) {
  return {x.value(), report::Unit::flop_per_byte};
}
inline report::Value value(units::BytesPerSecond x) {
  return {x.value(), report::Unit::bytes_per_second};
}
inline report::Value value(units::FlopsPerSecond x) {
  return {x.value(), report::Unit::flops_per_second};
}
/// A count that is whole stays whole in JSON (2, not 2.0).
inline report::Value whole_or_not(double x, report::Unit unit) {
  constexpr double exact_limit = 9007199254740992.0;  // 2^53: above it a double no longer tells neighbours apart
  if (x == std::floor(x) && std::fabs(x) < exact_limit) return {static_cast<std::int64_t>(x), unit};
  return {x, unit};
}
inline report::Value count(double x) {
  return whole_or_not(x, report::Unit::count);
}
inline report::Value tokens(double x) {
  return whole_or_not(x, report::Unit::tokens);
}
inline report::Value tokens_per_second(double x) {
  return {x, report::Unit::tokens_per_second};
}
inline report::Value share(double x) {
  return {x, report::Unit::percent};
}
inline report::Value text(std::string x) {
  return {std::move(x), report::Unit::none};
}
inline report::Value flag(bool x) {
  return {x, report::Unit::none};
}
inline report::Value null_value() {
  return {};
}
template <class Make>
report::Value maybe(const std::optional<double>& x, Make make) {
  return x ? make(*x) : null_value();
}

/// What closes a small answer: remarks, what was assumed and, when asked for, the formulas.
inline void append_remarks(report::Document& document, const std::vector<std::string>& notes,
                           const std::vector<std::string>& assumptions, bool explain,
                           const std::vector<std::string>& formulas) {
  const auto append = [&](const char* key, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      document.blocks.emplace_back(report::Paragraph{key, line, report::Paragraph::Style::detail});
    }
  };
  append("notes", notes);
  append("assumptions", assumptions);
  if (explain) append("explain", formulas);
}

}  // namespace corridor::views
