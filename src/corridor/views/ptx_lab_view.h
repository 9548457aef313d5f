// SPDX-License-Identifier: Apache-2.0
// The Documents of `corridor lab --on sim`.
#pragma once

#include <vector>

#include "corridor/app/ptx_lab.h"
#include "corridor/report/document.h"

namespace corridor::views {

[[nodiscard]] report::Document ptx_lab_document(const app::PtxLabAnswer& answer);
[[nodiscard]] report::Document ptx_lab_list_document(const std::vector<app::PtxExperiment>& experiments);

}  // namespace corridor::views
