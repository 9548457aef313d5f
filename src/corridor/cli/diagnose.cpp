// SPDX-License-Identifier: Apache-2.0
// corridor diagnose: a measured run against what is possible.
#include "corridor/app/diagnose.h"

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "corridor/app/counter_case.h"
#include "corridor/app/run_case.h"
#include "corridor/app/trace_case.h"
#include "corridor/app/trace_comparison.h"
#include "corridor/app/trace_output.h"
#include "corridor/base/file.h"
#include "corridor/cli/case_flags.h"
#include "corridor/cli/run_input.h"
#include "corridor/cli/session.h"
#include "corridor/units/text.h"
#include "corridor/views/counter_view.h"
#include "corridor/views/diagnose_view.h"
#include "corridor/views/run_view.h"
#include "corridor/views/trace_view.h"

namespace corridor::cli {
namespace {

struct DiagnoseFlags {
  app::PredictRequest base;
  std::vector<std::string> texts;
  std::string tpot, ttft, bare, bytes_per_s, flop_per_s, meter;
  std::string per_user, output, total, prefill, rate;
  std::string against;           ///< another trace
  std::string redact, perfetto;  ///< files to write about the trace
  std::string format, duration;
};

void add_observation_flags(CLI::App& command, DiagnoseFlags& f) {
  command.add_option("--observed-tpot", f.tpot, "time per output token, with its unit: 42ms")->type_name("TIME");
  command.add_option("--observed-ttft", f.ttft, "time to first token, with its unit: 1.3s")->type_name("TIME");
  command.add_option("--observed-tok-s-per-user", f.per_user, "tokens a second of one user")->type_name("FLOAT");
  command.add_option("--observed-output-tok-s", f.output, "generated tokens a second of all users")->type_name("FLOAT");
  command.add_option("--observed-total-tok-s", f.total, "generated and prompt tokens a second")->type_name("FLOAT");
  command.add_option("--observed-prefill-tok-s", f.prefill, "prompt tokens a second")->type_name("FLOAT");
  command.add_option("--observed-tok-s", f.bare, "(ask which one it is)")->group("");
  command.add_option("--request-rate", f.rate, "requests a second that were offered")->type_name("FLOAT");
  command.add_option("--bytes-per-s", f.bytes_per_s, "read from main memory by one device: 2.1 TB/s")
      ->type_name("RATE");
  command.add_option("--flop-per-s", f.flop_per_s, "arithmetic of one device: 90 TFLOP/s")->type_name("RATE");
  command.add_option("--meter", f.meter, "GPU utilisation as nvidia-smi prints it: 100%")->type_name("PERCENT");
}

/// A range of values that can have been measured, in the words of an error.
struct Range {
  double least, most;
  const char* words;
};
constexpr Range times{diagnose::least_seconds, diagnose::most_seconds, "1 ns to 1e9 s"};
constexpr Range rates{diagnose::least_rate, diagnose::most_rate, "0.001 to 1e12 a second"};
constexpr Range device_rates{diagnose::least_device_rate, diagnose::most_device_rate, "1 to 1e18 a second"};

double plain(double x) {
  return x;
}
template <class Quantity>
double plain(Quantity x) {
  return x.value();
}

template <class Parse>
Result<int> take(const char* flag, const std::string& given, Parse parse, const Range& range,
                 std::optional<double>& target) {
  if (given.empty()) return 0;
  const std::string where = std::string(flag) + " " + given;
  const auto value = parse(given);
  if (!value) return fail(value.error().what, where, value.error().fix);
  if (plain(*value) <= 0) return fail("must be above zero", where, std::string("give ") + range.words);
  if (!(plain(*value) >= range.least && plain(*value) <= range.most))
    return fail("is no measurement of a run", where, std::string("give ") + range.words);
  target = plain(*value);
  return 0;
}

Result<int> take_meter(std::string given, std::optional<double>& target) {
  if (given.empty()) return 0;
  const std::string where = "--meter " + given;
  if (given.back() == '%') given.pop_back();
  const Result<double> percent = units::parse_count(given);
  if (!percent || *percent > 100) return fail("is not a percentage", where, "give 0% to 100%");
  target = *percent / 100;
  return 0;
}

Result<diagnose::Observation> observation(const DiagnoseFlags& f) {
  if (!f.bare.empty()) {
    return fail("tokens a second can mean three things", "--observed-tok-s " + f.bare,
                "say which: --observed-tok-s-per-user (one user), --observed-output-tok-s (generated, all users) or "
                "--observed-total-tok-s (with prompts)");
  }
  diagnose::Observation seen;
  const Result<int> steps[] = {
      take("--observed-tpot", f.tpot, units::parse_seconds, times, seen.tpot_s),
      take("--observed-ttft", f.ttft, units::parse_seconds, times, seen.ttft_s),
      take("--bytes-per-s", f.bytes_per_s, units::parse_bytes_per_second, device_rates, seen.bytes_per_s),
      take("--flop-per-s", f.flop_per_s, units::parse_flops_per_second, device_rates, seen.flop_per_s),
      take("--observed-tok-s-per-user", f.per_user, units::parse_count, rates, seen.tok_s_per_user),
      take("--observed-output-tok-s", f.output, units::parse_count, rates, seen.output_tok_s),
      take("--observed-total-tok-s", f.total, units::parse_count, rates, seen.total_tok_s),
      take("--observed-prefill-tok-s", f.prefill, units::parse_count, rates, seen.prefill_tok_s),
      take("--request-rate", f.rate, units::parse_count, rates, seen.request_rate),
      take_meter(f.meter, seen.meter)};
  for (const Result<int>& step : steps) {
    if (!step) return tl::unexpected(step.error());
  }
  return seen;
}

/// The trace of --against, diagnosed as the first one was.
Result<app::TraceAnswer> read_reference(const std::string& file, const app::PredictRequest& base,
                                        const Assets& assets) {
  const Result<MappedFile> mapped = MappedFile::open(file);
  if (!mapped) return fail(mapped.error().what, "--against " + file, mapped.error().fix);
  const app::TraceFile trace{file, mapped->text()};
  const Result<bool> is_one = app::is_trace(trace);
  if (!is_one || !*is_one) return fail("is no trace", "--against " + file, "name a trace of the PyTorch profiler");
  return app::diagnose_traces(assets, {base, {trace}, false});
}

/// Writes the copy that --redact asks for; what to tell of it, empty when none was asked for.
Result<std::string> redact_trace(const DiagnoseFlags& f, const std::vector<app::TraceFile>& traces) {
  if (f.redact.empty()) return std::string();
  if (traces.size() != 1) {
    return fail(fmt::format("{} files are given, one is copied at a time", traces.size()), "--redact " + f.redact,
                "name one trace");
  }
  return app::write_redacted(traces.front(), f.redact);
}

/// The copy stands even when the trace cannot be diagnosed, and the error says so.
tl::unexpected<Error> after_copy(const Error& error, const std::string& out) {
  return fail(error.what, error.where,
              error.fix + (error.fix.empty() ? "" : "; ") + "the copy " + out + " was written");
}

std::vector<std::string> words_of(DiagnoseFlags& f) {
  std::vector<std::string> words = f.texts;
  if (!f.base.model.empty()) words.insert(words.begin(), f.base.model);
  return words;
}

Result<int> run_traces(const DiagnoseFlags& f, const app::DiagnoseRequest& request, const RunInput& input,
                       Session& session) {
  const std::vector<app::TraceFile>& traces = input.files.traces;
  const std::string& first = traces.front().name;
  if (!request.seen.empty() || request.seen.meter) {
    return fail("a trace tells what ran, an observed speed has no effect on it", first,
                "leave out the observed values, or the trace");
  }
  const Result<std::string> copied = redact_trace(f, traces);
  if (!copied) return tl::unexpected(copied.error());
  const Result<const Assets*> assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  if (request.has_files()) {
    for (const auto& [flag, file] : {std::pair("--against ", f.against), std::pair("--perfetto ", f.perfetto)}) {
      if (!file.empty()) return fail("works on traces alone", flag + file, "leave out the other files of the run");
    }
    const Result<app::RunAnswer> answer = app::diagnose_run(**assets, request, traces);
    if (!answer) return tl::unexpected(answer.error());
    return session.show(views::run_view(*answer, session.explain()));
  }
  Result<app::TraceAnswer> answer = app::diagnose_traces(**assets, {request.base, traces, !f.perfetto.empty()});
  if (!answer) return copied->empty() ? tl::unexpected(answer.error()) : after_copy(answer.error(), f.redact);
  if (!copied->empty()) answer->notes.push_back(*copied);
  if (!f.perfetto.empty()) {
    const Result<std::string> annotated = app::write_annotated(*answer, f.perfetto);
    if (!annotated) return tl::unexpected(annotated.error());
    answer->notes.push_back(*annotated);
  }
  std::optional<app::TraceComparison> comparison;
  if (!f.against.empty()) {
    const Result<app::TraceAnswer> reference = read_reference(f.against, request.base, **assets);
    if (!reference) return tl::unexpected(reference.error());
    comparison = app::compare_traces(*answer, *reference);
  }
  return session.show(views::trace_view(*answer, session.explain(), comparison ? &*comparison : nullptr));
}

Result<int> run_counters(const DiagnoseFlags& f, const app::DiagnoseRequest& request, const RunInput& input,
                         Session& session) {
  const app::RunFiles& files = input.files;
  const std::string& first = files.counters.front().name;
  if (request.has_files() || !files.traces.empty() || !f.against.empty()) {
    return fail("counters of kernels are an answer of their own", first, "diagnose the other files in a second call");
  }
  if (!request.seen.empty() || request.seen.meter) {
    return fail("counters tell what ran, an observed speed has no effect on them", first,
                "leave out the observed values, or the file");
  }
  const Result<const Assets*> assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const Result<app::CounterAnswer> answer = app::diagnose_counters(**assets, {request.base, files.counters});
  if (!answer) return tl::unexpected(answer.error());
  return session.show(views::counter_view(*answer, session.explain()));
}

Result<int> run_diagnose(DiagnoseFlags& f, Session& session) {
  Result<diagnose::Observation> seen = observation(f);
  if (!seen) return tl::unexpected(seen.error());
  const Result<RunInput> input = read_run_input(words_of(f), f.format, f.duration);
  if (!input) return tl::unexpected(input.error());
  const app::RunFiles& files = input->files;
  app::DiagnoseRequest request{f.base, *seen, files.texts, files.results, files.metrics, input->metrics_seconds};
  request.base.model = input->model;
  if (!files.counters.empty()) return run_counters(f, request, *input, session);
  if (!files.traces.empty()) return run_traces(f, request, *input, session);
  if (!f.against.empty()) {
    return fail("no trace is given to compare with it", "--against " + f.against, "name a trace first");
  }
  for (const auto& [flag, file] : {std::pair("--redact ", f.redact), std::pair("--perfetto ", f.perfetto)}) {
    if (!file.empty()) return fail("no trace is given that it could be made of", flag + file, "name a trace first");
  }
  const Result<const Assets*> assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const Result<app::DiagnoseAnswer> answer = app::diagnose(**assets, request);
  if (!answer) return tl::unexpected(answer.error());
  const bool refused = answer->diagnosis && answer->diagnosis->status == diagnose::Status::does_not_fit;
  return session.show(views::diagnose_view(*answer, session.explain()), refused ? exit_no : exit_answered);
}

}  // namespace

void add_diagnose(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("diagnose", "a measured run against what is possible: which wall, how far, what next");
  auto flags = std::make_shared<DiagnoseFlags>();
  add_case_flags(*command, flags->base, NeedsDevice::no);
  command
      ->add_option("text", flags->texts,
                   "files of one run, packed or not: recorded runs (PyTorch profiler, Nsight Systems or Compute, "
                   "rocprof), saved benchmark results, metrics pages, pasted commands, results, logs; - reads standard "
                   "input; http://HOST:PORT/metrics asks a server")
      ->type_name("FILE");
  command
      ->add_option("--format", flags->format,
                   "take the files as this, whatever they look like: " + profile::file_kind_words())
      ->type_name("KIND");
  command
      ->add_option(
          "--for", flags->duration,
          "with a server's address: ask twice, so far apart, and take the difference; with two pages: the time "
          "between them")
      ->type_name("TIME");
  command->add_option("--against", flags->against, "another trace: what changed between the two")->type_name("FILE");
  command
      ->add_option("--redact", flags->redact,
                   "also write a copy of the trace without names, paths, addresses and source code")
      ->type_name("OUT");
  command
      ->add_option("--perfetto", flags->perfetto,
                   "also write the time-line with what bounds each kernel, for ui.perfetto.dev")
      ->type_name("OUT");
  add_observation_flags(*command, *flags);
  session.add_output_flags(*command);
  command->callback([flags, &session] { session.run = [flags, &session] { return run_diagnose(*flags, session); }; });
}

}  // namespace corridor::cli
