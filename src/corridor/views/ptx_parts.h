// SPDX-License-Identifier: Apache-2.0
// Tables of a simulated run that the views of `corridor ptx` are put together from.
#pragma once

#include <string>
#include <vector>

#include "corridor/app/ptx_case.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Requests, sectors and wavefronts of each kind of access that happened.
[[nodiscard]] report::Table ptx_accesses(const ptx::Counters& counters);
/// Bytes, hits and intensity at L1, L2 and DRAM; of a sample the bounds of L2 and DRAM.
[[nodiscard]] report::Table ptx_levels(const ptx::RunResult& run);
[[nodiscard]] report::Table ptx_roofs(const ptx::Placement& placement);
[[nodiscard]] report::RooflinePlot ptx_roofline(const app::PtxAnswer& answer);
/// The lines that cost most, with their text: of the CUDA source where it is known, else of the PTX.
[[nodiscard]] report::Table ptx_lines(const app::PtxAnswer& answer);
/// Every counter under the name it has in Nsight Compute.
[[nodiscard]] report::Table ptx_counters(const ptx::Counters& counters);
[[nodiscard]] std::vector<std::string> ptx_formulas(const app::PtxAnswer& answer);

}  // namespace corridor::views
