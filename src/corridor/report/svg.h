// SPDX-License-Identifier: Apache-2.0
// The drawings of the HTML report, each one <svg> element that needs no script.
#pragma once

#include <string>

#include "corridor/report/document.h"

namespace corridor::report {

/// Log-log roofs and points; empty when neither a roof nor a point can be drawn.
[[nodiscard]] std::string svg_roofline(const RooflinePlot& plot);

/// One bar cut into parts (no text inside; the legend is HTML). Empty when there is nothing positive to draw.
[[nodiscard]] std::string svg_bar(const StackedBar& bar);

/// Curves over one axis; empty when no point can be drawn.
[[nodiscard]] std::string svg_lines(const LinePlot& plot);

/// Points around the line on which both numbers agree; empty when no point can be drawn.
[[nodiscard]] std::string svg_scatter(const ScatterPlot& plot);

/// Rows of coloured cells over one axis; empty when there is no cell.
[[nodiscard]] std::string svg_states(const StateRows& rows);

}  // namespace corridor::report
