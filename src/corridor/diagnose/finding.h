// SPDX-License-Identifier: Apache-2.0
// What costs time in a recorded run or in a set of kernels, and what a change of it gains at most.
#pragma once

#include <optional>
#include <string>

namespace corridor::diagnose {

struct Finding {
  std::string title;
  double lost_s = 0;
  std::string evidence;  ///< numbers, and where in the trace
  std::string cause;
  std::string lever;                 ///< what to change
  std::optional<double> gain_tok_s;  ///< generated tokens a second more, when the steps tell how many they made
  double gain_s = 0;                 ///< at most; never more than `lost_s`
};

}  // namespace corridor::diagnose
