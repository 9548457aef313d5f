// SPDX-License-Identifier: Apache-2.0
// The metric a table names, with its unit: "tpot_ms", "decode_tok_s_per_user", "bandwidth_GBs", "tflops".
#pragma once

#include <string>
#include <string_view>

#include "corridor/profile/points/measured_point.h"

namespace corridor::profile {

struct MetricWord {
  PointMetric metric = PointMetric::tpot;
  double unit = 1;           ///< written number × unit = SI
  bool per_device = false;   ///< a rate of one device of several
  std::string_view problem;  ///< why the metric cannot be used; empty when it can
};

/// Times end in _ms, _us, _ns or _s; rates hold tok_s (or tokens_per_second, tps) with prefill, per_user, output or
/// total. Percentiles other than the median, times without a unit and unknown words have a problem.
[[nodiscard]] MetricWord metric_word(std::string_view as_written);

}  // namespace corridor::profile
