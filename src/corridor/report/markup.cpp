// SPDX-License-Identifier: Apache-2.0
// Escaping, axes and ticks.
#include "corridor/report/markup.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "corridor/report/layout.h"
#include "corridor/units/text.h"

namespace corridor::report {
namespace {

constexpr double pixels_per_cell = 6.6;
/// A log axis shows at most this many decades below its top: one tiny value must not flatten the picture.
constexpr double most_decades = 12;

std::string plain_number(double value) {
  if (value != 0 && (std::fabs(value) >= 1e6 || std::fabs(value) < 1e-4)) return units::print_count(value);
  std::string text = fmt::format("{:.6g}", value);
  return text == "-0" ? "0" : text;
}

/// "200 G" for 2 × 10^11.
std::string small_label(double digit, int exponent) {
  if (exponent < 0) return plain_number(digit * std::pow(10.0, exponent));
  std::string label = decade_label(exponent);
  label[0] = static_cast<char>('0' + static_cast<int>(digit));
  return label;
}

std::vector<Tick> decade_ticks(const Axis& axis, std::size_t wanted) {
  const int first = static_cast<int>(std::ceil(std::log10(axis.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(axis.high) + 1e-9));
  const int step = std::max(1, (last - first + static_cast<int>(wanted)) / static_cast<int>(wanted));
  std::vector<Tick> out;
  for (int exponent = first; exponent <= last; exponent += step) {
    out.push_back({std::pow(10.0, exponent), decade_label(exponent)});
  }
  if (last - first >= 3) return out;
  // Few decades: 1, 2, 5 of each.
  out.clear();
  for (int exponent = first - 1; exponent <= last; ++exponent) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10.0, exponent);
      if (value >= axis.low * 0.999 && value <= axis.high * 1.001) out.push_back({value, small_label(digit, exponent)});
    }
  }
  return out;
}

}  // namespace

std::string escape(std::string_view text) {
  const std::string safe = clean(text);
  std::string out;
  out.reserve(safe.size());
  for (const char c : safe) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

double Axis::at(double value) const {
  const double low_at = log ? std::log10(low) : low;
  const double high_at = log ? std::log10(high) : high;
  const double value_at = log ? std::log10(value) : value;
  // Halved, so that a range as wide as double itself does not overflow.
  const double share = (value_at / 2 - low_at / 2) / (high_at / 2 - low_at / 2);
  return from + std::clamp(share, 0.0, 1.0) * (to - from);
}

bool usable(double value, bool log) {
  return std::isfinite(value) && (!log || value > 0);
}

Axis axis_for(const std::vector<double>& values, bool log, double from, double to) {
  Axis axis{log ? 1.0 : 0.0, log ? 10.0 : 1.0, log, from, to};
  bool any = false;
  for (const double value : values) {
    if (!usable(value, log)) continue;
    axis.low = any ? std::min(axis.low, value) : value;
    axis.high = any ? std::max(axis.high, value) : value;
    any = true;
  }
  if (!any) return axis;
  if (log) {
    const double top = std::clamp(std::log10(axis.high), -300.0, 300.0);
    const double bottom = std::max(std::log10(axis.low), top - most_decades);
    const double room = std::max(0.05, (top - bottom) * 0.03);
    axis.low = std::pow(10.0, bottom - room);
    axis.high = std::pow(10.0, top + room);
    return axis;
  }
  if (axis.low > 0 && axis.low < axis.high * 0.5) axis.low = 0;  // lengths compare honestly from zero
  if (axis.high == axis.low) {
    const double around = axis.low == 0 ? 1 : std::fabs(axis.low) * 0.1;
    axis.low -= around;
    axis.high += around;
  }
  return axis;
}

std::string decade_label(int exponent) {
  if (exponent < 0 && exponent >= -3) return fmt::format("{:.{}f}", std::pow(10.0, exponent), -exponent);
  if (exponent < -3 || exponent >= 21) return fmt::format("1e{}", exponent);
  static constexpr std::array<std::string_view, 7> prefixes{"", " k", " M", " G", " T", " P", " E"};
  static constexpr std::array<std::string_view, 3> digits{"1", "10", "100"};
  return std::string(digits[static_cast<std::size_t>(exponent % 3)]) +
         std::string(prefixes[static_cast<std::size_t>(exponent / 3)]);
}

std::vector<Tick> ticks(const Axis& axis, std::size_t wanted) {
  if (axis.log) return decade_ticks(axis, wanted);
  const double raw = (axis.high / 2 - axis.low / 2) / static_cast<double>(wanted) * 2;
  if (!std::isfinite(raw) || raw <= 0) return {};
  const double decade = std::pow(10.0, std::floor(std::log10(raw)));
  double step = decade * 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (decade * factor >= raw) {
      step = decade * factor;
      break;
    }
  }
  std::vector<Tick> out;
  const double first = std::ceil(axis.low / step - 1e-9);
  for (std::size_t i = 0; i <= 2 * wanted + 2; ++i) {
    const double value = (first + static_cast<double>(i)) * step;
    if (!(value <= axis.high + step * 1e-6)) break;
    out.push_back({value, plain_number(value)});
  }
  return out;
}

std::string svg_text(double x, double y, std::string_view anchor, std::string_view text, std::string_view css_class) {
  const std::string css = css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class);
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, css,
                     escape(text));
}

double label_width(std::string_view text) {
  return pixels_per_cell * static_cast<double>(display_width(text));
}

}  // namespace corridor::report
