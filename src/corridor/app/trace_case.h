// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor diagnose TRACE…`: files of one run → device, model, analysis, and which rank is the
// slowest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/diagnose/trace/trace_analysis.h"
#include "corridor/profile/file_kind.h"
#include "corridor/profile/import_stats.h"

namespace corridor::app {

/// A file of a run; the bytes (mapped, packed or not) must outlive the call.
struct TraceFile {
  std::string name;
  std::string_view bytes;
  std::optional<profile::FileKind> kind{};  ///< what to take it as; empty: its content tells
};

struct TraceRequest {
  PredictRequest base;  ///< of it the model, --params, --weights, --kv, --device and --tp have an effect
  std::vector<TraceFile> files;
  bool keep_trace = false;  ///< the answer brings its trace along
};

/// One traced process of the run, in the order of the files.
struct TraceRank {
  std::string file;
  std::optional<int> rank;
  double span_s = 0, gpu_busy_s = 0;
  double collective_s = 0;  ///< GPU time in collectives, waiting for other ranks included
  double kernels = 0, launches = 0;
  std::string sentence;
  [[nodiscard]] double own_work_s() const { return gpu_busy_s - collective_s; }
};

struct TraceAnswer {
  std::string file, format, producer;
  std::optional<int> rank, world_size;
  std::optional<hardware::Device> device;  ///< empty = no roofs
  std::string traced_device;               ///< as the trace names it
  std::string model;                       ///< empty = none given
  double tp = 1;
  diagnose::TraceAnalysis analysis;
  profile::ImportStats import;
  std::vector<TraceRank> ranks;  ///< of several files; empty for one
  std::vector<std::string> notes;
  std::optional<profile::Trace> trace{};  ///< when the request asked to keep it
};

/// Whether the (unpacked) content of a file is a trace that `diagnose_traces` takes. Fails when it cannot be unpacked.
[[nodiscard]] Result<bool> is_trace(const TraceFile& file);

/// Analyses each file and answers with the one whose GPU had the most work of its own (collectives wait for it).
/// Fails in one line when a file has no GPU work, or a name is not known.
[[nodiscard]] Result<TraceAnswer> diagnose_traces(const Assets& assets, const TraceRequest& request);

}  // namespace corridor::app
