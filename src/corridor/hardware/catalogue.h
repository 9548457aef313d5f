// SPDX-License-Identifier: Apache-2.0
// Finds devices by any name people use and reads their files; nothing is parsed until it is asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/hardware/device.h"

namespace corridor::hardware {

/// A device and how its name was understood.
struct ResolvedDevice {
  Device device;
  std::string note;  ///< empty, or "h100 taken as h100-sxm; also: h100-pcie, h100-nvl"
};

/// Reads one device file. Errors carry the file and the line: "devices/x.toml:12: bandwidth has no unit".
[[nodiscard]] Result<Device> parse_device(std::string_view toml_text, const std::string& file);

/// Ids of every device in the catalogue, sorted. Reads the heads of the files only.
[[nodiscard]] std::vector<std::string> device_ids(const Assets& assets);

/// `name` is an id, an alias, the driver's name (any case; "NVIDIA ", spaces, dashes do not matter) or a path to a
/// device file. An unknown name fails with the nearest known names.
[[nodiscard]] Result<ResolvedDevice> find_device(const Assets& assets, std::string_view name);

}  // namespace corridor::hardware
