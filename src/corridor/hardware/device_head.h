// SPDX-License-Identifier: Apache-2.0
// The part of a device file above its first table: all that name resolution needs, so that no file is parsed whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"

namespace corridor::hardware {

struct DeviceHead {
  std::string id;
  std::string name;
  std::vector<std::string> aliases;
};

/// The text up to the first line that starts with '[' (the first table).
[[nodiscard]] std::string_view head_of(std::string_view toml_text);

/// Reads id, name and aliases of a head written plainly (one key a line, basic strings without escapes), as the shipped
/// files are; empty when it is written in any other way. Some microseconds, where TOML costs some tens.
[[nodiscard]] std::optional<DeviceHead> scan_device_head(std::string_view toml_text);

/// Reads id, name and aliases of any head; other keys are not looked at.
[[nodiscard]] Result<DeviceHead> parse_device_head(std::string_view toml_text, const std::string& file);

}  // namespace corridor::hardware
