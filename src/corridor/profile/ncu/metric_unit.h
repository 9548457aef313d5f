// SPDX-License-Identifier: Apache-2.0
// The units of Nsight Compute ("Mbyte", "usecond", "cycle/nsecond", "Ghz", "%") and how many base units one of them is.
#pragma once

#include <string_view>

namespace corridor::profile::ncu {

/// Factor from `unit` to the base units byte, second, hertz, 1: "Kbyte" is 1000, "usecond" 1e-6, "cycle/nsecond" 1e9,
/// "%" 0.01. Words that name what is counted ("inst", "warp", "register/thread", "") and unknown ones are 1.
[[nodiscard]] double unit_factor(std::string_view unit);

}  // namespace corridor::profile::ncu
