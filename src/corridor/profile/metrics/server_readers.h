// SPDX-License-Identifier: Apache-2.0
// One reader for each server: which names it has for what, in every version that is known.
#pragma once

#include "corridor/profile/metrics/series.h"

namespace corridor::profile {

void read_vllm_metrics(const MetricSeries& series, ServerMetrics& out);
void read_sglang_metrics(const MetricSeries& series, ServerMetrics& out);
void read_tgi_metrics(const MetricSeries& series, ServerMetrics& out);
void read_llama_server_metrics(const MetricSeries& series, ServerMetrics& out);
/// Adds one entry to `gpus` for each GPU of the page.
void read_dcgm_metrics(const MetricsPage& page, ServerMetrics& out);

}  // namespace corridor::profile
