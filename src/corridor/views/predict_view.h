// SPDX-License-Identifier: Apache-2.0
// PredictAnswer → Document "corridor/prediction/1": verdict first, then decode, first token, memory, and the evidence.
#pragma once

#include <vector>

#include "corridor/app/predict.h"
#include "corridor/lever/lever.h"
#include "corridor/report/document.h"

namespace corridor::views {

struct PredictViewOptions {
  bool operations = false;                                  ///< the table of operations on the terminal and in JSON
  bool explain = false;                                     ///< formulas with this case's numbers
  const std::vector<lever::LeverResult>* levers = nullptr;  ///< ranked; shown when given
};

[[nodiscard]] report::Document predict_view(const app::PredictAnswer& answer, const PredictViewOptions& options);

/// The formulas behind the answer with its numbers put in, as paragraphs.
[[nodiscard]] std::vector<report::Paragraph> explain_prediction(const app::PredictAnswer& answer);

/// Roofline of the device with every operation of the decode step and of the prompt as a point.
[[nodiscard]] report::RooflinePlot prediction_roofline(const app::PredictAnswer& answer);

}  // namespace corridor::views
