// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor tour`: the chain of reasoning from "fetching is dear" to "what persists", claim by claim.
//
//   fusion: One pass that does three operations moves a third of the bytes of three passes.
//     formula    3 × 2 × 545 MB ÷ 24.6 GB/s against 2 × 545 MB ÷ 24.6 GB/s
//     here       predicted 3.00, measured 2.94: holds
//     true only  … fusing changes nothing for one plain matrix product
//
// Every number comes from the functions the other commands use, or from an experiment run now.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/app/lab.h"

namespace corridor::app {

struct TourFigure {
  double value = 0;
  std::string unit;  ///< "s", "B", "FLOP/B", "ratio", "tok/s" …
  std::string text;  ///< as it is printed, unit included
};

enum class TourVerdict {
  holds,          ///< measured here, inside its bounds
  does_not_hold,  ///< measured here, or computed, and outside
  computed,       ///< follows from the numbers of the catalogue; nothing to measure here
  not_measured    ///< could be measured here, but was not
};
[[nodiscard]] std::string_view name(TourVerdict);

struct TourClaim {
  std::string id;           ///< "fusion"
  std::size_t chapter = 0;  ///< index into TourAnswer::chapters
  std::string claim;        ///< one sentence
  std::string formula;      ///< with numbers in; of the catalogue's devices
  std::string here;         ///< the formula for this machine; empty when there is none or it was not measured
  std::optional<TourFigure> predicted, measured;
  double spread = 0;  ///< of the measured figure
  std::string how;    ///< "corridor lab fusion", "computed": how the figures were got
  TourVerdict verdict = TourVerdict::computed;
  std::string only_if;  ///< what has to be true as well, where the popular wording leaves it out; may be empty
};

struct TourAnswer {
  std::vector<std::string> chapters;
  std::vector<TourClaim> claims;                ///< by chapter
  std::optional<measure::LabMachine> machine;   ///< empty when nothing was measured
  std::vector<measure::LabResult> experiments;  ///< that ran, in order
  std::vector<std::string> notes;               ///< experiments that could not run, and why
  std::optional<units::Seconds> took;
  [[nodiscard]] bool all_hold() const;
};

struct TourRequest {
  bool measure = true;
  int threads = 0;  ///< 0: all that this process may use
};

/// Fails when the catalogue lacks a device or model the tour speaks of, and when this machine cannot be measured at
/// all.
[[nodiscard]] Result<TourAnswer> tour(const Assets& assets, const TourRequest& request, const Progress& progress);

/// The claims from a machine and experiments that are given (none: nothing was measured).
[[nodiscard]] Result<TourAnswer> tour_of(const Assets& assets, const measure::LabMachine* machine,
                                         std::vector<measure::LabResult> experiments);

}  // namespace corridor::app
