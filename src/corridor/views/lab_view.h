// SPDX-License-Identifier: Apache-2.0
// `corridor lab`: the list of experiments, and one of them with predicted against measured, as Documents.
#pragma once

#include <vector>

#include "corridor/app/lab.h"
#include "corridor/report/document.h"

namespace corridor::views {

[[nodiscard]] report::Document lab_list_document(const std::vector<measure::Experiment>& experiments);
[[nodiscard]] report::Document lab_document(const app::LabAnswer& answer);

/// The number of a reading in its own unit.
[[nodiscard]] report::Value lab_value(double value, measure::LabUnit unit);
/// The curves of an experiment, predicted and measured; no series when it has none. `key` is the JSON key.
[[nodiscard]] report::LinePlot lab_plot(const measure::LabResult& result, const std::string& key);
/// Roofs of this machine with the points of an experiment.
[[nodiscard]] report::RooflinePlot lab_roofline(const measure::LabMachine& machine, const measure::LabResult& result,
                                                const std::string& key);

}  // namespace corridor::views
