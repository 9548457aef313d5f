// SPDX-License-Identifier: Apache-2.0
// Reads one number of a device file with everything that makes it believable, and refuses it with its line when not.
//
//   bandwidth_bytes_per_s = { value = 3.35e12, unit = "B/s", source = "datasheet", basis = "vendor", date =
//   "2026-11-29" }
//
// Internal to the hardware module: only its .cpp files include this header, because it brings in toml++.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <toml++/toml.h>

#include "corridor/base/result.h"
#include "corridor/hardware/device.h"

namespace corridor::hardware {

/// What a number of one key may be.
struct NumberRule {
  std::string_view unit;  ///< the only unit accepted: "B/s"
  double smallest = 0;    ///< values must be above zero and at least this
  double largest = 0;     ///< a larger value is a slip of units, not a device
  bool whole = false;     ///< a count: no fraction allowed
};

inline constexpr NumberRule bytes_rule{"B", 1, 1e16, true};
inline constexpr NumberRule bandwidth_rule{"B/s", 1e3, 1e18, false};
inline constexpr NumberRule flops_rule{"FLOP/s", 1e6, 1e20, false};
inline constexpr NumberRule ops_rule{"OP/s", 1e6, 1e20, false};
inline constexpr NumberRule seconds_rule{"s", 1e-12, 1, false};
inline constexpr NumberRule hertz_rule{"Hz", 1e6, 1e11, false};
inline constexpr NumberRule watts_rule{"W", 0.1, 1e6, false};
inline constexpr NumberRule year_rule{"year", 1990, 2100, true};

/// The [sources] table of a file: short key → full text.
using SourceTable = std::map<std::string, std::string, std::less<>>;

/// "devices/x.toml:12"
[[nodiscard]] std::string at(const std::string& file, const toml::node& node);

/// A plain string value: not empty unless allowed, no control characters, at most 2,000 bytes.
[[nodiscard]] Result<std::string> read_text(const toml::node& node, std::string_view path, const std::string& file,
                                            bool may_be_empty = false);

/// Why a source text is not good enough to find the number again; empty when it is.
[[nodiscard]] std::string source_fault(std::string_view source);

/// Reads [sources]; every entry must be specific.
[[nodiscard]] Result<SourceTable> read_sources(const toml::table& table, const std::string& file);

/// Reads one number. `path` is the dotted key for messages ("memory.bandwidth_bytes_per_s").
[[nodiscard]] Result<Fact<double>> read_fact(const toml::node& node, std::string_view path, const NumberRule& rule,
                                             const SourceTable& sources, const std::string& file);

}  // namespace corridor::hardware
