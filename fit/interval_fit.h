// SPDX-License-Identifier: Apache-2.0
// The width of intervals by regime, from residuals of points that no fit has seen.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "corridor/roofline/engine_profile.h"
#include "residuals.h"

namespace corridor::fit {

/// Prints the cells and, with `write`, writes data/intervals.toml anew. Returns an exit code.
[[nodiscard]] int fit_intervals(const std::vector<Residual>& residuals,
                                const std::map<std::string, roofline::EngineProfile>& engines, const std::string& path,
                                bool write);

}  // namespace corridor::fit
