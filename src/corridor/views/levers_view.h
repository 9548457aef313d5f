// SPDX-License-Identifier: Apache-2.0
// LeversAnswer → Document "corridor/levers/1", and the table of levers that other documents show.
#pragma once

#include <cstddef>
#include <vector>

#include "corridor/app/levers.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// `explain` adds how each gain was found, with its numbers.
[[nodiscard]] report::Document levers_view(const app::LeversAnswer& answer, bool explain);

/// The levers as a table at the key `levers`: all of them in JSON, the first `terminal_rows` on a terminal (0 = all).
[[nodiscard]] report::Table levers_table(const std::vector<lever::LeverResult>& levers, std::size_t terminal_rows);

}  // namespace corridor::views
