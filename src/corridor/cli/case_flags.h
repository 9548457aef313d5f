// SPDX-License-Identifier: Apache-2.0
// The flags that describe a case (model, device, scenario), shared by every command that predicts.
#pragma once

#include <CLI/CLI.hpp>

#include "corridor/app/predict.h"

namespace corridor::cli {

enum class NeedsDevice { no, yes };

/// MODEL, --params, --device and the scenario; values go into `request`, which must outlive the parse.
void add_case_flags(CLI::App& command, app::PredictRequest& request, NeedsDevice needs_device);

}  // namespace corridor::cli
