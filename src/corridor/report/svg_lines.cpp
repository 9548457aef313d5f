// SPDX-License-Identifier: Apache-2.0
// Curves with axes as SVG.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "corridor/report/markup.h"
#include "corridor/report/svg.h"
#include "corridor/units/text.h"

namespace corridor::report {
namespace {

constexpr double width = 760;
constexpr double height = 360;
constexpr double left = 72;
constexpr double right = 24;
constexpr double top = 30;
constexpr double bottom = 50;
constexpr std::size_t most_markers = 40;  ///< more points than this are a line without dots

std::vector<double> all_values(const LinePlot& plot, bool of_x) {
  std::vector<double> out;
  for (const auto& series : plot.series) {
    const std::size_t points = std::min(series.x.size(), series.y.size());
    for (std::size_t i = 0; i < points; ++i) {
      if (usable(series.x[i], plot.log_x) && usable(series.y[i], plot.log_y)) {
        out.push_back(of_x ? series.x[i] : series.y[i]);
      }
    }
  }
  return out;
}

std::string frame(const LinePlot& plot, const Axis& x, const Axis& y) {
  std::string out;
  for (const Tick& tick : ticks(y, 6)) {
    const double at = y.at(tick.value);
    out += fmt::format("<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", left, at,
                       width - right, at);
    out += svg_text(left - 8, at + 4, "end", tick.label, "tick");
  }
  for (const Tick& tick : ticks(x, 8)) {
    const double at = x.at(tick.value);
    out += fmt::format("<line class=\"axis\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", at,
                       height - bottom, at, height - bottom + 5);
    out += svg_text(at, height - bottom + 20, "middle", tick.label, "tick");
  }
  out += fmt::format("<line class=\"axis\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", left,
                     height - bottom, width - right, height - bottom);
  out += svg_text((left + width - right) / 2, height - 10, "middle", plot.x_label, "label");
  out += svg_text(8, 16, "start", plot.y_label, "label");
  return out;
}

std::string curve(const LinePlot& plot, std::size_t index, const Axis& x, const Axis& y) {
  const auto& series = plot.series[index];
  const std::size_t points = std::min(series.x.size(), series.y.size());
  std::string path;
  std::string dots;
  bool pen_down = false;
  for (std::size_t i = 0; i < points; ++i) {
    const bool shown = usable(series.x[i], plot.log_x) && usable(series.y[i], plot.log_y);
    if (shown) {
      path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x.at(series.x[i]), y.at(series.y[i]));
      dots +=
          fmt::format("<circle class=\"s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}: {}, {}</title></circle>\n",
                      index % colour_count, x.at(series.x[i]), y.at(series.y[i]), escape(series.name),
                      units::print_count(series.x[i]), units::print_number(series.y[i]));
    }
    pen_down = shown;
  }
  std::string out = fmt::format("<path class=\"line l{}\" d=\"{}\"/>\n", index % colour_count, path);
  if (points <= most_markers) out += dots;
  return out;
}

}  // namespace

std::string svg_lines(const LinePlot& plot) {
  const std::vector<double> xs = all_values(plot, true);
  if (xs.empty()) return "";
  const Axis x = axis_for(xs, plot.log_x, left, width - right);
  const Axis y = axis_for(all_values(plot, false), plot.log_y, height - bottom, top);
  std::string out = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                                width, height, escape(plot.title));
  out += frame(plot, x, y);
  for (std::size_t i = 0; i < plot.series.size(); ++i) out += curve(plot, i, x, y);
  return out + "</svg>\n";
}

}  // namespace corridor::report
