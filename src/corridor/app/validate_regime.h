// SPDX-License-Identifier: Apache-2.0
// The names under which rows are counted together, and the likely reason of a large error.
#pragma once

#include <string>
#include <vector>

#include "corridor/app/validate.h"

namespace corridor::app {

/// Regimes in the order in which they are printed.
[[nodiscard]] const std::vector<std::string>& regime_names();

/// The regime of a row that was predicted. `routed`: the model has experts; `shapes_known`: it is more than a number.
[[nodiscard]] std::string regime_of(const JudgedPoint& judged, bool routed, bool shapes_known);

/// Why a prediction of this row may be far off, by rule: what the row's own notes say first.
[[nodiscard]] std::string likely_reason(const JudgedPoint& judged);

/// Why a row is faster than the limit: by how much, and what may explain it.
[[nodiscard]] std::string beyond_reason(const JudgedPoint& judged, double times_as_fast);

/// "1", "2-8", "9-64", "65-".
[[nodiscard]] std::string sequences_range(double sequences);

/// Everything that makes two rows the same configuration, as text.
[[nodiscard]] std::string configuration_key(const JudgedPoint& judged);

}  // namespace corridor::app
