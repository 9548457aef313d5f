// SPDX-License-Identifier: Apache-2.0
// The metrics of one profiled launch by name, in base units, and the counters they give.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "corridor/profile/trace.h"

namespace corridor::profile::ncu {

/// Values by metric name: counters ("dram__bytes.sum") and the words of sections ("Duration"). Bytes, seconds, hertz,
/// shares as 0..1, everything else as a count.
class LaunchMetrics {
 public:
  void set(std::string_view name, double value);
  [[nodiscard]] std::optional<double> get(std::string_view name) const;
  /// Whether a name of this beginning is there.
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] const std::unordered_map<std::string, double>& all() const { return values_; }

 private:
  std::unordered_map<std::string, double> values_;
};

/// Whether a counter or section word of this name has an effect on KernelCounters.
[[nodiscard]] bool is_metric_name(std::string_view name);

/// Fills time, clocks, bytes, FLOPs, roofs at the profiled clock, occupancy and registers from what is there.
void fill_counters(const LaunchMetrics& metrics, KernelCounters& counters);

}  // namespace corridor::profile::ncu
