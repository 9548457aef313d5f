// SPDX-License-Identifier: Apache-2.0
// From pasted text to a case and an observation: only what the text states; flags the user gave win.
#pragma once

#include <string>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/diagnose/observation.h"
#include "corridor/profile/paste/pasted_run.h"

namespace corridor::app {

/// Fills what is empty in `request` and `seen` from the text; returns remarks on how numbers were taken.
[[nodiscard]] std::vector<std::string> take_paste(const profile::PastedRun& paste, PredictRequest& request,
                                                  diagnose::Observation& seen);

}  // namespace corridor::app
