// SPDX-License-Identifier: Apache-2.0
// `corridor measure`: this machine's memory ladder, arithmetic peaks, launch cost and ridge, and a device file of them.
#include "corridor/app/measure.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "corridor/cli/progress_line.h"
#include "corridor/cli/session.h"
#include "corridor/units/text.h"
#include "corridor/views/measure_view.h"

namespace corridor::cli {
namespace {

struct MeasureFlags {
  app::MeasureRequest request;
  std::string memory;
  bool quick = false, thorough = false;
};

Result<int> run_measure(MeasureFlags& flags, Session& session) {
  if (flags.quick && flags.thorough) {
    return fail("both were given", "--quick --thorough", "leave one of them out");
  }
  measure::MeasureSettings& settings = flags.request.settings;
  if (flags.quick) settings.effort = measure::Effort::quick;
  if (flags.thorough) settings.effort = measure::Effort::thorough;
  if (!flags.memory.empty()) {
    const auto memory = units::parse_bytes(flags.memory);
    if (!memory) return fail(memory.error().what, "--memory " + flags.memory, memory.error().fix);
    if (memory->value() < 1e6) return fail("is less than 1 MB", "--memory " + flags.memory, "give at least 1 MB");
    settings.memory = *memory;
  }
  ProgressLine line;
  const auto answer = app::measure(flags.request, [&](std::string_view what, double done) {
    line.show(fmt::format("{:3.0f} %  {}", 100 * done, what));
  });
  line.clear();
  if (!answer) return tl::unexpected(answer.error());
  return session.show(views::measure_view(*answer, session.explain()), answer->refusal ? exit_no : exit_answered);
}

}  // namespace

void add_measure(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("measure", "this machine's memory ladder, peaks, launch cost and ridge");
  auto flags = std::make_shared<MeasureFlags>();
  command->add_option("--on", flags->request.on, "cpu, cuda:N (as nvidia-smi counts) or all (default: cpu)");
  command->add_flag("--quick", flags->quick, "under 20 seconds, with wider spread");
  command->add_flag("--thorough", flags->thorough, "some ten minutes; for a quiet machine");
  command->add_option("-o,--output", flags->request.output, "write a device file that --device takes")
      ->type_name("FILE.toml");
  command->add_option("--memory", flags->memory, "largest working set, e.g. 512MB (default: 4 × the last cache)");
  session.add_output_flags(*command);
  command->callback([&session, flags] { session.run = [&session, flags] { return run_measure(*flags, session); }; });
}

}  // namespace corridor::cli
