// SPDX-License-Identifier: Apache-2.0
// The roofline picture: bandwidth slopes, peak rates, the ridge and every operation as a point, in log-log axes.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "corridor/report/markup.h"
#include "corridor/report/svg.h"
#include "corridor/units/text.h"

namespace corridor::report {
namespace {

constexpr double width = 760;
constexpr double height = 480;
constexpr double left = 66;
constexpr double right = 20;
constexpr double top = 40;
constexpr double bottom = 54;
constexpr double text_height = 14;
constexpr std::size_t most_labels = 8;
constexpr double pi = 3.14159265358979323846;

struct Box {
  double x0, y0, x1, y1;
  [[nodiscard]] bool meets(const Box& other) const {
    return x0 < other.x1 && other.x0 < x1 && y0 < other.y1 && other.y0 < y1;
  }
  [[nodiscard]] bool inside_plot() const {
    return x0 >= left && x1 <= width - right && y0 >= top - 20 && y1 <= height - bottom;
  }
};

/// What can be drawn of a plot: finite and positive only, fastest roof first.
struct Drawable {
  std::vector<RooflinePlot::Bandwidth> bandwidths;
  std::vector<RooflinePlot::Peak> peaks;
  std::vector<RooflinePlot::Point> points;  ///< largest share first
  std::vector<std::string> series;          ///< in the plot's order
};

Drawable drawable(const RooflinePlot& plot) {
  Drawable out;
  for (const auto& roof : plot.bandwidths) {
    if (usable(roof.bytes_per_s, true)) out.bandwidths.push_back(roof);
  }
  for (const auto& peak : plot.peaks) {
    if (usable(peak.flop_per_s, true)) out.peaks.push_back(peak);
  }
  for (const auto& point : plot.points) {
    if (!usable(point.intensity, true) || !usable(point.flop_per_s, true)) continue;
    out.points.push_back(point);
    auto& share = out.points.back().share;
    share = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
    if (std::find(out.series.begin(), out.series.end(), point.series) == out.series.end()) {
      out.series.push_back(point.series);
    }
  }
  std::stable_sort(out.bandwidths.begin(), out.bandwidths.end(),
                   [](const auto& a, const auto& b) { return a.bytes_per_s > b.bytes_per_s; });
  std::stable_sort(out.peaks.begin(), out.peaks.end(),
                   [](const auto& a, const auto& b) { return a.flop_per_s > b.flop_per_s; });
  std::stable_sort(out.points.begin(), out.points.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  return out;
}

/// The peak that bounds the step: the one in use, else the highest.
const RooflinePlot::Peak* main_peak(const Drawable& plot) {
  for (const auto& peak : plot.peaks) {
    if (peak.in_use) return &peak;
  }
  return plot.peaks.empty() ? nullptr : &plot.peaks.front();
}

/// Main memory: the slowest datasheet roof, else the slowest of all.
const RooflinePlot::Bandwidth* main_bandwidth(const Drawable& plot) {
  const RooflinePlot::Bandwidth* slowest = nullptr;
  for (const auto& roof : plot.bandwidths) {
    if (!roof.reachable || slowest == nullptr) slowest = &roof;
  }
  return slowest;
}

class Drawing {
 public:
  explicit Drawing(const Drawable& plot) : plot_(plot), peak_(main_peak(plot)), bandwidth_(main_bandwidth(plot)) {
    set_axes();
  }

  std::string render(const std::string& title) {
    out_ = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n", width,
                       height, escape(title));
    frame();
    ridge();
    find_bubbles();
    bandwidths();
    peaks();
    points();
    point_labels();
    return out_ + "</svg>\n";
  }

 private:
  void set_axes();
  void frame();
  void bandwidths();
  void roof_label(const std::string& label, double x1, double y1, double shift, bool below);
  void peaks();
  void ridge();
  void points();
  void find_bubbles();
  [[nodiscard]] bool under_bubble(const Box& box) const;
  void point_labels();
  void place_label(const RooflinePlot::Point& point);
  void line(double x1, double y1, double x2, double y2, std::string_view css) {
    out_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css, x1, y1,
                        x2, y2);
  }
  [[nodiscard]] static double radius(const RooflinePlot::Point& point) { return 3.5 + 15 * std::sqrt(point.share); }
  /// Pixels of height per pixel of width along a bandwidth roof.
  [[nodiscard]] double slope() const {
    const double x_per_decade = (x_.to - x_.from) / std::log10(x_.high / x_.low);
    const double y_per_decade = (y_.from - y_.to) / std::log10(y_.high / y_.low);
    return y_per_decade / x_per_decade;
  }

  const Drawable& plot_;
  const RooflinePlot::Peak* peak_;
  const RooflinePlot::Bandwidth* bandwidth_;
  Axis x_, y_;
  std::string out_;
  std::vector<Box> taken_;    ///< labels placed so far
  std::vector<Box> bubbles_;  ///< around the points, which are drawn over the roofs
};

void Drawing::set_axes() {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const auto& point : plot_.points) {
    xs.push_back(point.intensity);
    ys.push_back(point.flop_per_s);
  }
  for (const auto& peak : plot_.peaks) ys.push_back(peak.flop_per_s);
  if (peak_ != nullptr && bandwidth_ != nullptr) {
    const double ridge = peak_->flop_per_s / bandwidth_->bytes_per_s;
    if (usable(ridge, true)) {
      xs.push_back(ridge / 300);
      xs.push_back(ridge * 8);
      ys.push_back(peak_->flop_per_s / 300);
    }
  }
  x_ = axis_for(xs, true, left, width - right);
  y_ = axis_for(ys, true, height - bottom, top);
}

void Drawing::frame() {
  for (const Tick& tick : ticks(x_, 9)) {
    const double at = x_.at(tick.value);
    line(at, top, at, height - bottom, "grid");
    out_ += svg_text(at, height - bottom + 18, "middle", tick.label, "tick");
  }
  for (const Tick& tick : ticks(y_, 8)) {
    const double at = y_.at(tick.value);
    line(left, at, width - right, at, "grid");
    out_ += svg_text(left - 8, at + 4, "end", tick.label, "tick");
  }
  line(left, height - bottom, width - right, height - bottom, "axis");
  out_ += svg_text((left + width - right) / 2, height - 12, "middle", "arithmetic intensity, FLOP per byte", "label");
  out_ += svg_text(8, 18, "start", "rate, FLOP/s", "label");
}

void Drawing::bandwidths() {
  const double ceiling = peak_ != nullptr ? std::min(peak_->flop_per_s, y_.high) : y_.high;
  double above = 0;  // where the next label above a roof may start, and the roof it must keep clear of
  double above_y = -1e9;
  double below = 10;
  for (const auto& roof : plot_.bandwidths) {
    // Visible from the left or lower border up to the peak.
    const double from = std::max(x_.low, y_.low / roof.bytes_per_s);
    const double to = std::min(x_.high, ceiling / roof.bytes_per_s);
    if (!(from < to)) continue;
    const double x1 = x_.at(from);
    const double y1 = y_.at(from * roof.bytes_per_s);
    const bool main = &roof == bandwidth_;
    line(x1, y1, x_.at(to), y_.at(to * roof.bytes_per_s),
         main             ? "roof main"
         : roof.reachable ? "roof reached"
                          : "roof");
    const std::string label = fmt::format("{} {}", roof.name, units::print(units::BytesPerSecond{roof.bytes_per_s}));
    const double room = (x_.at(to) - x1) / std::cos(std::atan(slope()));
    // Main memory is the lowest roof: its names stand below it, one after the other, those of the caches above theirs.
    if (main || roof.reachable) {
      // A roof that comes out of the lower border has no room for text below its first pixels.
      if (y1 > height - bottom - 2 * text_height) below = std::max(below, 36.0);
      if (below + label_width(label) < room) roof_label(label, x1, y1, below, true);
      below += label_width(label) + 18;
      continue;
    }
    const double y_at_left = y1 + (x1 - left) * slope();
    const bool crowded = std::fabs(y_at_left - above_y) * std::cos(std::atan(slope())) < text_height * 1.4;
    const double start = crowded ? above + 18 : 10;
    above_y = y_at_left;
    above = start + label_width(label);
    if (above < room) roof_label(label, x1, y1, start, false);
  }
}

/// Writes along the roof that starts at (x1, y1), `shift` pixels from there, above or below it.
void Drawing::roof_label(const std::string& label, double x1, double y1, double shift, bool below) {
  const double angle = std::atan(slope());
  const double across = std::cos(angle);
  const double up = std::sin(angle);
  out_ += fmt::format(
      "<text class=\"rooflabel\" transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" dy=\"{}\">{}</text>\n",
      x1 + shift * across, y1 - shift * up, -angle * 180 / pi, below ? 16 : -5, escape(label));
  for (double at = 0; at < label_width(label); at += 12) {
    const double x = x1 + (shift + at) * across + (below ? 10 * up : -10 * up);
    const double y = y1 - (shift + at) * up + (below ? 10 * across : -10 * across);
    taken_.push_back({x - 8, y - 8, x + 8, y + 8});
  }
}

void Drawing::peaks() {
  double previous_y = -1e9;
  double previous_left = width;
  for (const auto& peak : plot_.peaks) {
    const double y = y_.at(peak.flop_per_s);
    const double from = bandwidth_ != nullptr ? peak.flop_per_s / bandwidth_->bytes_per_s : x_.low;
    const double start = &peak == peak_ ? left : x_.at(std::clamp(from, x_.low, x_.high));
    line(start, y, width - right, y, &peak == peak_ ? "roof main" : "roof");
    taken_.push_back({start, y - 2, width - right, y + 2});
    const std::string label = fmt::format("{} {}", peak.name, units::print(units::FlopsPerSecond{peak.flop_per_s}));
    const double size = label_width(label);
    const double last = std::fabs(y - previous_y) < text_height ? previous_left - 14 : width - right - 4;
    double end = last;
    while (end - size > left && under_bubble({end - size, y - 18, end, y})) end -= text_height;
    if (end - size <= left) end = last;
    const double begin = end - size;
    previous_y = y;
    previous_left = begin;
    if (begin < left) continue;
    out_ += svg_text(end, y - 5, "end", label, &peak == peak_ ? "rooflabel strong" : "rooflabel");
    taken_.push_back({begin, y - 18, end, y});
  }
}

void Drawing::ridge() {
  if (peak_ == nullptr || bandwidth_ == nullptr) return;
  const double ridge = peak_->flop_per_s / bandwidth_->bytes_per_s;
  if (!(ridge >= x_.low && ridge <= x_.high)) return;
  const double x = x_.at(ridge);
  line(x, y_.at(peak_->flop_per_s), x, height - bottom, "ridge");
  const std::string label = fmt::format("ridge {}", units::print(units::FlopsPerByte{ridge}));
  const double y = height - bottom - 8;
  const bool fits = x + 6 + label_width(label) <= width - right;
  out_ += svg_text(fits ? x + 6 : x - 6, y, fits ? "start" : "end", label, "rooflabel");
  taken_.push_back({fits ? x : x - 6 - label_width(label), y - 14, fits ? x + 6 + label_width(label) : x, y + 4});
}

void Drawing::points() {
  for (const auto& point : plot_.points) {
    const auto series = std::find(plot_.series.begin(), plot_.series.end(), point.series) - plot_.series.begin();
    out_ += fmt::format(
        "<circle class=\"point s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}: {}, {}, {} of the time</title>"
        "</circle>\n",
        static_cast<std::size_t>(series) % colour_count, x_.at(point.intensity), y_.at(point.flop_per_s), radius(point),
        escape(point.name), units::print(units::FlopsPerByte{point.intensity}),
        units::print(units::FlopsPerSecond{point.flop_per_s}), escape(print({point.share, Unit::percent})));
  }
}

void Drawing::place_label(const RooflinePlot::Point& point) {
  const double x = x_.at(point.intensity);
  const double y = y_.at(point.flop_per_s);
  const double size = label_width(point.name);
  for (const double distance : {6.0, 26.0, 48.0, 72.0}) {
    const double away = radius(point) + distance;
    // Right, lower right, left, above, below and the other corners: the first free place is taken.
    for (const double turn : {0.0, 0.25, 0.5, 1.0, 0.75, 1.25, 1.5, 1.75}) {
      const double dx = std::cos(turn * pi);
      const double dy = std::sin(turn * pi);
      const double px = x + away * dx;
      const double py = y + away * dy;
      const double begin = dx > 0.3 ? px : dx < -0.3 ? px - size : px - size / 2;
      const Box box{begin - 2, py - 9, begin + size + 2, py + 7};
      const auto meets = [&](const Box& other) { return box.meets(other); };
      if (!box.inside_plot() || std::any_of(taken_.begin(), taken_.end(), meets)) continue;
      taken_.push_back(box);
      if (distance > 10) {
        line(x + radius(point) * dx, y + radius(point) * dy, x + (away - 3) * dx, y + (away - 3) * dy, "leader");
      }
      out_ += svg_text(begin, py + 4, "start", point.name, "pointlabel");
      return;
    }
  }
}

void Drawing::find_bubbles() {
  for (std::size_t i = 0; i < std::min<std::size_t>(plot_.points.size(), 200); ++i) {
    const double x = x_.at(plot_.points[i].intensity);
    const double y = y_.at(plot_.points[i].flop_per_s);
    const double r = radius(plot_.points[i]);
    bubbles_.push_back({x - r, y - r, x + r, y + r});
  }
}

bool Drawing::under_bubble(const Box& box) const {
  return std::any_of(bubbles_.begin(), bubbles_.end(), [&](const Box& bubble) { return box.meets(bubble); });
}

/// One name a series; and where several series show one thing at one rate (a kernel at each level of memory), one name.
void Drawing::point_labels() {
  const std::size_t count = std::min(most_labels, plot_.points.size());
  taken_.insert(taken_.end(), bubbles_.begin(), bubbles_.end());
  std::set<std::pair<std::string, std::string>> named;
  std::set<std::pair<std::string, double>> named_at;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& point = plot_.points[i];
    const bool first_of_series = named.insert({point.series, point.name}).second;
    if (named_at.insert({point.name, point.flop_per_s}).second && first_of_series) place_label(point);
  }
}

}  // namespace

std::string svg_roofline(const RooflinePlot& plot) {
  const Drawable shown = drawable(plot);
  if (shown.points.empty() && (shown.bandwidths.empty() || shown.peaks.empty())) return "";
  return Drawing(shown).render(plot.title);
}

}  // namespace corridor::report
