// SPDX-License-Identifier: Apache-2.0
// Puts curves on a grid of character cells.
#include "corridor/report/terminal_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "corridor/report/layout.h"
#include "corridor/report/markup.h"

namespace corridor::report {
namespace {

constexpr std::size_t indent = 2;
constexpr std::size_t rows = 13;
constexpr std::size_t widest_label = 9;
constexpr std::size_t narrowest_grid = 10;
constexpr std::array<std::string_view, 8> glyphs{"●", "○", "+", "×", "▲", "□", "◆", "~"};

bool shown(const LinePlot& plot, const LinePlot::Series& series, std::size_t i) {
  return i < series.x.size() && i < series.y.size() && usable(series.x[i], plot.log_x) &&
         usable(series.y[i], plot.log_y);
}

class Chart {
 public:
  Chart(const LinePlot& plot, std::size_t columns) : plot_(plot) {
    std::vector<double> xs;
    std::vector<double> ys;
    for (const auto& series : plot.series) {
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        if (!shown(plot, series, i)) continue;
        xs.push_back(series.x[i]);
        ys.push_back(series.y[i]);
      }
    }
    empty_ = xs.empty();
    y_ = axis_for(ys, plot.log_y, static_cast<double>(rows - 1), 0);
    for (const Tick& tick : ticks(y_, 5)) {
      const auto row = static_cast<std::size_t>(std::lround(y_.at(tick.value)));
      if (row < rows) labels_[row] = clean(tick.label).substr(0, widest_label);
    }
    for (const std::string& label : labels_) label_width_ = std::max(label_width_, display_width(label));
    const std::size_t used = indent + label_width_ + 2;
    width_ = std::max(narrowest_grid, columns > used + 1 ? columns - used - 1 : 0);
    x_ = axis_for(xs, plot.log_x, 0, static_cast<double>(width_ - 1));
    cells_.assign(rows, std::vector<std::string_view>(width_, " "));
  }

  [[nodiscard]] bool empty() const { return empty_; }

  void draw() {
    // Lines first, the first of them on top of the others; then single points, which mark places on the lines.
    for (const bool marks : {false, true}) {
      for (std::size_t s = plot_.series.size(); s-- > 0;) {
        if (has_line(plot_.series[s]) != marks) draw(plot_.series[s], glyphs[s % glyphs.size()]);
      }
    }
  }

  [[nodiscard]] std::vector<std::string> lines(std::size_t columns) const {
    std::vector<std::string> out;
    const std::string margin(indent, ' ');
    for (std::size_t row = 0; row < rows; ++row) {
      std::string line = margin + pad_left(labels_[row], label_width_) + (labels_[row].empty() ? " │" : " ┤");
      for (const std::string_view cell : cells_[row]) line += cell;
      line.erase(line.find_last_not_of(' ') + 1);
      out.push_back(std::move(line));
    }
    add_x_axis(out);
    if (plot_.series.size() > 1) {
      std::string legend;
      for (std::size_t s = 0; s < plot_.series.size(); ++s) {
        legend += fmt::format("{}{} {}", s == 0 ? "" : "   ", glyphs[s % glyphs.size()], clean(plot_.series[s].name));
      }
      for (const std::string& line : wrap(legend, columns - indent)) out.push_back(margin + line);
    }
    return out;
  }

 private:
  [[nodiscard]] bool has_line(const LinePlot::Series& series) const {
    for (std::size_t i = 1; i < series.x.size(); ++i) {
      if (shown(plot_, series, i - 1) && shown(plot_, series, i)) return true;
    }
    return false;
  }

  void draw(const LinePlot::Series& series, std::string_view glyph) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!shown(plot_, series, i)) continue;
      const double x = x_.at(series.x[i]);
      const double y = y_.at(series.y[i]);
      put(x, y, glyph);
      if (i > 0 && shown(plot_, series, i - 1)) join(x_.at(series.x[i - 1]), y_.at(series.y[i - 1]), x, y, glyph);
    }
  }

  void put(double x, double y, std::string_view glyph) {
    const auto column = static_cast<std::size_t>(std::lround(x));
    const auto row = static_cast<std::size_t>(std::lround(y));
    if (row < rows && column < width_) cells_[row][column] = glyph;
  }

  /// A straight line in cells, every column and every row between two points.
  void join(double x0, double y0, double x1, double y1, std::string_view glyph) {
    const double steps = std::ceil(std::max(std::fabs(x1 - x0), std::fabs(y1 - y0)));
    for (double i = 1; i < steps; ++i) put(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps, glyph);
  }

  void add_x_axis(std::vector<std::string>& out) const {
    std::vector<std::string_view> line(width_, "─");
    std::string names;
    std::size_t at = 0;  // cells of `names` that are taken
    for (const Tick& tick : ticks(x_, std::max<std::size_t>(2, width_ / 12))) {
      const auto column = static_cast<std::size_t>(std::lround(x_.at(tick.value)));
      const std::string label = clean(tick.label);
      const std::size_t label_cells = display_width(label);
      if (column >= width_) continue;
      line[column] = "┬";
      const std::size_t begin = column < label_cells / 2 ? 0 : column - label_cells / 2;
      if ((at > 0 && begin <= at) || begin + label_cells > width_) continue;
      names += std::string(begin - at, ' ') + label;
      at = begin + label_cells;
    }
    const std::string margin(indent + label_width_ + 1, ' ');
    std::string axis = margin + "└";
    for (const std::string_view cell : line) axis += cell;
    out.push_back(std::move(axis));
    out.push_back(margin + " " + names);
    for (const std::string& text : wrap(clean(plot_.x_label), width_)) {
      const std::size_t room = width_ - std::min(width_, display_width(text));
      if (!text.empty()) out.push_back(fmt::format("{} {}{}", margin, std::string(room / 2, ' '), text));
    }
  }

  const LinePlot& plot_;
  bool empty_ = true;
  Axis x_, y_;
  std::array<std::string, rows> labels_;
  std::size_t label_width_ = 0;
  std::size_t width_ = narrowest_grid;
  std::vector<std::vector<std::string_view>> cells_;
};

}  // namespace

std::vector<std::string> chart_lines(const LinePlot& plot, std::size_t columns) {
  Chart chart(plot, columns);
  if (chart.empty()) return {};
  chart.draw();
  return chart.lines(columns);
}

}  // namespace corridor::report
