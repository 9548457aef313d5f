// SPDX-License-Identifier: Apache-2.0
// Claims of the tour about lanes and sectors, measured on the simulated GPU.
#include <fmt/format.h>

#include "corridor/app/ptx_lab.h"
#include "corridor/app/tour_claims.h"

namespace corridor::app {

void take_simulated(const TourBuilder& tour, TourClaim& claim, const std::string& experiment,
                    const std::string& reading, const std::string& unit) {
  claim.how = fmt::format("simulated GPU: corridor lab {} --on sim", experiment);
  const Result<PtxLabAnswer> answer = run_ptx_lab(tour.assets, experiment, tour.h100.id);
  const measure::LabReading* found = answer ? answer->result.find(reading) : nullptr;
  if (found == nullptr) {
    claim.verdict = TourVerdict::not_measured;
    return;
  }
  const auto figure_of = [&](double value) { return unit.empty() ? ratio_figure(value) : count_figure(value, unit); };
  if (found->predicted) claim.predicted = figure_of(*found->predicted);
  claim.measured = figure_of(found->measured);
  claim.verdict = found->holds() ? TourVerdict::holds : TourVerdict::does_not_hold;
}

}  // namespace corridor::app
