// SPDX-License-Identifier: Apache-2.0
// Sums over label sets, differences between two pages, percentiles of bucketed counts.
#include "corridor/profile/metrics/series.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace corridor::profile {
namespace {

std::string series_key(const MetricSample& sample) {
  std::string key = sample.name;
  for (const MetricLabel& label : sample.labels) {
    key += '\x1f';
    key += label.name;
    key += '\x1e';
    key += label.value;
  }
  return key;
}

std::optional<double> bucket_bound(const MetricSample& sample) {
  const std::string text(sample.label("le"));
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double bound = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() && !std::isnan(bound) ? std::optional(bound) : std::nullopt;
}

/// The value below which the share `q` of the counts lies.
std::optional<double> quantile(const std::map<double, double>& buckets, double q, bool& beyond) {
  if (buckets.empty() || buckets.rbegin()->second <= 0) return std::nullopt;
  const double rank = q * buckets.rbegin()->second;
  double bound_before = 0, count_before = 0;
  for (const auto& [bound, count] : buckets) {
    if (count >= rank && count > count_before) {
      if (!std::isfinite(bound)) break;
      const double share = (rank - count_before) / (count - count_before);
      return std::min(bound_before, bound) + (bound - std::min(bound_before, bound)) * std::clamp(share, 0.0, 1.0);
    }
    if (std::isfinite(bound)) bound_before = bound;
    count_before = std::max(count_before, count);
  }
  beyond = true;
  return bound_before;
}

}  // namespace

MetricSeries::MetricSeries(const MetricsPage* first, const MetricsPage& last)
    : last_(index_of(last)), two_pages_(first != nullptr) {
  if (first == nullptr) return;
  for (const MetricSample& sample : first->samples) before_[series_key(sample)] = sample.value;
}

MetricSeries::Index MetricSeries::index_of(const MetricsPage& page) {
  std::map<std::string_view, std::string_view> first_rank;
  for (const MetricSample& sample : page.samples) {
    const std::string_view rank = sample.label("tp_rank");
    if (rank.empty()) continue;
    const auto [known, added] = first_rank.emplace(sample.name, rank);
    if (!added) known->second = std::min(known->second, rank);
  }
  Index index;
  for (const MetricSample& sample : page.samples) {
    const auto rank = first_rank.find(sample.name);
    if (rank != first_rank.end() && sample.label("tp_rank") != rank->second) continue;
    index[sample.name].push_back(&sample);
  }
  return index;
}

std::vector<const MetricSample*> MetricSeries::samples(std::string_view name) const {
  const auto found = last_.find(name);
  return found == last_.end() ? std::vector<const MetricSample*>() : found->second;
}

std::optional<double> MetricSeries::sum(std::string_view name) const {
  const auto found = samples(name);
  if (found.empty()) return std::nullopt;
  double total = 0;
  for (const MetricSample* sample : found) total += sample->value;
  return total;
}

std::optional<double> MetricSeries::largest(std::string_view name) const {
  std::optional<double> most;
  for (const MetricSample* sample : samples(name)) most = std::max(most.value_or(sample->value), sample->value);
  return most;
}

std::optional<double> MetricSeries::mean(std::string_view name) const {
  const auto total = sum(name);
  return total ? std::optional(*total / static_cast<double>(samples(name).size())) : std::nullopt;
}

double MetricSeries::grown(const MetricSample& sample) const {
  const auto before = before_.find(series_key(sample));
  if (before == before_.end()) return sample.value;  // one page, or a label set that is new
  if (sample.value >= before->second) return sample.value - before->second;
  resets_.insert(sample.name);
  return sample.value;
}

std::optional<double> MetricSeries::count(std::string_view name) const {
  const auto found = samples(name);
  if (found.empty()) return std::nullopt;
  double total = 0;
  for (const MetricSample* sample : found) total += std::max(0.0, grown(*sample));
  return total;
}

std::optional<double> MetricSeries::mean_count(std::string_view name) const {
  const auto total = count(name);
  return total ? std::optional(*total / static_cast<double>(samples(name).size())) : std::nullopt;
}

MetricSpread MetricSeries::spread(std::string_view name, std::string_view label, std::string_view value) const {
  MetricSpread out;
  const auto chosen = [&](const MetricSample& sample) { return label.empty() || sample.label(label) == value; };
  const auto total = [&](const char* ending) {
    double sum = 0;
    for (const MetricSample* sample : samples(std::string(name) + ending)) {
      if (chosen(*sample)) sum += std::max(0.0, grown(*sample));
    }
    return sum;
  };
  out.count = total("_count");
  if (out.count <= 0) return out;
  out.mean = total("_sum") / out.count;
  std::map<double, double> buckets;
  for (const MetricSample* sample : samples(std::string(name) + "_bucket")) {
    const auto bound = bucket_bound(*sample);
    if (bound && chosen(*sample)) buckets[*bound] += std::max(0.0, grown(*sample));
  }
  bool beyond = false;
  out.p50 = quantile(buckets, 0.50, beyond);
  out.p90 = quantile(buckets, 0.90, beyond);
  beyond = false;
  out.p99 = quantile(buckets, 0.99, beyond);
  out.p99_beyond_buckets = beyond;
  // A share 1 − q of the values lies at or above the percentile, so it is at most mean ÷ (1 − q): where buckets are
  // wide, that is the better bound.
  const auto bound = [&](std::optional<double>& percentile, double q) {
    if (percentile) percentile = std::min(*percentile, *out.mean / (1 - q));
  };
  bound(out.p50, 0.50);
  bound(out.p90, 0.90);
  bound(out.p99, 0.99);
  return out;
}

std::optional<double> MetricSeries::time_of(const MetricsPage& page) {
  std::optional<double> latest;
  for (const MetricSample& sample : page.samples) {
    if (sample.time_s) latest = std::max(latest.value_or(*sample.time_s), *sample.time_s);
  }
  return latest;
}

}  // namespace corridor::profile
