// SPDX-License-Identifier: Apache-2.0
// corridor diagnose: a measured run against what is possible.
#include "corridor/app/diagnose.h"

#include <iostream>
#include <iterator>
#include <memory>

#include "corridor/base/file.h"
#include "corridor/cli/case_flags.h"
#include "corridor/cli/session.h"
#include "corridor/units/text.h"
#include "corridor/views/diagnose_view.h"

namespace corridor::cli {
namespace {

// Pasted text beyond this is cut by the reader anyway; reading more only costs memory.
constexpr std::size_t most_text_bytes = 1U << 30U;

struct DiagnoseFlags {
  app::PredictRequest base;
  std::vector<std::string> texts;
  std::string tpot, ttft, bare, bytes_per_s, flop_per_s, meter;
  std::string per_user, output, total, prefill, rate;
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

Result<std::string> read_text(const std::string& name) {
  if (name != "-") return read_text_file(name, most_text_bytes);
  std::string text(std::istreambuf_iterator<char>(std::cin), {});
  return text;
}

Result<int> run_diagnose(DiagnoseFlags& f, Session& session) {
  Result<diagnose::Observation> seen = observation(f);
  if (!seen) return tl::unexpected(seen.error());
  app::DiagnoseRequest request;
  request.seen = *seen;
  std::vector<std::string> words = f.texts;
  if (!f.base.model.empty()) words.insert(words.begin(), f.base.model);
  f.base.model.clear();
  for (const std::string& word : words) {
    if (is_text_file(word)) {
      Result<std::string> text = read_text(word);
      if (!text) return tl::unexpected(text.error());
      if (!request.text.empty() && request.text.back() != '\n') request.text += '\n';
      request.text += *text;
      request.text_given = true;
    } else if (f.base.model.empty()) {
      f.base.model = word;
    } else {
      return fail("no such file, and the model is " + f.base.model + " already", word,
                  "give one model and any number of text files");
    }
  }
  request.base = f.base;
  Result<const Assets*> assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  Result<app::DiagnoseAnswer> answer = app::diagnose(**assets, request);
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
  command->add_option("text", flags->texts, "files with a pasted command, results or log; - reads standard input")
      ->type_name("FILE");
  add_observation_flags(*command, *flags);
  session.add_output_flags(*command);
  command->callback([flags, &session] { session.run = [flags, &session] { return run_diagnose(*flags, session); }; });
}

}  // namespace corridor::cli
