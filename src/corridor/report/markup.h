// SPDX-License-Identifier: Apache-2.0
// Small tools for writing HTML and SVG: escaping, axes and ticks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::report {

/// Text as it may stand in an element or a quoted attribute; control characters and broken UTF-8 are replaced.
[[nodiscard]] std::string escape(std::string_view text);

/// How many colours series and parts cycle through; the style sheet names them .s0 … .s7.
inline constexpr std::size_t colour_count = 8;

/// One axis: values in [low, high] to pixels in [from, to]; on a log axis low and high are positive.
struct Axis {
  double low = 0;
  double high = 1;
  bool log = false;
  double from = 0;
  double to = 1;

  /// Pixel of a value, which must be finite (and positive on a log axis); values outside are held at the border.
  [[nodiscard]] double at(double value) const;
};

/// One labelled place on an axis.
struct Tick {
  double value = 0;
  std::string label;
};

/// About `wanted` ticks: decades on a log axis (every second or third when there are many), else round steps.
[[nodiscard]] std::vector<Tick> ticks(const Axis& axis, std::size_t wanted);

/// The axis that holds all usable values, with a little room; usable is finite, and positive for a log axis.
[[nodiscard]] Axis axis_for(const std::vector<double>& values, bool log, double from, double to);

/// Whether an axis can show this value at all.
[[nodiscard]] bool usable(double value, bool log);

/// "10 T", "100 G", "0.1": a power of ten with a decimal prefix, for axis labels.
[[nodiscard]] std::string decade_label(int exponent);

/// <text x y class="…">escaped</text> with an anchor ("start", "middle", "end").
[[nodiscard]] std::string svg_text(double x, double y, std::string_view anchor, std::string_view text,
                                   std::string_view css_class = "");

/// Estimated width in pixels of a label in the drawings' 12 px type.
[[nodiscard]] double label_width(std::string_view text);

}  // namespace corridor::report
