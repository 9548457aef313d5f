// SPDX-License-Identifier: Apache-2.0
// Looks up what one or two metrics pages say of a name: gauges, counts between the pages, histograms.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "corridor/profile/metrics/prometheus.h"
#include "corridor/profile/metrics/server_metrics.h"

namespace corridor::profile {

/// `first` may be null: then counts are those since the server's start. The pages must outlive it.
class MetricSeries {
 public:
  MetricSeries(const MetricsPage* first, const MetricsPage& last);

  /// The last page's samples of a name; tensor-parallel ranks beyond the first, which repeat their numbers, left out.
  [[nodiscard]] std::vector<const MetricSample*> samples(std::string_view name) const;
  [[nodiscard]] std::optional<double> sum(std::string_view name) const;
  [[nodiscard]] std::optional<double> largest(std::string_view name) const;
  [[nodiscard]] std::optional<double> mean(std::string_view name) const;
  /// How much a counter grew, all label sets together. A counter that fell was reset: it counts from 0 then.
  [[nodiscard]] std::optional<double> count(std::string_view name) const;
  /// The same, for the mean over label sets (numbers "per GPU").
  [[nodiscard]] std::optional<double> mean_count(std::string_view name) const;
  /// Of the histogram `name` with its _bucket, _sum and _count; `label` = `value` picks some of its label sets.
  [[nodiscard]] MetricSpread spread(std::string_view name, std::string_view label = {},
                                    std::string_view value = {}) const;
  /// The largest time that the samples of a page state.
  [[nodiscard]] static std::optional<double> time_of(const MetricsPage& page);

  /// Names of counters that fell between the pages.
  [[nodiscard]] const std::set<std::string>& resets() const { return resets_; }

 private:
  using Index = std::unordered_map<std::string_view, std::vector<const MetricSample*>>;
  [[nodiscard]] static Index index_of(const MetricsPage& page);
  [[nodiscard]] double grown(const MetricSample& sample) const;

  Index last_;
  std::unordered_map<std::string, double> before_;  ///< by name and labels; empty without a first page
  bool two_pages_ = false;
  mutable std::set<std::string> resets_;
};

}  // namespace corridor::profile
