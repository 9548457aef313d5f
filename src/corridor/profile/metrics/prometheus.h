// SPDX-License-Identifier: Apache-2.0
// Reads a page in the text format of Prometheus or OpenMetrics into samples with their labels.
//
//   vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3-8B"} 12.0
//   → name "vllm:num_requests_running", labels engine = 0 and model_name = Qwen/Qwen3-8B, value 12
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/import_stats.h"

namespace corridor::profile {

enum class MetricType { untyped, counter, gauge, histogram, summary, info };

struct MetricLabel {
  std::string name, value;
};

struct MetricSample {
  std::string name;  ///< "vllm_…", as some collectors write it, is turned into "vllm:…"
  std::vector<MetricLabel> labels;
  double value = 0;              ///< finite
  std::optional<double> time_s;  ///< where the page states it, since 1970
  std::size_t line = 0;

  /// The value of a label; empty when it has none of that name.
  [[nodiscard]] std::string_view label(std::string_view label_name) const;
};

struct MetricsPage {
  std::vector<MetricSample> samples;        ///< in order of the page; at most 200,000
  std::map<std::string, MetricType> types;  ///< by name, as `# TYPE` states it
  ImportStats stats;                        ///< lines that are no sample, values that are no number
};

/// Reads all lines; none of them can make it fail.
[[nodiscard]] MetricsPage read_metrics_page(std::string_view text);

/// Whether the first bytes of a text are such a page: lines of `# TYPE` or `# HELP` with samples, or samples alone of a
/// server that is known.
[[nodiscard]] bool looks_like_metrics(std::string_view head);

}  // namespace corridor::profile
