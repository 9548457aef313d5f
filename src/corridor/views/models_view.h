// SPDX-License-Identifier: Apache-2.0
// What `corridor models` shows: the built-in list, or one model with its layers, matrices and bytes by role.
#pragma once

#include <vector>

#include "corridor/app/models.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Schema "corridor/models/1": `models`, an array of {id, parameters, active_parameters, layers, hidden, vocab,
/// max_positions, weight_bytes, kv_bytes_per_token, state_bytes_per_sequence, kinds, architecture}.
[[nodiscard]] report::Document model_list_document(const std::vector<app::ModelSummary>& models);

/// Schema "corridor/model/1": the same numbers of one model, `layer_groups`, `matrices`, `storage` and
/// `approximations`. `explain` shows the matrices on the terminal too.
[[nodiscard]] report::Document model_document(const app::ModelDetail& detail, bool explain);

}  // namespace corridor::views
