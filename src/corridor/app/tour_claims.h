// SPDX-License-Identifier: Apache-2.0
// What the chapters of the tour share: the devices they speak of, this machine, and how a claim gets its figures.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corridor/app/tour.h"

namespace corridor::app {

class TourBuilder {
 public:
  TourBuilder(const Assets& all, hardware::Device first, hardware::Device second, const measure::LabMachine* here,
              const std::vector<measure::LabResult>& results)
      : assets(all), h100(std::move(first)), h200(std::move(second)), machine(here), experiments_(results) {}

  const Assets& assets;
  const hardware::Device h100, h200;
  const measure::LabMachine* machine;  ///< null when nothing was measured
  std::vector<std::string> chapters;
  std::vector<TourClaim> claims;

  void open_chapter(std::string title) { chapters.push_back(std::move(title)); }
  /// Appends a claim to the open chapter. The reference holds until the next one.
  TourClaim& add(std::string id, std::string claim, std::string formula);
  /// Null when the experiment did not run.
  [[nodiscard]] const measure::LabResult* experiment(std::string_view name) const;
  /// Figures and verdict of a claim from one reading of an experiment.
  void take(TourClaim& claim, std::string_view experiment, std::string_view reading) const;
  /// Figures of a claim from numbers got out of an experiment; it holds when `holds`.
  void take(TourClaim& claim, std::string_view experiment, TourFigure predicted, TourFigure measured, bool holds) const;

 private:
  const std::vector<measure::LabResult>& experiments_;
};

/// The chapters, in order; each appends its claims.
[[nodiscard]] Result<int> tell_of_lanes(TourBuilder& tour);
[[nodiscard]] Result<int> tell_of_waiting(TourBuilder& tour);
[[nodiscard]] Result<int> tell_of_intensity(TourBuilder& tour);
[[nodiscard]] Result<int> tell_of_tokens(TourBuilder& tour);
[[nodiscard]] Result<int> tell_of_changes(TourBuilder& tour);
[[nodiscard]] Result<int> tell_of_outcomes(TourBuilder& tour);

/// Figures and verdict of a claim from one reading of an experiment on the simulated GPU, which needs no machine.
void take_simulated(const TourBuilder& tour, TourClaim& claim, const std::string& experiment,
                    const std::string& reading, const std::string& unit);

[[nodiscard]] TourFigure ratio_figure(double value);
[[nodiscard]] TourFigure figure(units::Seconds value);
[[nodiscard]] TourFigure figure(units::FlopsPerByte value);
[[nodiscard]] TourFigure count_figure(double value, const std::string& unit);

}  // namespace corridor::app
