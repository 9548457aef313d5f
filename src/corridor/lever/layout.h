// SPDX-License-Identifier: Apache-2.0
// What the levers on the layout over devices share.
#pragma once

#include <optional>
#include <string>

#include "corridor/lever/lever.h"

namespace corridor::lever {

/// The layout with other tensor parallel ranks and replicas, experts spread as before (over tp, or over tp × dp);
/// empty when the model cannot be laid out so.
[[nodiscard]] std::optional<graph::Parallelism> with_ranks(const Situation& situation, std::int64_t tp,
                                                           std::int64_t dp);

/// "--tp 2" or "--tp 2 --dp 4", with --ep when it changed.
[[nodiscard]] std::string layout_flags(const Situation& situation, const graph::Parallelism& layout);

[[nodiscard]] double communication_share(const roofline::DecodePrediction& decode);

}  // namespace corridor::lever
