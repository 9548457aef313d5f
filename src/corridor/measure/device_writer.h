// SPDX-License-Identifier: Apache-2.0
// A Device as the text of a device file, which `--device FILE` reads back to the same numbers.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corridor/hardware/device.h"

namespace corridor::measure {

/// `remarks` (condition, value) become comment lines at the top. Facts keep value, unit, source, basis, date and note;
/// a value that a device file may not hold (not finite, not positive) is left out.
[[nodiscard]] std::string device_toml(const hardware::Device& device,
                                      const std::vector<std::pair<std::string, std::string>>& remarks);

/// `text` between quotes, with everything escaped that TOML asks for.
[[nodiscard]] std::string toml_text(std::string_view text);

}  // namespace corridor::measure
