// SPDX-License-Identifier: Apache-2.0
// corridor predict: what is possible for this model on this device.
#include "corridor/app/predict.h"

#include <memory>

#include "corridor/app/levers.h"
#include "corridor/cli/case_flags.h"
#include "corridor/cli/session.h"
#include "corridor/views/predict_view.h"

namespace corridor::cli {
namespace {

struct PredictFlags {
  app::PredictRequest request;
  bool operations = false;
};

}  // namespace

void add_predict(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("predict", "what speed is possible for a model on a device, and what a good engine reaches");
  auto flags = std::make_shared<PredictFlags>();
  add_case_flags(*command, flags->request, NeedsDevice::yes);
  command->add_flag("--ops", flags->operations, "list every operation");
  session.add_output_flags(*command);
  command->callback([flags, &session] {
    session.run = [flags, &session]() -> Result<int> {
      Result<const Assets*> assets = session.assets();
      if (!assets) return tl::unexpected(assets.error());
      app::CaseLoader loader(**assets);
      Result<app::PredictAnswer> answer = app::predict(loader, flags->request);
      if (!answer) return tl::unexpected(answer.error());
      const std::vector<lever::LeverResult> levers = app::rank_levers(loader, *answer);
      const report::Document document = views::predict_view(*answer, {flags->operations, session.explain(), &levers});
      return session.show(document, answer->prediction.memory.fits ? exit_answered : exit_no);
    };
  });
}

}  // namespace corridor::cli
