// SPDX-License-Identifier: Apache-2.0
// The curves of a sweep: a few hundred points a line at most, with the flips and the knee as points of their own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "corridor/views/sweep_view.h"

namespace corridor::views {
namespace {

using app::AxisKind;
using app::SweepAnswer;
using app::SweepLine;
using app::SweepPoint;
using report::LinePlot;

constexpr std::size_t most_drawn_points = 400;
constexpr std::size_t most_drawn_lines = 6;
constexpr double log_from_ratio = 30;  // an axis that spans more than this factor is logarithmic
constexpr double gap = std::numeric_limits<double>::quiet_NaN();

using Measure = double (*)(const SweepPoint&);

double total_rate(const SweepPoint& p) {
  return p.total(p.step.mid);
}
double total_rate_limit(const SweepPoint& p) {
  return p.total(p.limit);
}
double user_rate(const SweepPoint& p) {
  return p.per_user(p.step.mid);
}
double user_rate_limit(const SweepPoint& p) {
  return p.per_user(p.limit);
}
double token_ms(const SweepPoint& p) {
  return 1e3 / p.per_user(p.step.mid);
}
double token_ms_limit(const SweepPoint& p) {
  return 1e3 / p.per_user(p.limit);
}
double ttft_ms(const SweepPoint& p) {
  return 1e3 * p.ttft.mid.value();
}
double ttft_ms_limit(const SweepPoint& p) {
  return 1e3 * p.ttft_limit.value();
}
double kv_gb(const SweepPoint& p) {
  return p.kv.value() / 1e9;
}
double weight_gb(const SweepPoint& p) {
  return p.weights.value() / 1e9;
}

/// What one plot shows of every point, and of the limit (or another quantity) when there is one line only.
struct Wanted {
  const char* key;
  const char* title;
  const char* unit;
  const char* name;
  Measure measure;
  const char* second_name;
  Measure second;
};

std::vector<Wanted> wanted_for(AxisKind kind) {
  const Wanted total{"curves.tokens_per_s", "Tokens a second, all users", "tok/s", "expected", total_rate, "limit",
                     total_rate_limit};
  const Wanted user{"curves.tokens_per_s_per_user",
                    "Tokens a second, each user",
                    "tok/s",
                    "expected",
                    user_rate,
                    "limit",
                    user_rate_limit};
  const Wanted token{"curves.token_ms", "Time of one token", "ms", "expected", token_ms, "limit", token_ms_limit};
  const Wanted first{"curves.ttft_ms", "Time to the first token", "ms", "expected", ttft_ms, "limit", ttft_ms_limit};
  const Wanted bytes{"curves.gb", "Bytes that one step reads", "GB", "KV cache", kv_gb, "weights", weight_gb};
  switch (kind) {
    case AxisKind::batch:
    case AxisKind::concurrency:
      return {total, user};
    case AxisKind::context:
      return {token, bytes};
    case AxisKind::input:
      return {first, total};
    default:
      return {user, total};
  }
}

/// At most `most_drawn_points` points of a line, ends and neighbours of nothing lost but detail.
LinePlot::Series series_of(const SweepAnswer& answer, const SweepLine& line, std::string name, Measure measure) {
  LinePlot::Series series;
  series.name = std::move(name);
  const std::size_t count = line.points.size();
  const std::size_t drawn = std::min(count, most_drawn_points);
  for (std::size_t i = 0; i < drawn; ++i) {
    const SweepPoint& point = line.points[drawn < 2 ? i : i * (count - 1) / (drawn - 1)];
    series.x.push_back(point.at[answer.along]);
    series.y.push_back(point.error.empty() ? measure(point) : gap);
  }
  return series;
}

/// The curve's height at x, on a straight line between its neighbours.
double height_at(const LinePlot::Series& series, double x) {
  const auto next = std::lower_bound(series.x.begin(), series.x.end(), x);
  if (next == series.x.end()) return gap;
  const auto i = static_cast<std::size_t>(next - series.x.begin());
  if (*next == x || i == 0) return series.y[i];
  const double share = (x - series.x[i - 1]) / (series.x[i] - series.x[i - 1]);
  return series.y[i - 1] + share * (series.y[i] - series.y[i - 1]);
}

/// Points that no line joins: a gap stands between them.
void add_marks(const std::string& name, const std::vector<double>& xs, LinePlot& plot) {
  LinePlot::Series marks;
  marks.name = name;
  for (const double x : xs) {
    const double y = height_at(plot.series.front(), x);
    if (!std::isfinite(y)) continue;
    marks.x.insert(marks.x.end(), {x, gap});
    marks.y.insert(marks.y.end(), {y, gap});
  }
  if (!marks.x.empty()) plot.series.push_back(std::move(marks));
}

void add_marks_of(const SweepAnswer& answer, LinePlot& plot) {
  std::vector<double> flips;
  for (const app::SweepFlip& flip : answer.flips) {
    if (flip.axis == answer.along && flip.of == "decode") flips.push_back(flip.after[answer.along]);
  }
  if (flips.size() <= most_drawn_points) add_marks("wall changes", flips, plot);
  if (answer.lines.front().knee) add_marks("knee", {*answer.lines.front().knee}, plot);
}

/// A log axis for a positive quantity that spans a wide range.
bool spans_decades(const LinePlot& plot, bool of_x) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const LinePlot::Series& series : plot.series) {
    for (const double v : of_x ? series.x : series.y) {
      if (!std::isfinite(v)) continue;
      if (v <= 0) return false;
      low = std::min(low, v);
      high = std::max(high, v);
    }
  }
  return high > log_from_ratio * low;
}

LinePlot plot_of(const SweepAnswer& answer, const Wanted& wanted) {
  LinePlot plot;
  plot.key = wanted.key;
  plot.title = wanted.title;
  plot.x_label = std::string(name(answer.axes[answer.along].kind));
  plot.y_label = wanted.unit;
  if (answer.lines.size() == 1) {
    plot.series.push_back(series_of(answer, answer.lines.front(), wanted.name, wanted.measure));
    plot.series.push_back(series_of(answer, answer.lines.front(), wanted.second_name, wanted.second));
    add_marks_of(answer, plot);
  } else {
    const app::SweepAxis& other = answer.axes[1 - answer.along];
    const std::size_t count = answer.lines.size();
    const std::size_t drawn = std::min(count, most_drawn_lines);
    for (std::size_t i = 0; i < drawn; ++i) {
      const SweepLine& line = answer.lines[i * (count - 1) / (drawn - 1)];
      plot.series.push_back(
          series_of(answer, line, fmt::format("{} {}", name(other.kind), other.label(line.other)), wanted.measure));
    }
    if (drawn < count) plot.title += fmt::format(" ({} of {} lines)", drawn, count);
  }
  plot.log_x = answer.axes[answer.along].kind == AxisKind::tp || spans_decades(plot, true);
  plot.log_y = spans_decades(plot, false);
  return plot;
}

bool same_curves(const LinePlot& a, const LinePlot& b) {
  const auto close = [](double x, double y) { return !(std::fabs(x - y) > 1e-9 * std::fabs(x)); };
  return std::equal(a.series.begin(), a.series.end(), b.series.begin(), b.series.end(), [&](auto& one, auto& two) {
    return std::equal(one.y.begin(), one.y.end(), two.y.begin(), two.y.end(), close);
  });
}

}  // namespace

std::vector<LinePlot> sweep_plots(const SweepAnswer& answer) {
  std::vector<LinePlot> plots;
  const app::SweepAxis& axis = answer.axes[answer.along];
  if (!axis.has_numbers() || axis.values.size() < 2) return plots;
  for (const Wanted& wanted : wanted_for(axis.kind)) {
    LinePlot plot = plot_of(answer, wanted);
    // One user is all users: the same curves are not drawn twice.
    if (plots.empty() || !same_curves(plots.front(), plot)) plots.push_back(std::move(plot));
  }
  return plots;
}

}  // namespace corridor::views
