// SPDX-License-Identifier: Apache-2.0
// Reads each file by its content, names the device, and hands the counters to their analysis.
#include "corridor/app/counter_case.h"

#include <algorithm>

#include "corridor/app/run_files.h"
#include "corridor/base/nearest.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/measure/local_device.h"
#include "corridor/profile/ncu/read_ncu.h"
#include "corridor/profile/nsys/read_nsys.h"
#include "corridor/profile/rocprof/read_rocprof.h"

namespace corridor::app {
namespace {

Result<profile::Trace> read_counter_file(const TraceFile& file) {
  const Result<profile::FileKind> kind = kind_of_file(file);
  if (!kind) return tl::unexpected(kind.error());
  const std::unique_ptr<profile::ByteSource> source = profile::open_bytes(file.bytes, file.name);
  if (*kind == profile::FileKind::rocprof_compute_csv) return profile::read_rocprof_compute(*source, file.name);
  if (*kind == profile::FileKind::nsys_stats_csv) return profile::read_nsys_stats(*source, file.name);
  return profile::read_ncu(*source, file.name);
}

/// "compute capability 7.5"; empty when the file does not tell it.
std::string capability(const profile::Trace& trace) {
  if (trace.devices.empty() || !trace.devices.front().compute_major) return {};
  const profile::TraceDevice& device = trace.devices.front();
  return "compute capability " + std::to_string(*device.compute_major) + "." +
         std::to_string(device.compute_minor.value_or(0));
}

std::string told_device(const profile::Trace& trace) {
  return trace.devices.empty() || trace.devices.front().name.empty() ? capability(trace) : trace.devices.front().name;
}

/// The device of the flag, else the one that the profile names.
Result<int> choose_profiled_device(const Assets& assets, const PredictRequest& base, const profile::Trace& trace,
                                   CounterAnswer& answer) {
  if (!trace.devices.empty()) answer.profiled_device = trace.devices.front().name;
  if (!base.device.empty()) {
    Result<hardware::ResolvedDevice> found = measure::names_this_machine(base.device)
                                                 ? measure::local_device(assets)
                                                 : hardware::find_device(assets, base.device);
    if (!found) return tl::unexpected(found.error());
    if (!found->note.empty()) answer.notes.push_back(found->note);
    answer.device = std::move(found->device);
    return 0;
  }
  if (answer.profiled_device.empty()) return 0;
  Result<hardware::ResolvedDevice> found = hardware::find_device(assets, answer.profiled_device);
  if (!found) {
    answer.notes.push_back("the file names the device " + shown_word(answer.profiled_device, 60) +
                           ", which is not in the catalogue under this name");
    return 0;
  }
  if (!found->note.empty()) answer.notes.push_back(found->note);
  answer.device = std::move(found->device);
  return 0;
}

void note_capability(const profile::Trace& trace, CounterAnswer& answer) {
  const std::string told = capability(trace);
  if (!answer.device && !told.empty()) answer.notes.push_back("the file tells the " + told + " and no board");
}

void note_flags_without_effect(const PredictRequest& base, std::vector<std::string>& notes) {
  const bool scenario = base.devices || base.tp || base.pp || base.ep || base.dp || base.batch || base.concurrency ||
                        base.context || base.input || base.output || !base.weights.empty() || !base.kv.empty() ||
                        !base.math.empty() || !base.engine.empty() || !base.routing.empty();
  if (scenario) notes.emplace_back("without effect on counters of kernels: everything but --device");
  if (!base.model.empty() || !base.params.empty()) {
    notes.emplace_back("without effect on counters of kernels: the model");
  }
}

}  // namespace

Result<bool> is_counters(const TraceFile& file) {
  const Result<profile::FileKind> kind = kind_of_file(file);
  if (!kind) return tl::unexpected(kind.error());
  return *kind == profile::FileKind::ncu_csv || *kind == profile::FileKind::nsys_stats_csv ||
         *kind == profile::FileKind::rocprof_compute_csv;
}

Result<CounterAnswer> diagnose_counters(const Assets& assets, const CounterRequest& request) {
  CounterAnswer answer;
  profile::Trace trace;
  for (const TraceFile& file : request.files) {
    Result<profile::Trace> part = read_counter_file(file);
    if (!part) return tl::unexpected(part.error());
    if (trace.format.empty()) trace.format = part->format;
    const std::string before = told_device(trace), now = told_device(*part);
    if (!before.empty() && !now.empty() && before != now) {
      answer.notes.push_back("contradiction: the files before " + file.name + " are of " + shown_word(before, 60) +
                             ", it is of " + shown_word(now, 60) + "; roofs are those of the first");
    }
    profile::join_counters(trace, std::move(*part));
    answer.files.push_back(file.name);
  }
  if (trace.counters.empty()) {
    const std::string where = answer.files.empty() ? "corridor diagnose" : answer.files.front();
    return fail("tells about the machine and holds no kernels", where,
                "give pmc_perf.csv of the same workload with it");
  }
  if (Result<int> ok = choose_profiled_device(assets, request.base, trace, answer); !ok) {
    return tl::unexpected(ok.error());
  }
  note_capability(trace, answer);
  note_flags_without_effect(request.base, answer.notes);
  answer.format = trace.format;
  Result<diagnose::CounterAnalysis> analysis =
      diagnose::analyse_counters(trace, answer.device ? &*answer.device : nullptr);
  if (!analysis) return tl::unexpected(analysis.error());
  answer.analysis = std::move(*analysis);
  answer.import = std::move(trace.stats);
  return answer;
}

}  // namespace corridor::app
