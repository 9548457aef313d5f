// SPDX-License-Identifier: Apache-2.0
// What reading a file of a run dropped or repaired, as a table.
#pragma once

#include <vector>

#include "corridor/profile/import_stats.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Without events the table has no title and only JSON shows it, as an empty list.
[[nodiscard]] report::Table import_table(const char* key, const char* title,
                                         const std::vector<profile::ImportEvent>& events);

}  // namespace corridor::views
