// SPDX-License-Identifier: Apache-2.0
// Checks the axes, computes all points in parallel, then marks what stands out.
#include "corridor/app/sweep.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/sweep_grid.h"
#include "corridor/app/sweep_marks.h"
#include "corridor/base/parallel_for.h"

namespace corridor::app {
namespace {

constexpr std::size_t points_between_reports = 4096;
constexpr double longest_context = 100'000'000;  // tokens; what --context takes at most

/// The flag that an axis replaces, when the request gives it too.
std::string given_flag(const PredictRequest& r, AxisKind kind) {
  const auto flag = [](bool given, const char* text) { return std::string(given ? text : ""); };
  switch (kind) {
    case AxisKind::batch:
    case AxisKind::concurrency:
      return flag(r.batch.has_value(), "--batch") + flag(r.concurrency.has_value(), "--concurrency");
    case AxisKind::context:
      return flag(r.context.has_value(), "--context");
    case AxisKind::input:
      return flag(r.input.has_value(), "--input");
    case AxisKind::output:
      return flag(r.output.has_value(), "--output");
    case AxisKind::tp:
      return flag(r.tp.has_value(), "--tp");
    case AxisKind::weights:
      return flag(!r.weights.empty(), "--weights");
    case AxisKind::kv:
      return flag(!r.kv.empty(), "--kv");
    case AxisKind::device:
      return flag(!r.device.empty(), "--device");
    case AxisKind::engine:
      return flag(!r.engine.empty(), "--engine");
  }
  return "";
}

bool same_load(AxisKind a, AxisKind b) {
  const auto load = [](AxisKind kind) { return kind == AxisKind::batch || kind == AxisKind::concurrency; };
  return a == b || (load(a) && load(b));
}

Result<std::vector<SweepAxis>> axes_of(const SweepRequest& request) {
  if (request.over.empty()) return fail("no axis is given", "--over", "add for example --over batch=1..512");
  if (request.over.size() > 2) {
    return fail(fmt::format("{} axes are given", request.over.size()), "--over", "give one or two");
  }
  std::vector<SweepAxis> axes;
  std::size_t points = 1;
  for (const std::string& text : request.over) {
    Result<SweepAxis> axis = parse_axis(text);
    if (!axis) return tl::unexpected(axis.error());
    if (const std::string flag = given_flag(request.base, axis->kind); !flag.empty()) {
      return fail(fmt::format("{} is given beside the axis {}", flag, name(axis->kind)), "--over " + text,
                  "leave one of the two out");
    }
    if (!axes.empty() && same_load(axes.front().kind, axis->kind)) {
      return fail(fmt::format("{} and {} cannot be swept together", name(axes.front().kind), name(axis->kind)),
                  "--over " + text, "choose two different inputs");
    }
    points *= axis->values.size();
    axes.push_back(std::move(*axis));
  }
  if (points > most_sweep_points) {
    return fail(fmt::format("{} points are more than the {} a sweep may have", points, most_sweep_points), "--over",
                "use larger steps or shorter ranges");
  }
  return axes;
}

/// Fills the answer's lines with their coordinates; nothing is computed yet.
void lay_lines(SweepAnswer& answer) {
  const auto numbers = [](const SweepAxis& axis) { return axis.has_numbers(); };
  const auto first = std::find_if(answer.axes.begin(), answer.axes.end(), numbers);
  answer.along = first == answer.axes.end() ? 0 : static_cast<std::size_t>(first - answer.axes.begin());
  const std::size_t other = 1 - answer.along;
  const std::vector<double> single{0};
  for (const double at_other : answer.axes.size() > 1 ? answer.axes[other].values : single) {
    SweepLine line;
    line.other = at_other;
    for (const double x : answer.axes[answer.along].values) {
      SweepPoint point;
      point.at[answer.along] = x;
      point.at[other] = at_other;
      line.points.push_back(std::move(point));
    }
    answer.lines.push_back(std::move(line));
  }
}

void compute_points(const SweepGrid& grid, const SweepRequest& request, SweepAnswer& answer) {
  std::vector<SweepPoint*> all;
  for (SweepLine& line : answer.lines) {
    for (SweepPoint& point : line.points) all.push_back(&point);
  }
  for (std::size_t done = 0; done < all.size();) {
    const std::size_t now = std::min(points_between_reports, all.size() - done);
    parallel_for(now, [&](std::size_t i) { *all[done + i] = grid.compute(all[done + i]->at); });
    done += now;
    if (request.progress) request.progress(done, all.size());
  }
}

void mark_flips(const SweepGrid& grid, SweepAnswer& answer) {
  const std::size_t other = 1 - answer.along;
  std::vector<std::vector<SweepFlip>> found(answer.lines.size());
  parallel_for(answer.lines.size(), [&](std::size_t i) {
    std::vector<const SweepPoint*> points;
    for (const SweepPoint& point : answer.lines[i].points) points.push_back(&point);
    add_flips(grid, answer.along, points, found[i]);
  });
  if (answer.lines.size() > 1) {
    const std::size_t columns = answer.lines.front().points.size();
    std::vector<std::vector<SweepFlip>> across(columns);
    parallel_for(columns, [&](std::size_t i) {
      std::vector<const SweepPoint*> points;
      for (const SweepLine& line : answer.lines) points.push_back(&line.points[i]);
      add_flips(grid, other, points, across[i]);
    });
    found.insert(found.end(), across.begin(), across.end());
  }
  for (std::vector<SweepFlip>& flips : found) {
    for (SweepFlip& flip : flips) answer.flips.push_back(std::move(flip));
  }
}

Coordinates with_x(const SweepLine& line, std::size_t along, double x) {
  Coordinates at{};
  at[along] = x;
  at[1 - along] = line.other;
  return at;
}

void mark_knee(const SweepGrid& grid, std::size_t along, SweepLine& line) {
  const SweepAxis& axis = grid.axes()[along];
  const auto rate = [&](double x) {
    const SweepPoint point = grid.compute(with_x(line, along, x));
    return point.error.empty() ? point.total(point.step.mid) : 0;
  };
  // A batch below the number of replicas is not possible; the search starts at the first that is.
  const auto possible = [](const SweepPoint& point) { return point.error.empty(); };
  const auto start = std::find_if(line.points.begin(), line.points.end(), possible);
  if (start == line.points.end()) return;
  line.knee = knee_of(start->at[along], axis.values.back(), rate);
  if (!line.knee || !axis.own_spacing) return;
  const auto place = std::lower_bound(line.points.begin(), line.points.end(), *line.knee,
                                      [&](const SweepPoint& point, double x) { return point.at[along] < x; });
  if (place != line.points.end() && place->at[along] == *line.knee) return;
  SweepPoint knee = grid.compute(with_x(line, along, *line.knee));
  knee.added = true;
  line.points.insert(place, std::move(knee));
}

void mark_kv(const SweepGrid& grid, std::size_t along, SweepLine& line) {
  const auto ahead = [&](double x) {
    const SweepPoint point = grid.compute(with_x(line, along, x));
    return point.error.empty() && point.kv_ahead;
  };
  line.kv_overtakes = first_that_holds(1, longest_context, ahead);
}

void mark_lines(const SweepGrid& grid, SweepAnswer& answer) {
  const AxisKind kind = answer.axes[answer.along].kind;
  const std::size_t along = answer.along;
  parallel_for(answer.lines.size(), [&](std::size_t i) {
    if (kind == AxisKind::batch || kind == AxisKind::concurrency) mark_knee(grid, along, answer.lines[i]);
    if (kind == AxisKind::context) mark_kv(grid, along, answer.lines[i]);
  });
}

}  // namespace

std::size_t SweepAnswer::point_count() const {
  std::size_t count = 0;
  for (const SweepLine& line : lines) count += line.points.size();
  return count;
}

bool SweepAnswer::any_fits() const {
  return std::any_of(lines.begin(), lines.end(), [](const SweepLine& line) {
    return std::any_of(line.points.begin(), line.points.end(),
                       [](const SweepPoint& point) { return point.error.empty() && point.fits; });
  });
}

Result<SweepAnswer> sweep(const Assets& assets, const SweepRequest& request) {
  Result<std::vector<SweepAxis>> axes = axes_of(request);
  if (!axes) return tl::unexpected(axes.error());
  const auto is_device = [](const SweepAxis& axis) { return axis.kind == AxisKind::device; };
  if (request.base.device.empty() && std::none_of(axes->begin(), axes->end(), is_device)) {
    return fail("no device is given", "--device", "name one, or sweep over --over device=h100-sxm,h200");
  }
  const Result<SweepGrid> grid = SweepGrid::open(assets, request.base, std::move(*axes));
  if (!grid) return tl::unexpected(grid.error());
  SweepAnswer answer;
  answer.axes = grid->axes();
  lay_lines(answer);
  compute_points(*grid, request, answer);
  const auto possible = [](const SweepLine& line) {
    return std::any_of(line.points.begin(), line.points.end(), [](const SweepPoint& p) { return p.error.empty(); });
  };
  if (std::none_of(answer.lines.begin(), answer.lines.end(), possible)) {
    return fail("no point is possible: " + answer.lines.front().points.front().error);
  }
  mark_flips(*grid, answer);
  mark_lines(*grid, answer);
  answer.first = grid->described_case();
  return answer;
}

}  // namespace corridor::app
