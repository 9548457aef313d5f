// SPDX-License-Identifier: Apache-2.0
// Steps are runs of rising segments in log-log axes; the capacity stands where the run leaves the plateau before it.
#include "corridor/measure/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace corridor::measure {
namespace {

using units::Bytes;
using units::Seconds;

constexpr double rising_per_octave = 1.12;  // plateaus rise a little: more sets in conflict, more address translation
constexpr double least_step = 1.25;
constexpr double onset_share = 0.2;
constexpr double nearest_factor = 4;

double median_of_three(double a, double b, double c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

/// Without single outliers; steps keep their place.
std::vector<double> smoothed(const std::vector<LatencyPoint>& points) {
  std::vector<double> out;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto at = [&](std::size_t k) { return points[k].latency.value(); };
    const bool inside = i > 0 && i + 1 < points.size();
    out.push_back(inside ? median_of_three(at(i - 1), at(i), at(i + 1)) : at(i));
  }
  return out;
}

bool rises(const std::vector<LatencyPoint>& points, const std::vector<double>& latency, std::size_t i) {
  const double octaves = std::log2(points[i + 1].size / points[i].size);
  return octaves > 0 && latency[i] > 0 && latency[i + 1] / latency[i] > std::pow(rising_per_octave, octaves);
}

/// The step made of the rise from point `first` to point `last`.
LatencyStep step_between(const std::vector<LatencyPoint>& points, const std::vector<double>& latency, std::size_t first,
                         std::size_t last) {
  LatencyStep step;
  step.before = Seconds{latency[first]};
  step.after = Seconds{latency[last]};
  const double onset = latency[first] + onset_share * (latency[last] - latency[first]);
  std::size_t i = first;
  while (i + 1 < last && latency[i + 1] < onset) ++i;
  const double share = std::clamp((onset - latency[i]) / (latency[i + 1] - latency[i]), 0.0, 1.0);
  step.below = points[i].size;
  step.above = points[i + 1].size;
  step.capacity = step.below * std::pow(step.above / step.below, share);
  return step;
}

}  // namespace

std::vector<Bytes> ladder_sizes(Bytes smallest, Bytes largest, int per_octave, Bytes multiple) {
  std::vector<Bytes> out;
  if (!(smallest.value() > 0) || !(smallest <= largest) || !std::isfinite(largest.value())) return out;
  const double unit = std::max(1.0, multiple.value());
  const double factor = std::exp2(1.0 / std::max(1, per_octave));
  for (int k = 0; k < 4096; ++k) {
    const double exact = smallest.value() * std::pow(factor, k);
    if (exact > largest.value() * (1 + 1e-9)) break;
    const double size = std::max(unit, std::round(exact / unit) * unit);
    if (size <= largest.value() && (out.empty() || size > out.back().value())) out.emplace_back(size);
  }
  return out;
}

std::vector<LatencyStep> find_steps(const std::vector<LatencyPoint>& points) {
  std::vector<LatencyStep> steps;
  if (points.size() < 3) return steps;
  const std::vector<double> latency = smoothed(points);
  std::size_t i = 0;
  while (i + 1 < points.size()) {
    if (!rises(points, latency, i)) {
      ++i;
      continue;
    }
    const std::size_t first = i;
    while (i + 1 < points.size() && rises(points, latency, i)) ++i;
    if (latency[i] / latency[first] >= least_step) steps.push_back(step_between(points, latency, first, i));
  }
  return steps;
}

std::vector<FoundLevel> match_levels(const std::vector<LatencyStep>& steps, const std::vector<CacheFact>& caches) {
  std::vector<FoundLevel> levels;
  if (caches.empty()) {
    for (const LatencyStep& step : steps) {
      levels.push_back({fmt::format("L{}", levels.size() + 1), step.capacity, std::nullopt, true, 1});
    }
    return levels;
  }
  std::size_t next = 0;  // steps are given out in order
  for (const CacheFact& cache : caches) {
    FoundLevel level{fmt::format("L{}", cache.level), cache.one_instance, cache.one_instance, false, cache.instances};
    const auto distance = [&](std::size_t i) { return std::abs(std::log(steps[i].capacity / cache.one_instance)); };
    std::optional<std::size_t> best;
    for (std::size_t i = next; i < steps.size(); ++i) {
      if (distance(i) <= std::log(nearest_factor) && (!best || distance(i) < distance(*best))) best = i;
    }
    if (best) {
      level.capacity = steps[*best].capacity;
      level.found = true;
      next = *best + 1;
    }
    levels.push_back(level);
  }
  return levels;
}

}  // namespace corridor::measure
