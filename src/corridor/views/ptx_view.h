// SPDX-License-Identifier: Apache-2.0
// The Documents of `corridor ptx`.
#pragma once

#include <vector>

#include "corridor/app/ptx_case.h"
#include "corridor/app/ptx_case_manifest.h"
#include "corridor/report/document.h"

namespace corridor::views {

[[nodiscard]] report::Document ptx_run_document(const app::PtxAnswer& answer, bool explain);
[[nodiscard]] report::Document ptx_inspect_document(const app::PtxInspection& inspection);
/// The launches that ship with the program, with commands that work.
[[nodiscard]] report::Document ptx_list_document(const std::vector<app::PtxLaunchFile>& launches);

}  // namespace corridor::views
