// SPDX-License-Identifier: Apache-2.0
// `corridor tour`: the whole chain of reasoning, claim by claim, on this machine.
#include "corridor/app/tour.h"

#include <memory>
#include <optional>
#include <string>

#include "corridor/cli/number_flags.h"
#include "corridor/cli/progress_line.h"
#include "corridor/cli/session.h"
#include "corridor/views/tour_view.h"

namespace corridor::cli {
namespace {

struct TourFlags {
  bool no_measure = false;
  std::optional<std::int64_t> threads, chapter;
};

Result<int> run_tour(const TourFlags& flags, bool page, Session& session) {
  constexpr std::int64_t most_threads = 1024;
  if (flags.threads && (*flags.threads < 1 || *flags.threads > most_threads)) {
    return fail(std::to_string(*flags.threads) + " is out of range", "--threads", "give 1 to 1024");
  }
  if (flags.threads && flags.no_measure) {
    return fail("has no effect with --no-measure", "--threads", "leave one of the two out");
  }
  const auto assets = session.assets();
  if (!assets) return tl::unexpected(assets.error());
  std::optional<std::size_t> chapter;
  if (flags.chapter) {
    // The chapters are known without measuring; a bad number must not cost a minute.
    const auto known = app::tour_of(**assets, nullptr, {});
    if (!known) return tl::unexpected(known.error());
    const auto last = static_cast<std::int64_t>(known->chapters.size());
    if (*flags.chapter < 1 || *flags.chapter > last) {
      return fail("there is no chapter " + std::to_string(*flags.chapter), "--chapter",
                  "give 1 to " + std::to_string(last));
    }
    chapter = static_cast<std::size_t>(*flags.chapter);
  }
  ProgressLine progress;
  const auto answer = app::tour(**assets, {!flags.no_measure, static_cast<int>(flags.threads.value_or(0))},
                                [&](const std::string& what) { progress.show(what); });
  progress.clear();
  if (!answer) return tl::unexpected(answer.error());
  return session.show(views::tour_document(*answer, chapter, page), answer->all_hold() ? exit_answered : exit_no);
}

}  // namespace

void add_tour(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("tour", "the chain of reasoning, claim by claim, measured on this machine");
  auto flags = std::make_shared<TourFlags>();
  command->add_flag("--no-measure", flags->no_measure, "only what can be computed; takes no time");
  add_whole(*command, "--chapter", flags->chapter, "one chapter alone", "give the number of a chapter");
  add_whole(*command, "--threads", flags->threads, "threads (default: all this process may use)", "give 1 to 1024");
  session.add_output_flags(*command);
  command->callback([&session, flags, command] {
    const bool page = command->count("--html") > 0;
    session.run = [&session, flags, page] { return run_tour(*flags, page, session); };
  });
}

}  // namespace corridor::cli
