// SPDX-License-Identifier: Apache-2.0
// Which observed number is compared with which predicted time.
#pragma once

#include "corridor/diagnose/diagnosis.h"

namespace corridor::diagnose {

/// The most telling observed speed as a time beside its prediction; empty when no speed was observed.
[[nodiscard]] std::optional<Comparison> compare(const roofline::PredictInput& input,
                                                const roofline::Prediction& prediction, const Observation& seen);

/// Hypotheses for the time beyond the budget, ranked by how well each explains it.
[[nodiscard]] std::vector<Hypothesis> explain_gap(const DiagnoseInput& input, const Comparison& comparison);

/// The same comparison for a changed case; used to size a hypothesis. Empty when the change cannot be predicted.
[[nodiscard]] std::optional<Comparison> compare_changed(const DiagnoseInput& input,
                                                        const roofline::PredictInput& changed);

}  // namespace corridor::diagnose
