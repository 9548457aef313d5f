// SPDX-License-Identifier: Apache-2.0
// From pasted text to a case and an observation: only what the text states; flags the user gave win.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/diagnose/observation.h"
#include "corridor/profile/paste/pasted_run.h"

namespace corridor::app {

struct TakenPaste {
  std::vector<std::string> remarks;     ///< how numbers were taken
  std::vector<std::string> ignored;     ///< words of the text that no answer can use
  std::optional<double> max_sequences;  ///< that the server runs at once, all replicas
  bool asks_for_concurrency = false;    ///< a throughput, and nothing tells how many requests ran at once
};

/// Fills what is empty in `request` and `seen` from the text. Fails when the text names a model by a path of another
/// machine and nothing else tells which model it is.
[[nodiscard]] Result<TakenPaste> take_paste(const Assets& assets, const profile::PastedRun& paste,
                                            PredictRequest& request, diagnose::Observation& seen);

}  // namespace corridor::app
