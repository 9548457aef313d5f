// SPDX-License-Identifier: Apache-2.0
// The names of PTX's read-only special registers.
#pragma once

#include <string_view>

namespace corridor::ptx {

/// "%tid", "%laneid", "%envreg3"; without a component (".x").
[[nodiscard]] bool is_special_register(std::string_view name);

}  // namespace corridor::ptx
