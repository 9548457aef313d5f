// SPDX-License-Identifier: Apache-2.0
// corridor levers: which change makes this case faster, by how much at most, and where it stops helping.
#include "corridor/app/levers.h"

#include <memory>

#include "corridor/cli/case_flags.h"
#include "corridor/cli/session.h"
#include "corridor/views/levers_view.h"

namespace corridor::cli {
namespace {

struct LeversFlags {
  app::PredictRequest request;
  app::LeverHints hints;
};

}  // namespace

void add_levers(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("levers", "which change makes it faster, by how much at most, and where it stops");
  auto flags = std::make_shared<LeversFlags>();
  add_case_flags(*command, flags->request, NeedsDevice::yes);
  command
      ->add_option("--output-lengths", flags->hints.output_lengths,
                   "tokens of some real answers, e.g. 40,120,800: what a static batch of them wastes")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,N,…");
  session.add_output_flags(*command);
  command->callback([flags, &session] {
    session.run = [flags, &session]() -> Result<int> {
      Result<const Assets*> assets = session.assets();
      if (!assets) return tl::unexpected(assets.error());
      Result<app::LeversAnswer> answer = app::levers(**assets, flags->request, flags->hints);
      if (!answer) return tl::unexpected(answer.error());
      const bool fits = answer->base.prediction.memory.fits;
      return session.show(views::levers_view(*answer, session.explain()), fits ? exit_answered : exit_no);
    };
  });
}

}  // namespace corridor::cli
