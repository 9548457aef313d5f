// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor levers`: a predicted case → the changes that could make it faster, ranked.
#pragma once

#include <optional>
#include <vector>

#include "corridor/app/case_loader.h"
#include "corridor/app/predict.h"
#include "corridor/lever/lever.h"

namespace corridor::app {

/// What a user knows of the load beyond the case itself.
struct LeverHints {
  std::vector<double> output_lengths;  ///< tokens of real answers
  std::optional<double> acceptance;    ///< of one drafted token, 0..1
};

struct LeversAnswer {
  PredictAnswer base;
  std::vector<lever::LeverResult> levers;
};

/// Every lever at a predicted case, ranked as lever::rank_levers says. Looks at the catalogue's other devices of the
/// same maker. Device files that cannot be read are left out.
[[nodiscard]] std::vector<lever::LeverResult> rank_levers(CaseLoader& loader, const PredictAnswer& base,
                                                          const LeverHints& hints = {});

/// Predicts the case and ranks its levers. `--spec-acceptance` without `--spec-tokens` is a hint here. Errors as
/// app::predict, and output lengths or an acceptance out of range.
[[nodiscard]] Result<LeversAnswer> levers(const Assets& assets, PredictRequest request, LeverHints hints);

}  // namespace corridor::app
