// SPDX-License-Identifier: Apache-2.0
// One costed operation as a Document, schema "corridor/op/1".
#pragma once

#include "corridor/app/op.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// JSON keys: flops, bytes, intensity_flop_per_byte, wall, trips, uses_per_value, uses, memory_time_s, compute_time_s,
/// limit_s, device{id, name, …}, notes. `explain` adds the formulas; `defaults` are printed as assumptions.
[[nodiscard]] report::Document op_document(const app::OpResult& result, bool explain,
                                           const std::vector<std::string>& defaults);

}  // namespace corridor::views
