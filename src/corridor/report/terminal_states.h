// SPDX-License-Identifier: Apache-2.0
// Rows of states as letters.
//
//   warp 0  IWWWWWWWWWWWWWWWWIIwwI
//   warp 4  EIWWWWWWWWWWWWWWWWIIww
//           0       200       400 clocks
//   I issued 12 %   W waits for memory 80 %
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "corridor/report/document.h"

namespace corridor::report {

/// Lines of the picture without its title, none wider than `columns`; each letter is the state most samples under it
/// are in, or one that is always shown. Of many rows every second, third … is shown, and a line says so. Empty when
/// there is no sample.
[[nodiscard]] std::vector<std::string> state_lines(const StateRows& block, std::size_t columns);

}  // namespace corridor::report
