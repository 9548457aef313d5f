// SPDX-License-Identifier: Apache-2.0
// `corridor lab`: one law, predicted from this machine's ladder and measured on it; without a name, the list.
#include "corridor/app/lab.h"

#include <memory>
#include <optional>
#include <string>

#include "corridor/cli/number_flags.h"
#include "corridor/cli/progress_line.h"
#include "corridor/cli/ptx_lab.h"
#include "corridor/cli/session.h"
#include "corridor/units/text.h"
#include "corridor/views/lab_view.h"

namespace corridor::cli {
namespace {

struct LabFlags {
  std::string name, model, memory, on;
  std::optional<std::int64_t> threads;
  bool quick = false;
};

Result<int> run_lab_command(const LabFlags& flags, Session& session) {
  if (is_simulated(flags.on)) return run_simulated_lab(flags.name, flags.on, session);
  if (flags.name.empty()) {
    if (!flags.model.empty() || flags.threads || !flags.on.empty()) {
      return fail("an experiment has to be named", "corridor lab", "corridor lab lists them");
    }
    return session.show(views::lab_list_document(measure::experiments()));
  }
  constexpr std::int64_t most_threads = 1024;
  if (flags.threads && (*flags.threads < 1 || *flags.threads > most_threads)) {
    return fail(std::to_string(*flags.threads) + " is out of range", "--threads", "give 1 to 1024");
  }
  app::LabRequest request{
      flags.name, static_cast<int>(flags.threads.value_or(0)), flags.model, flags.quick ? 0.2 : 1.0, {}, flags.on};
  if (!flags.memory.empty()) {
    const auto memory = units::parse_bytes(flags.memory);
    if (!memory) return fail(memory.error().what, "--memory " + flags.memory, memory.error().fix);
    request.memory = *memory;
  }
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  ProgressLine progress;
  const auto answer = app::run_lab(**assets, request, [&](const std::string& what) { progress.show(what); });
  progress.clear();
  if (!answer) return tl::unexpected(answer.error());
  const bool yes = answer->needs.empty() && answer->result.holds();
  return session.show(views::lab_document(*answer), yes ? exit_answered : exit_no);
}

}  // namespace

void add_lab(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("lab", "one law of the machine, predicted and measured here, with a verdict");
  auto flags = std::make_shared<LabFlags>();
  command->add_option("NAME", flags->name, "the experiment; left out: the list");
  command->add_option("--on", flags->on,
                      "cpu, cuda:N as nvidia-smi counts, or sim[:DEVICE], the simulated GPU (default: cpu; cuda:0 for "
                      "what needs a GPU; sim: h100-sxm)");
  add_whole(*command, "--threads", flags->threads, "threads (default: all this process may use)", "give 1 to 1024");
  command->add_option("--model", flags->model, "decode: the model whose shapes are run (default: Qwen/Qwen2.5-0.5B)");
  command->add_option("--memory", flags->memory,
                      "largest array of an experiment, as 256MB (default: beyond the caches)");
  command->add_flag("--quick", flags->quick, "a fifth of the time, a wider spread");
  session.add_output_flags(*command);
  command->callback(
      [&session, flags] { session.run = [&session, flags] { return run_lab_command(*flags, session); }; });
}

}  // namespace corridor::cli
