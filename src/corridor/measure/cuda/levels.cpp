// SPDX-License-Identifier: Apache-2.0
// Steps of the latency curve become named levels with the rates that were taken inside them.
#include "corridor/measure/cuda/levels.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "corridor/measure/estimator.h"
#include "corridor/measure/ladder.h"
#include "corridor/units/text.h"

namespace corridor::measure::cuda {
namespace {

constexpr double differs_by = 0.25;
constexpr double nearest_factor = 4;  // a step farther from the reported L2 is one of address translation
constexpr double onset_share = 0.2;   // of a rise: there the level counts as full, as in find_steps

std::vector<LatencyPoint> latencies(const std::vector<CurvePoint>& curve) {
  std::vector<LatencyPoint> points;
  for (const CurvePoint& point : curve) {
    if (point.latency && point.latency->value > 0) points.push_back({point.size, units::Seconds{point.latency->value}});
  }
  return points;
}

/// Median and spread over the working sets from `from` to `to`, in bytes.
std::optional<Figure> latency_inside(const std::vector<LatencyPoint>& points, double from, double to) {
  std::vector<double> seconds;
  for (const LatencyPoint& point : points) {
    if (point.size.value() >= from && point.size.value() <= to) seconds.push_back(point.latency.value());
  }
  if (seconds.empty()) return std::nullopt;
  Figure figure;
  figure.value = percentile(seconds, 0.5);
  figure.spread = (percentile(seconds, 0.9) - percentile(seconds, 0.1)) / figure.value;
  figure.passes = static_cast<int>(seconds.size());
  figure.how = "pointer chase by one thread, median over the working sets inside the level";
  return figure;
}

/// The best read rate for working sets in (from, to].
std::optional<Figure> best_read(const std::vector<CurvePoint>& curve, double from, double to) {
  std::optional<Figure> best;
  for (const CurvePoint& point : curve) {
    if (!point.read || point.size.value() <= from || point.size.value() > to) continue;
    if (!best || point.read->value > best->value) best = point.read;
  }
  return best;
}

void compare(const MeasuredLevel& level, std::vector<std::string>& warnings) {
  if (!level.reported || level.reported->value() <= 0) return;
  const double ratio = level.capacity / *level.reported;
  if (std::abs(ratio - 1) <= differs_by) return;
  warnings.push_back(fmt::format("{}: the latency curve of one SM rises at {}, the driver reports {}{}", level.level,
                                 units::print(level.capacity), units::print(*level.reported),
                                 ratio < 1 ? " (a partitioned cache shows each SM its near part)" : ""));
}

/// The first rise that an SM's own cache can make.
std::optional<LatencyStep> l1_step(const std::vector<LatencyStep>& steps, double most_l1) {
  if (steps.empty() || steps.front().capacity.value() > most_l1) return std::nullopt;
  return steps.front();
}

/// The rise nearest to the L2 the driver reports; the largest rise beyond the L1 when it reports none.
std::optional<LatencyStep> l2_step(const std::vector<LatencyStep>& steps, double most_l1, units::Bytes reported) {
  std::optional<LatencyStep> best;
  double best_score = -std::numeric_limits<double>::infinity();
  for (const LatencyStep& step : steps) {
    if (step.capacity.value() <= most_l1) continue;
    const bool known = reported.value() > 0;
    const double distance = known ? std::abs(std::log(step.capacity / reported)) : 0;
    if (distance > std::log(nearest_factor)) continue;
    const double score = known ? -distance : step.after / step.before;
    if (score <= best_score) continue;
    best_score = score;
    best = step;
  }
  return best;
}

/// Where the rise begins, by bisection between the two points of the curve beside it.
Result<units::Bytes> refine(const LatencyStep& step, int bisections,
                            const std::function<Result<double>(double bytes)>& probe) {
  double inside = step.below.value(), outside = step.above.value();
  const double limit = step.before.value() + onset_share * (step.after - step.before).value();
  for (int i = 0; i < bisections; ++i) {
    const double middle = 0.5 * (inside + outside);
    const Result<double> seconds = probe(middle);
    if (!seconds) return tl::unexpected(seconds.error());
    (*seconds > limit ? outside : inside) = middle;
  }
  return units::Bytes{inside};
}

/// What all levels are taken from.
struct Look {
  const std::vector<CurvePoint>& curve;
  std::vector<LatencyPoint> points;
  int bisections;
  const std::function<Result<double>(double bytes)>& probe;
};

/// A level that ends at `step`. Latencies count from `latency_from`, rates from beyond `rate_from`, both in bytes of
/// one instance.
Result<MeasuredLevel> level_before(const Look& look, const LatencyStep& step, const char* name, double instances,
                                   double latency_from, double rate_from) {
  const Result<units::Bytes> edge = refine(step, look.bisections, look.probe);
  if (!edge) return tl::unexpected(edge.error());
  MeasuredLevel level;
  level.level = name;
  level.instances = instances;
  level.capacity = *edge * instances;
  level.latency = latency_inside(look.points, latency_from, edge->value());
  level.bandwidth = best_read(look.curve, rate_from, edge->value());
  return level;
}

MeasuredLevel main_memory(const Look& look, const GpuFacts& facts, double latency_from) {
  MeasuredLevel level;
  level.level = "main memory";
  level.capacity = facts.memory_total;
  level.reported = facts.memory_total;
  level.latency = latency_inside(look.points, latency_from, std::numeric_limits<double>::infinity());
  if (!look.curve.empty()) level.bandwidth = look.curve.back().read;
  return level;
}

}  // namespace

Result<std::vector<MeasuredLevel>> levels_of(const std::vector<CurvePoint>& curve, const GpuFacts& facts,
                                             double most_l1, int bisections,
                                             const std::function<Result<double>(double bytes)>& probe,
                                             std::vector<std::string>& warnings) {
  const Look look{curve, latencies(curve), bisections, probe};
  const std::vector<LatencyStep> steps = find_steps(look.points);
  std::vector<MeasuredLevel> levels;
  double from = 0;
  if (const auto step = l1_step(steps, most_l1)) {
    Result<MeasuredLevel> level = level_before(look, *step, "L1", facts.sm_count, 0, 0);
    if (!level) return tl::unexpected(level.error());
    from = 2 * (level->capacity / facts.sm_count).value();
    levels.push_back(std::move(*level));
  } else {
    warnings.emplace_back("L1: the latency curve shows no step, its capacity is not known");
  }
  if (const auto step = l2_step(steps, most_l1, facts.l2)) {
    Result<MeasuredLevel> level = level_before(look, *step, "L2", 1, from, most_l1);
    if (!level) return tl::unexpected(level.error());
    if (facts.l2.value() > 0) level->reported = facts.l2;
    compare(*level, warnings);
    from = 2 * level->capacity.value();
    levels.push_back(std::move(*level));
  } else {
    warnings.emplace_back("L2: the latency curve shows no step near the size the driver reports");
  }
  levels.push_back(main_memory(look, facts, from));
  return levels;
}

}  // namespace corridor::measure::cuda
