// SPDX-License-Identifier: Apache-2.0
// `corridor tour`: the chapters as one Document, and with plots for the page.
#pragma once

#include <cstddef>
#include <optional>

#include "corridor/app/tour.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// `chapter` counts from 1 and shows that one alone; `plots` appends the curves of the experiments.
[[nodiscard]] report::Document tour_document(const app::TourAnswer& answer, std::optional<std::size_t> chapter,
                                             bool plots);

}  // namespace corridor::views
