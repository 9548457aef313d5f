// SPDX-License-Identifier: Apache-2.0
// Points of two numbers against each other as SVG, around the line on which both agree.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "corridor/report/markup.h"
#include "corridor/report/svg.h"

namespace corridor::report {
namespace {

constexpr double width = 760;
constexpr double height = 620;
constexpr double left = 72;
constexpr double right = 24;
constexpr double top = 30;
constexpr double bottom = 50;

bool drawable(const ScatterPlot::Series& series, std::size_t i) {
  return usable(series.x[i], true) && usable(series.y[i], true);
}

/// Both axes show the same range, so that the line of agreement is a diagonal.
std::vector<double> all_values(const ScatterPlot& plot) {
  std::vector<double> out;
  for (const auto& series : plot.series) {
    const std::size_t points = std::min(series.x.size(), series.y.size());
    for (std::size_t i = 0; i < points; ++i) {
      if (!drawable(series, i)) continue;
      out.push_back(series.x[i]);
      out.push_back(series.y[i]);
    }
  }
  return out;
}

std::string line(const char* css_class, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css_class, x1,
                     y1, x2, y2);
}

std::string frame(const ScatterPlot& plot, const Axis& x, const Axis& y) {
  std::string out;
  for (const Tick& tick : ticks(y, 8)) {
    out += line("grid", left, y.at(tick.value), width - right, y.at(tick.value));
    out += svg_text(left - 8, y.at(tick.value) + 4, "end", tick.label, "tick");
  }
  for (const Tick& tick : ticks(x, 8)) {
    out += line("axis", x.at(tick.value), height - bottom, x.at(tick.value), height - bottom + 5);
    out += svg_text(x.at(tick.value), height - bottom + 20, "middle", tick.label, "tick");
  }
  out += line("axis", left, height - bottom, width - right, height - bottom);
  out += svg_text((left + width - right) / 2, height - 10, "middle", plot.x_label, "label");
  out += svg_text(8, 16, "start", plot.y_label, "label");
  return out;
}

/// y = factor · x from border to border.
std::string agreement(const Axis& x, const Axis& y, double factor) {
  const double from = std::max(x.low, x.low / factor);
  const double to = std::min(x.high, x.high / factor);
  return line(factor == 1 ? "axis" : "grid", x.at(from), y.at(from * factor), x.at(to), y.at(to * factor));
}

std::string cloud(const ScatterPlot::Series& series, std::size_t index, const Axis& x, const Axis& y) {
  std::string out = fmt::format("<g class=\"s{}\" fill-opacity=\"0.5\">\n", index % colour_count);
  const std::size_t points = std::min(series.x.size(), series.y.size());
  for (std::size_t i = 0; i < points; ++i) {
    if (!drawable(series, i)) continue;
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"/>\n", x.at(series.x[i]), y.at(series.y[i]));
  }
  return out + "</g>\n";
}

}  // namespace

std::string svg_scatter(const ScatterPlot& plot) {
  const std::vector<double> values = all_values(plot);
  if (values.empty()) return "";
  const Axis x = axis_for(values, true, left, width - right);
  const Axis y = axis_for(values, true, height - bottom, top);
  std::string out = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                                width, height, escape(plot.title));
  out += frame(plot, x, y);
  for (const double factor : {0.5, 1.0, 2.0}) out += agreement(x, y, factor);
  for (std::size_t i = 0; i < plot.series.size(); ++i) out += cloud(plot.series[i], i, x, y);
  return out + "</svg>\n";
}

}  // namespace corridor::report
