// SPDX-License-Identifier: Apache-2.0
// A line plot drawn with characters: axes, ticks, one glyph a series.
//
//    10k ┤                              ●●●●●●●
//        │                   ●●●●●●●●●●●
//     1k ┤          ●●●●●●●●●
//        │ ●●●●●●●●●
//        └┬────────────┬────────────┬──────────
//         1            10           100   batch
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "corridor/report/document.h"

namespace corridor::report {

/// Lines of the chart without its title, none wider than `columns`; ends with a legend when there are several series.
/// Empty when no point can be shown.
[[nodiscard]] std::vector<std::string> chart_lines(const LinePlot& plot, std::size_t columns);

}  // namespace corridor::report
