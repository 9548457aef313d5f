// SPDX-License-Identifier: Apache-2.0
// corridor diagnose: a measured run against what is possible.
#include "corridor/app/diagnose.h"

#include <deque>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include "corridor/app/trace_case.h"
#include "corridor/app/trace_comparison.h"
#include "corridor/base/file.h"
#include "corridor/cli/case_flags.h"
#include "corridor/cli/session.h"
#include "corridor/units/text.h"
#include "corridor/views/diagnose_view.h"
#include "corridor/views/trace_view.h"

namespace corridor::cli {
namespace {

// Pasted text beyond this is cut by the reader anyway; reading more only costs memory.
constexpr std::size_t most_text_bytes = 1U << 30U;

struct DiagnoseFlags {
  app::PredictRequest base;
  std::vector<std::string> texts;
  std::string tpot, ttft, bare, bytes_per_s, flop_per_s, meter;
  std::string per_user, output, total, prefill, rate;
  std::string against;  ///< another trace
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

/// A positional word is text when it is "-" or a file that no model reader takes; else it names the model.
bool is_text_file(const std::string& word) {
  if (word == "-") return true;
  if (!is_file(word)) return false;
  for (const char* ending : {".json", ".safetensors", ".gguf"}) {
    if (word.ends_with(ending)) return false;
  }
  return true;
}

/// What the positional words turned out to be. A deque: the bytes of a trace stay where they are.
struct GivenFiles {
  std::deque<MappedFile> mapped;
  std::string text;  ///< pasted, or a trace from standard input
  bool text_given = false;
  std::vector<app::TraceFile> traces;
};

/// Takes `word` when its content is a trace, whatever its name.
Result<bool> take_trace(const std::string& word, GivenFiles& given) {
  if (!is_file(word)) return false;
  Result<MappedFile> file = MappedFile::open(word);
  if (!file) return false;  // the reader of what it else would be says why
  const app::TraceFile trace{word, file->text()};
  const Result<bool> is_one = app::is_trace(trace);
  if (!is_one || !*is_one) return is_one;
  given.mapped.push_back(std::move(*file));
  given.traces.push_back({word, given.mapped.back().text()});
  return true;
}

Result<int> take_text(const std::string& word, GivenFiles& given) {
  if (!given.text.empty() && given.text.back() != '\n') given.text += '\n';
  given.text_given = true;
  if (word == "-") {
    given.text.append(std::istreambuf_iterator<char>(std::cin), {});
    return 0;
  }
  Result<std::string> text = read_text_file(word, most_text_bytes);
  if (!text) return tl::unexpected(text.error());
  given.text += *text;
  return 0;
}

Result<int> sort_words(DiagnoseFlags& f, GivenFiles& given) {
  std::vector<std::string> words = f.texts;
  if (!f.base.model.empty()) words.insert(words.begin(), f.base.model);
  f.base.model.clear();
  for (const std::string& word : words) {
    const Result<bool> traced = take_trace(word, given);
    if (!traced) return tl::unexpected(traced.error());
    if (*traced) continue;
    if (is_text_file(word)) {
      if (Result<int> ok = take_text(word, given); !ok) return ok;
    } else if (f.base.model.empty()) {
      f.base.model = word;
    } else {
      return fail("no such file, and the model is " + f.base.model + " already", word,
                  "give one model and any number of text files or traces");
    }
  }
  const app::TraceFile piped{"standard input", given.text};
  if (!given.text_given) return 0;
  const Result<bool> is_one = app::is_trace(piped);
  if (!is_one) return tl::unexpected(is_one.error());
  if (*is_one) {
    given.traces.push_back(piped);
    given.text_given = false;
  }
  return 0;
}

/// The trace of --against, diagnosed as the first one was.
Result<app::TraceAnswer> read_reference(const std::string& file, const app::PredictRequest& base,
                                        const Assets& assets) {
  const Result<MappedFile> mapped = MappedFile::open(file);
  if (!mapped) return fail(mapped.error().what, "--against " + file, mapped.error().fix);
  const app::TraceFile trace{file, mapped->text()};
  const Result<bool> is_one = app::is_trace(trace);
  if (!is_one || !*is_one) return fail("is no trace", "--against " + file, "name a trace of the PyTorch profiler");
  return app::diagnose_traces(assets, {base, {trace}});
}

Result<int> run_traces(const DiagnoseFlags& f, const diagnose::Observation& seen, const GivenFiles& given,
                       Session& session) {
  const std::string& first = given.traces.front().name;
  if (given.text_given) {
    return fail("a trace and pasted text are two answers", first, "diagnose them one after the other");
  }
  if (!seen.empty() || seen.meter) {
    return fail("a trace tells what ran, an observed speed has no effect on it", first,
                "leave out the observed values, or the trace");
  }
  const Result<const Assets*> assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const Result<app::TraceAnswer> answer = app::diagnose_traces(**assets, {f.base, given.traces});
  if (!answer) return tl::unexpected(answer.error());
  std::optional<app::TraceComparison> comparison;
  if (!f.against.empty()) {
    const Result<app::TraceAnswer> reference = read_reference(f.against, f.base, **assets);
    if (!reference) return tl::unexpected(reference.error());
    comparison = app::compare_traces(*answer, *reference);
  }
  return session.show(views::trace_view(*answer, session.explain(), comparison ? &*comparison : nullptr));
}

Result<int> run_diagnose(DiagnoseFlags& f, Session& session) {
  const Result<diagnose::Observation> seen = observation(f);
  if (!seen) return tl::unexpected(seen.error());
  GivenFiles given;
  if (Result<int> ok = sort_words(f, given); !ok) return ok;
  if (!given.traces.empty()) return run_traces(f, *seen, given, session);
  if (!f.against.empty()) {
    return fail("no trace is given to compare with it", "--against " + f.against, "name a trace first");
  }
  const Result<const Assets*> assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  const Result<app::DiagnoseAnswer> answer =
      app::diagnose(**assets, {f.base, *seen, std::move(given.text), given.text_given});
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
                   "traces of the PyTorch profiler (.json, .gz, .zst), or pasted commands, results, logs; - reads "
                   "standard input")
      ->type_name("FILE");
  command->add_option("--against", flags->against, "another trace: what changed between the two")->type_name("FILE");
  add_observation_flags(*command, *flags);
  session.add_output_flags(*command);
  command->callback([flags, &session] { session.run = [flags, &session] { return run_diagnose(*flags, session); }; });
}

}  // namespace corridor::cli
