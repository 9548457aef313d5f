// SPDX-License-Identifier: Apache-2.0
// One placed thread block as a Document, schema "corridor/block/1".
#pragma once

#include <string>
#include <vector>

#include "corridor/app/block.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// JSON keys: warps, last_warp_lanes, blocks_per_sm, warps_per_sm, occupancy, limited_by (the tightest limit),
/// limits[], blocks_per_device, warps_per_device, threads_per_device, register_file_bytes, l2_bytes, device{id, name}.
/// `explain` adds the formulas; `defaults` are printed as assumptions.
[[nodiscard]] report::Document block_document(const app::BlockResult& result, bool explain,
                                              const std::vector<std::string>& defaults);

}  // namespace corridor::views
