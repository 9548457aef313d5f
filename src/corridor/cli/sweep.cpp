// SPDX-License-Identifier: Apache-2.0
// corridor sweep: one case over one or two axes.
#include "corridor/app/sweep.h"

#include <unistd.h>

#include <cstdio>
#include <memory>

#include "corridor/base/file.h"
#include "corridor/cli/case_flags.h"
#include "corridor/cli/session.h"
#include "corridor/views/sweep_view.h"

namespace corridor::cli {
namespace {

constexpr std::size_t worth_telling = 20'000;  // points; fewer are done in about a second

constexpr const char* over_help =
    "axis to sweep, once or twice: batch, concurrency, context, input, output or tp with numbers (1..512: powers of "
    "two "
    "and the ends; 1..512:32: steps, 1..512*1.5: factors, both with the end; 1,8,64: a list), or weights, kv, device "
    "or "
    "engine with names (bf16,fp8). Knee: the smallest batch whose doubling gives less than 1.5 times the tokens a "
    "second";

struct SweepFlags {
  app::SweepRequest request;
  std::string csv;
};

void report_progress(std::size_t done, std::size_t all) {
  std::fprintf(stderr, "\r%zu of %zu points%s", done, all, done == all ? "\n" : "");
}

/// Writes the points to a file, or to standard output in place of the answer; true when the answer is still to be
/// shown.
Result<bool> write_csv(const std::string& path, const app::SweepAnswer& answer) {
  if (path.empty()) return true;
  const std::string text = views::sweep_csv(answer);
  if (path != "-") {
    const Result<std::size_t> written = write_text_file(path, text);
    if (!written) return fail(written.error().what, "--csv " + path, written.error().fix);
    return true;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0) return fail("cannot write the points", "standard output");
  return false;
}

Result<int> run_sweep(SweepFlags& flags, Session& session) {
  if (flags.csv == "-" && (session.json() || session.page_to_output())) {
    return fail("two answers want the standard output", "--csv -", "give --csv a file, or leave the other out");
  }
  Result<const Assets*> assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  if (isatty(STDERR_FILENO) != 0) {
    flags.request.progress = [](std::size_t done, std::size_t all) {
      if (all > worth_telling) report_progress(done, all);
    };
  }
  Result<app::SweepAnswer> answer = app::sweep(**assets, flags.request);
  if (!answer) return tl::unexpected(answer.error());
  const int code = answer->any_fits() ? exit_answered : exit_no;
  const Result<bool> show = write_csv(flags.csv, *answer);
  if (!show) return tl::unexpected(show.error());
  return *show ? session.show(views::sweep_view(*answer, session.explain()), code) : Result<int>(code);
}

}  // namespace

void add_sweep(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "sweep", "curves over batch, context, weights, device …: knee, break-even, every flip of the wall");
  auto flags = std::make_shared<SweepFlags>();
  add_case_flags(*command, flags->request.base, NeedsDevice::no);
  command->add_option("--over", flags->request.over, over_help)
      ->type_name("AXIS")
      ->required()
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("--csv", flags->csv, "also write every point to this file; - writes them in place of the answer")
      ->type_name("FILE");
  session.add_output_flags(*command);
  command->callback([flags, &session] { session.run = [flags, &session] { return run_sweep(*flags, session); }; });
}

}  // namespace corridor::cli
