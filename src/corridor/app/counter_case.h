// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor diagnose FILE.csv` for kernels with counters: Nsight Compute, rocprof-compute, nsys stats.
#pragma once

#include <string>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/app/trace_case.h"
#include "corridor/diagnose/counters/counter_analysis.h"
#include "corridor/profile/import_stats.h"

namespace corridor::app {

struct CounterRequest {
  PredictRequest base;           ///< of it --device has an effect
  std::vector<TraceFile> files;  ///< of one run: pmc_perf.csv with roofline.csv and sysinfo.csv; several reports
};

struct CounterAnswer {
  std::vector<std::string> files;
  std::string format;
  std::optional<hardware::Device> device;  ///< empty = none known
  std::string profiled_device;             ///< as the files name it; empty when they do not
  diagnose::CounterAnalysis analysis;
  profile::ImportStats import;
  std::vector<std::string> notes;
};

/// Whether the (unpacked) content of a file is one that `diagnose_counters` takes. Fails when it cannot be unpacked.
[[nodiscard]] Result<bool> is_counters(const TraceFile& file);

/// Joins the files and places their kernels. Fails in one line when there is no kernel in them or --device is unknown.
[[nodiscard]] Result<CounterAnswer> diagnose_counters(const Assets& assets, const CounterRequest& request);

}  // namespace corridor::app
