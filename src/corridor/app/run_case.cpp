// SPDX-License-Identifier: Apache-2.0
// Gathers the case from all files, analyses the traces with it, and holds the observed speed against its prediction.
#include "corridor/app/run_case.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/hardware/catalogue.h"
#include "corridor/model/readers.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

/// Of a gathered case what a trace can use: of the flags all, so that those without effect are named.
PredictRequest trace_base(const Assets& assets, const DiagnoseRequest& request, const GatheredRun& run) {
  PredictRequest base = request.base;
  if (base.model.empty() && base.params.empty() && model::find_model(assets, run.base.model)) {
    base.model = run.base.model;
    if (base.weights.empty()) base.weights = run.base.weights;
    if (base.kv.empty()) base.kv = run.base.kv;
  }
  if (!base.model.empty() && !base.tp) base.tp = run.base.tp;
  return base;
}

/// What the texts say of the device, where the trace says otherwise.
void compare_devices(const Assets& assets, const GatheredRun& run, const DiagnoseRequest& request,
                     const TraceAnswer& trace, std::vector<std::string>& remarks) {
  if (!trace.device || run.base.device.empty() || !request.base.device.empty()) return;
  const Result<hardware::ResolvedDevice> said = hardware::find_device(assets, run.base.device);
  if (!said || said->device.id == trace.device->id) return;
  remarks.push_back(
      fmt::format("contradiction: the trace was recorded on {}, the other files name {}; are they of one "
                  "run?",
                  trace.device->id, said->device.id));
}

/// The time of a decode step in the trace and the time per token of the client: they belong together.
void compare_pace(const RunAnswer& answer, const diagnose::Observation& seen, std::vector<std::string>& remarks) {
  const auto& a = answer.trace.analysis;
  if (!seen.tpot_s) return;
  std::vector<double> lengths;
  for (const diagnose::StepRow& step : a.steps) {
    if (step.decode_sequences.value_or(0) > 0 && step.prefill_tokens.value_or(0) == 0) lengths.push_back(step.span_s);
  }
  if (lengths.empty()) return;
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2), lengths.end());
  const double step_s = lengths[lengths.size() / 2];
  constexpr double same_pace = 2;
  if (step_s <= 0 || std::max(step_s / *seen.tpot_s, *seen.tpot_s / step_s) <= same_pace) return;
  remarks.push_back(
      fmt::format("contradiction: a step of the trace takes {} (the middle one of {}), a token {} by the "
                  "other files; tracing slows a run, else they are of two runs",
                  units::print(units::Seconds{step_s}), lengths.size(), units::print(units::Seconds{*seen.tpot_s})));
}

}  // namespace

Result<RunAnswer> diagnose_run(const Assets& assets, const DiagnoseRequest& request,
                               const std::vector<TraceFile>& traces) {
  Result<GatheredRun> run = gather_run(assets, request);
  if (!run) return tl::unexpected(run.error());
  if (run->understood_nothing) {
    return fail("nothing in the text beside the trace was understood", request.texts.front().name,
                "leave it out, or give a serve command, a result or log lines of the run");
  }
  Result<TraceAnswer> trace = diagnose_traces(assets, {trace_base(assets, request, *run), traces});
  if (!trace) return tl::unexpected(trace.error());
  RunAnswer answer{std::move(*trace), std::nullopt, {}, {}, {}};
  std::vector<std::string> contradictions;
  compare_devices(assets, *run, request, answer.trace, contradictions);
  compare_pace(answer, run->seen, contradictions);
  if (!run->seen.empty()) {
    DiagnoseRequest compared = request;
    if (compared.base.device.empty() && answer.trace.device) compared.base.device = answer.trace.device->id;
    Result<DiagnoseAnswer> measured = diagnose(assets, compared);
    if (measured) {
      answer.measured = std::move(*measured);
      answer.measured->remarks.insert(answer.measured->remarks.end(), contradictions.begin(), contradictions.end());
      return answer;
    }
    contradictions.push_back("the observed speed is not compared: " + measured.error().line());
  }
  answer.understood = std::move(run->understood);
  answer.ignored = std::move(run->ignored);
  answer.remarks = std::move(run->remarks);
  answer.remarks.insert(answer.remarks.end(), contradictions.begin(), contradictions.end());
  return answer;
}

}  // namespace corridor::app
