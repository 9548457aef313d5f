// SPDX-License-Identifier: Apache-2.0
// Quantiles of errors by regime and group; counts of what was set apart.
#include "corridor/app/validate_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "corridor/app/validate_regime.h"

namespace corridor::app {
namespace {

constexpr double contradiction_ratio = 1.5;
constexpr double same_measurement = 1e-4;  // closer values are one measurement that two tables restate
constexpr std::size_t worst_count = 10;
constexpr const char* contradiction = "contradicts another row of the same configuration";

/// The value below which the share `q` of the values lies, between neighbours by proportion. Sorts.
double quantile(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

using Members = std::vector<std::size_t>;

RegimeResult result_of(const std::string& name, const std::vector<JudgedPoint>& points, const Members& members) {
  RegimeResult out;
  out.name = name;
  out.points = members.size();
  std::vector<double> size, sign, limit, rule, ratio;
  std::size_t inside = 0;
  for (const std::size_t i : members) {
    const JudgedPoint& p = points[i];
    const double error = p.error(p.mid);
    size.push_back(std::fabs(error));
    sign.push_back(error);
    limit.push_back(std::fabs(p.error(p.roofline)));
    rule.push_back(std::fabs(p.error(p.one_constant)));
    if (p.low > 0) ratio.push_back(p.high / p.low);
    if (p.inside()) ++inside;
  }
  out.median_error = quantile(size, 0.5);
  out.p90_error = quantile(size, 0.9);
  out.bias = quantile(sign, 0.5);
  out.limit_median_error = quantile(limit, 0.5);
  out.one_constant_median_error = quantile(rule, 0.5);
  out.interval_ratio = quantile(ratio, 0.5);
  out.interval_coverage = members.empty() ? 0 : static_cast<double>(inside) / static_cast<double>(members.size());
  return out;
}

void fill_regimes(ValidateAnswer& answer) {
  std::map<std::string, Members> by_regime;
  Members all;
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    if (answer.points[i].status != PointStatus::predicted) continue;
    by_regime[answer.points[i].regime].push_back(i);
    all.push_back(i);
  }
  for (const std::string& name : regime_names()) {
    const auto found = by_regime.find(name);
    if (found != by_regime.end()) answer.regimes.push_back(result_of(name, answer.points, found->second));
  }
  answer.overall = result_of("overall", answer.points, all);
}

void fill_groups(ValidateAnswer& answer) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::int64_t, std::string>;
  std::map<Key, Members> groups;
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    const JudgedPoint& p = answer.points[i];
    if (p.status != PointStatus::predicted) continue;
    const std::int64_t tp = p.point.tp.value_or(p.point.devices.value_or(1));
    groups[{p.regime, p.engine_id, p.device_id, p.model_id, tp, sequences_range(p.point.sequences.value_or(1))}]
        .push_back(i);
  }
  for (const auto& [key, members] : groups) {
    const RegimeResult r = result_of("", answer.points, members);
    const auto& [regime, engine, device, model, tp, sequences] = key;
    answer.groups.push_back(
        {regime, engine, device, model, tp, sequences, r.points, r.median_error, r.bias, r.interval_coverage});
  }
  std::stable_sort(answer.groups.begin(), answer.groups.end(),
                   [](const GroupResult& a, const GroupResult& b) { return a.points > b.points; });
}

void fill_reasons(ValidateAnswer& answer) {
  std::map<std::string, ReasonCount> reasons;
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    const JudgedPoint& p = answer.points[i];
    if (p.status == PointStatus::beyond_limit) answer.beyond_limit.push_back(i);
    if (p.status != PointStatus::not_understood) continue;
    ReasonCount& count = reasons[p.reason];
    if (count.points++ == 0) count.example = p.point.id;
  }
  for (auto& [reason, count] : reasons) {
    count.reason = reason;
    answer.not_understood.push_back(std::move(count));
  }
  std::stable_sort(answer.not_understood.begin(), answer.not_understood.end(),
                   [](const ReasonCount& a, const ReasonCount& b) { return a.points > b.points; });
}

/// Distance of a prediction from what was measured, alike for too fast and too slow.
double distance(const JudgedPoint& p) {
  return std::fabs(std::log(std::max(1e-12, 1 + p.error(p.mid))));
}

void fill_worst(ValidateAnswer& answer) {
  Members order;
  for (std::size_t i = 0; i < answer.points.size(); ++i) {
    if (answer.points[i].status == PointStatus::predicted) order.push_back(i);
  }
  const std::size_t most = std::min(worst_count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      const double left = distance(answer.points[a]);
                      const double right = distance(answer.points[b]);
                      return left != right ? left > right : a < b;
                    });
  order.resize(most);
  for (const std::size_t i : order) answer.points[i].reason = likely_reason(answer.points[i]);
  answer.worst = std::move(order);
}

/// Rows of one configuration and date: those far from the others lose their standing, of two that disagree both do.
void judge_repeats(std::vector<JudgedPoint>& points, const Members& members) {
  std::vector<double> sorted;
  for (const std::size_t i : members) sorted.push_back(points[i].point.value);
  const double middle = quantile(sorted, 0.5);
  if (sorted.back() <= contradiction_ratio * sorted.front()) return;
  for (const std::size_t i : members) {
    const double ratio = std::max(points[i].point.value / middle, middle / points[i].point.value);
    if (members.size() > 2 && ratio <= contradiction_ratio) continue;
    points[i].status = PointStatus::not_understood;
    points[i].reason = contradiction;
  }
}

/// Predicted rows by what makes them the same, groups of one left out.
std::vector<Members> repeats(const std::vector<JudgedPoint>& points, bool same_date) {
  std::unordered_map<std::string, Members> same;
  same.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].status != PointStatus::predicted) continue;
    std::string key = configuration_key(points[i]);
    if (same_date) key += "|" + points[i].point.date;
    same[std::move(key)].push_back(i);
  }
  std::vector<Members> out;
  for (auto& [key, members] : same) {
    if (members.size() > 1) out.push_back(std::move(members));
  }
  return out;
}

}  // namespace

NoiseFloor set_contradictions_apart(std::vector<JudgedPoint>& points) {
  // An engine without a stated version is another one at another date.
  for (const Members& members : repeats(points, true)) judge_repeats(points, members);
  std::vector<double> ratios;
  for (const Members& members : repeats(points, false)) {
    std::vector<double> sorted;
    for (const std::size_t i : members) sorted.push_back(points[i].point.value);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
      const double ratio = sorted[i + 1] / sorted[i];
      if (ratio > 1 + same_measurement) ratios.push_back(ratio);
    }
  }
  NoiseFloor floor;
  floor.pairs = ratios.size();
  if (ratios.empty()) return floor;
  floor.median_ratio = quantile(ratios, 0.5);
  floor.p90_ratio = quantile(ratios, 0.9);
  return floor;
}

void summarise(ValidateAnswer& answer) {
  fill_regimes(answer);
  fill_groups(answer);
  fill_reasons(answer);
  fill_worst(answer);
}

}  // namespace corridor::app
