// SPDX-License-Identifier: Apache-2.0
// One stacked bar as SVG.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/report/markup.h"
#include "corridor/report/svg.h"

namespace corridor::report {
namespace {

constexpr double bar_width = 1000;
constexpr double bar_height = 28;

double drawable(double value) {
  return std::isfinite(value) && value > 0 ? value : 0;
}

}  // namespace

std::string svg_bar(const StackedBar& bar) {
  double sum = 0;
  for (const auto& part : bar.parts) sum += drawable(part.value);
  const double total = bar.total ? drawable(*bar.total) : 0;
  const double whole = std::max(sum, total);
  if (!(whole > 0) || !std::isfinite(whole)) return "";
  // Stretched to the page's width, hence no text inside and no round corners.
  std::string out = fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 {:.0f} {:.0f}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">\n"
      "<rect class=\"empty\" x=\"0\" y=\"0\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n",
      bar_width, bar_height, escape(bar.title), bar_width, bar_height);
  double at = 0;
  for (std::size_t i = 0; i < bar.parts.size(); ++i) {
    const double width = drawable(bar.parts[i].value) / whole * bar_width;
    const double gap = width > 4 ? 1.5 : 0;
    if (width > 0) {
      out += fmt::format(
          "<rect class=\"s{}\" x=\"{:.2f}\" y=\"0\" width=\"{:.2f}\" height=\"{:.0f}\"><title>{}: {}</title></rect>\n",
          i % colour_count, at, width - gap, bar_height, escape(bar.parts[i].label),
          escape(print({bar.parts[i].value, bar.unit})));
    }
    at += width;
  }
  if (total > 0 && total < sum) {
    const double x = total / whole * bar_width;
    out +=
        fmt::format("<rect class=\"mark\" x=\"{:.2f}\" y=\"0\" width=\"3\" height=\"{:.0f}\"/>\n", x - 1.5, bar_height);
  }
  return out + "</svg>\n";
}

}  // namespace corridor::report
