// SPDX-License-Identifier: Apache-2.0
// From judged rows to tables: regimes, groups, reasons, the worst ten, rows that contradict each other, the noise
// floor.
#pragma once

#include "corridor/app/validate.h"

namespace corridor::app {

/// Sets apart rows of one configuration whose values differ by more than 1.5 times (status not_understood), and returns
/// how far the rows of the other repeated configurations lie apart.
[[nodiscard]] NoiseFloor set_contradictions_apart(std::vector<JudgedPoint>& points);

/// Fills everything of the answer that follows from its points. Numbers depend on their order in no way.
void summarise(ValidateAnswer& answer);

}  // namespace corridor::app
